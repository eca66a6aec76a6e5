"""`nrm evaluate`: what a trained agent reaches."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from nrm.cli.family_options import chosen_family
from nrm.cli.options import UsageError, formula_option
from nrm.cli.terminal import plain_console, table
from nrm.logic import DEFAULT_LOGIC

if TYPE_CHECKING:
    from nrm.agents import Trainer
    from nrm.agents.evaluation import Evaluation
    from nrm.machines import TaskPool
    from nrm.runs import RunConfig
    from nrm.tracking import Belief

Figures = dict[str, float | None]
"""What is printed of an evaluation, by name."""


@dataclass(frozen=True)
class Evaluate:
    """Play episodes with a trained agent, always taking its best action and by drawing from its policy.

    An agent of many tasks is tested on the tasks that are named, by drawing from its policy (or --greedy); without any,
    on ten of those that it was trained on.
    """

    run_folder: tyro.conf.Positional[Path]
    """The folder of the run."""
    episodes: int = 100
    """How many episodes to play, of each kind."""
    seed: int = 12345
    """Of the episodes; not a seed of training."""
    task: str | None = None
    """Of an agent of many tasks: the formula to obey, also one that it has never seen."""
    logic: str = DEFAULT_LOGIC
    """The language of that formula: ltlf, ldlf, ppltl (pure past), re (regular expressions), or module:name."""
    family: str | None = None
    """Of an agent of many tasks: the family that tasks are drawn from; file:PATH for the formulas of a file. Its
    settings are options: --family reach --family.longest 12."""
    count: int = 100
    """How many tasks to draw from the family; those that the agent was trained on are left out (those of
    a file are not)."""
    rewards: bool = False
    """Let beliefs over such tasks read the rewards. Without it they follow the observations alone, so that nothing
    about a new task leaks to the agent."""
    greedy: bool = False
    """Of an agent of many tasks: always take its best action instead of drawing from its policy."""
    json: bool = False
    """Print JSON: the fields of the greedy policy, and those of the sampled one under "sampled"; of an agent of many
    tasks, a row for each task."""

    def run(self) -> int:
        """Play and print."""
        import torch

        from nrm.agents.evaluation import evaluate
        from nrm.runs import RunFolder

        if self.episodes < 1:
            raise UsageError(f"--episodes must be at least 1, not {self.episodes}")
        torch.set_num_threads(1)
        folder = RunFolder(self.run_folder)
        trainer, config = folder.load_trained(), folder.config()
        if trainer.tasks is not None:
            return self._obey(trainer, config)
        if self.task is not None or self.family is not None or self.rewards or self.greedy:
            raise UsageError(
                f"the agent in {self.run_folder} was trained on one task, and is always tested both ways; for --task, "
                "--family, --rewards and --greedy, train one on many: nrm train --tasks mixture --world letter"
            )
        greedy, sampled = (
            evaluate(trainer, config.build_world(min(16, self.episodes)), self.episodes, self.seed, greedy=best)
            for best in (True, False)
        )
        note = trainer.meter.note
        left, right = (_figures(found, modulo=not note) for found in (greedy, sampled))
        if self.json:
            print(json.dumps({**left, "sampled": right}))
        else:
            _print_table(left, right)
        if note:
            print(f"nrm: {note}", file=sys.stderr)
        return 0

    def _obey(self, trainer: Trainer, config: RunConfig) -> int:
        """Tasks that the agent may never have seen: how often it carries each out."""
        import torch

        from nrm.agents.evaluation import evaluate

        assert trainer.tasks is not None
        if self.task is not None and self.family is not None:
            raise UsageError("--task and --family are given together; give one of them")
        pool, seen = self._tasks(config, trainer.tasks)
        # As many episodes for every task, side by side.
        torch.set_num_threads(1)
        belief: Belief = "conditioned" if self.rewards else "open"
        rows: list[dict[str, object]] = []
        for number, (name, known) in enumerate(zip(pool.names, seen, strict=True)):
            world = config.build_world(min(self.episodes, 250), pool.subset([number]))
            found = evaluate(trainer, world, self.episodes, self.seed + number, greedy=self.greedy, belief=belief)
            (one,) = found.by_task
            rows.append({**one._asdict(), "name": name, "trained_on": known})
        mean = sum(float(str(row["success_rate"])) for row in rows) / len(rows)
        if self.json:
            print(json.dumps({"tasks": rows, "success_rate": mean, "belief": belief, "sampled": not self.greedy}))
            return 0
        cells = [
            (
                str(row["name"]),
                str(row["states"]),
                f"{row['success_rate']:.1%}",
                "-" if row["mean_steps"] is None else f"{row['mean_steps']:.1f}",
                "trained on" if row["trained_on"] else "never seen",
            )
            for row in rows
        ]
        headings = ("task", "states", "success", "steps to success", "")
        plain_console().print(table(headings, cells, numbers=headings[1:4]))
        told = "beliefs read the rewards" if self.rewards else "no rewards are read"
        how = "best actions" if self.greedy else "sampled actions"
        print(f"mean success {mean:.1%} of {self.episodes} episodes each; {how}, {told}")
        return 0

    def _tasks(self, config: RunConfig, trained: TaskPool) -> tuple[TaskPool, list[bool]]:
        """The tasks to test, and whether each is one of those trained on."""
        from nrm.families import draw_pool
        from nrm.machines import TaskPool

        if self.task is not None:
            text = formula_option(self.task, self.logic) or self.task
            pool = TaskPool.of([config.task_named(text)])
            check_possible(pool, trained)
        elif self.family is not None:
            space = config.world_kind.tasks
            assert space is not None
            alphabet, events = space(config.settings["world"])
            kept = () if self.family.startswith("file:") else trained.machines
            family = chosen_family(self, self.family)
            pool = draw_pool(family, alphabet, self.count, self.seed, events=events, without=kept)
        else:
            pool = trained.subset(range(min(10, len(trained))))
        known = set(trained.machines)
        return pool, [machine in known for machine in pool.machines]


def check_possible(pool: TaskPool, trained: TaskPool) -> None:
    """Raise where a task asks for nothing, or for the impossible; warn where it speaks of what was never told apart."""
    import warnings

    from nrm.errors import NrmWarning, listing
    from nrm.groundability import pool_shortcuts

    (machine,), (name,) = pool.machines, pool.names
    steps = int(machine.distance_to_acceptance[machine.initial])
    if steps <= 0:
        what = "holds before anything has happened" if steps == 0 else "cannot be satisfied"
        raise UsageError(f"the task {name} {what}; there is nothing to obey")
    for names in pool_shortcuts(trained).confusable:
        letters = [pool.alphabet.letter(pool.alphabet.read_step(one)) for one in names]
        if len({machine.letter_class[letter] for letter in letters}) > 1:
            warnings.warn(
                f"the task tells {listing(names)} apart, which no task in training did: the agent may confuse them",
                NrmWarning,
                stacklevel=2,
            )


def _figures(found: Evaluation, modulo: bool) -> Figures:
    """The numbers of an evaluation; those modulo shortcuts only where they are known."""
    grounding, borders = found.grounding, found.borders
    figures: Figures = {
        "episodes": found.episodes,
        "mean_return": found.mean_return,
        "success_rate": found.success_rate,
        "mean_length": found.mean_length,
        "state_accuracy": found.state_accuracy,
        "state_accuracy_modulo_shortcuts": found.state_accuracy_modulo_shortcuts if modulo else None,
        "grounding_accuracy": grounding.plain if grounding else None,
        "grounding_accuracy_modulo_shortcuts": grounding.modulo_shortcuts if grounding and modulo else None,
    }
    if borders is not None and borders.near == borders.near:  # nothing is near where it is NaN
        figures["accuracy_near_borders"], figures["accuracy_far_from_borders"] = borders.near, borders.far
    return figures


def _print_table(greedy: Figures, sampled: Figures) -> None:
    rows = []
    for key in greedy:
        share = key == "success_rate" or "accuracy" in key
        cells = (
            "-" if value is None else f"{value:{'.1%' if share else 'g'}}" for value in (greedy[key], sampled[key])
        )
        rows.append((key.replace("_", " "), *cells))
    plain_console().print(table(("", "greedy", "sampled"), rows, numbers=("greedy", "sampled")))
