"""`nrm evaluate`: what a trained agent reaches."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nrm.cli.arguments import Count, FamilyOptions, Folder, UsageError
from nrm.cli.learned import learned_json, learned_lines
from nrm.cli.options import Formula, Logic, formula_option
from nrm.cli.terminal import plain_console, stage_progress, table
from nrm.logic import DEFAULT_LOGIC

if TYPE_CHECKING:
    from nrm.agents import Evaluation, TaskOutcome, Trainer
    from nrm.machines import TaskSet
    from nrm.runs import RunConfig
    from nrm.tracking import Belief

MAX_LISTED = 30
"""Tasks up to which all are listed; of more, those that fail most."""
WORST = 10
"""How many of these."""


def _outcome_json(outcomes: Sequence[TaskOutcome], trained: Sequence[bool]) -> dict[str, object]:
    """A row for each task and one for each size of machines, and the mean over tasks."""
    from nrm.agents import by_size

    return {
        "tasks": [{**one._asdict(), "trained_on": known} for one, known in zip(outcomes, trained, strict=True)],
        "sizes": [size._asdict() for size in by_size(outcomes)],
        "success_rate": sum(one.success_rate for one in outcomes) / len(outcomes),
    }


def _print_outcomes(outcomes: Sequence[TaskOutcome], trained: Sequence[bool]) -> None:
    """Tables by task and by the size of machines."""
    rows = list(zip(outcomes, trained, strict=True))
    hidden = len(rows) > MAX_LISTED
    if hidden:
        rows = sorted(rows, key=lambda row: row[0].success_rate)[:WORST]
    cells = [
        (
            one.name,
            str(one.states),
            f"{one.success_rate:.1%}",
            "-" if one.mean_steps is None else f"{one.mean_steps:.1f}",
            "trained on" if known else "never seen",
        )
        for one, known in rows
    ]
    headings = ("task", "states", "success", "steps to success", "")
    title = f"The {len(rows)} of {len(outcomes)} tasks that fail most (--json has all)" if hidden else ""
    plain_console().print(table(headings, cells, numbers=headings[1:4], title=title))
    if len(outcomes) < 2:
        return
    from nrm.agents import by_size

    sizes = [
        (
            str(size.least) if size.least == size.most else f"{size.least} to {size.most}",
            str(size.tasks),
            f"{size.success_rate:.1%}",
            f"{size.worst:.1%}",
        )
        for size in by_size(outcomes)
    ]
    columns = ("states of the machine", "tasks", "success", "of the worst task")
    plain_console().print(table(columns, sizes, numbers=columns[1:]))


HESITATES = 0.2
"""The share of successes by which the best actions are below drawn ones, from which on it is said."""
READS: dict[str, str] = {
    "filtered": "rewards are read (filtered beliefs)",
    "open-loop": "no rewards are read (open-loop beliefs)",
    "argmax": "no rewards are read (argmax beliefs)",
}
"""What an agent's memory reads in a test, by the kind of its beliefs."""
Figures = dict[str, float | None]
"""What is printed of an evaluation, by name."""


@dataclass(frozen=True)
class Evaluate(FamilyOptions):
    """Play episodes with a trained agent, always taking its best action and by drawing from its policy.

    An agent of many tasks is tested on the tasks that are named, by drawing from its policy (or --greedy): one formula,
    or tasks of a family that it was not trained on. Without any, on ten of those that it was trained on.

    For example:
      nrm evaluate runs/gem
      nrm evaluate runs/letters --task "F(a & F b) & G !c"
      nrm evaluate runs/letters --family reach --count 100 --json
    """

    run_folder: Folder = field(kw_only=True)
    """The folder of the run."""
    episodes: Count = 100
    """How many episodes to play, of each kind."""
    seed: int = 12345
    """Of the episodes; not a seed of training."""
    task: Formula = None
    """Of an agent of many tasks: the formula to execute, also one that it has never seen."""
    logic: Logic = DEFAULT_LOGIC
    """The language of that formula: ltlf, ldlf, ppltl (pure past), re (regular expressions), or module:name."""
    rewards: bool = False
    """Let the agent's memory read the rewards: beliefs are filtered by them. Without it no test reads a reward, since
    rewards tell most of a task's state whatever the symbols."""
    argmax: bool = False
    """Read each step as its most probable symbol. Over long episodes small doubts add up otherwise."""
    greedy: bool = False
    """Of an agent of many tasks: always take its best action instead of drawing from its policy."""
    no_stuck_noise: bool = False
    """Of an agent of many tasks that goes at random for a while where it gets no further (--tasks.stuck-noise, as in
    the environment flat): draw from its policy alone."""
    json: bool = False
    """Print JSON: the fields of the greedy policy, and those of the sampled one under "sampled"; of an agent of many
    tasks, a row for each task and one for each size of machines."""

    def run(self) -> int:
        """Play and print."""
        import torch

        from nrm.agents import evaluate, unrewarded
        from nrm.runs import RunFolder

        self.chosen_family()
        torch.set_num_threads(1)
        folder = RunFolder(self.run_folder)
        trainer, config = folder.load_policy(), folder.config()
        if not trainer.done:
            reached = trainer.steps if config.unit == "steps" else len(trainer.history.returns)
            print(f"nrm: the run is unfinished: {reached:,} of {config.amount:,} {config.unit}", file=sys.stderr)
        if trainer.tasks is not None:
            return self._execute(trainer, config)
        if any((self.task, self.family, self.greedy, self.no_stuck_noise)):
            raise UsageError(
                f"the agent in {self.run_folder} was trained on one task, and is always tested both ways; for --task, "
                "--family, --greedy and --no-stuck-noise, train one on many: nrm train --tasks mixture --env letter"
            )
        count, belief = min(16, self.episodes), self._belief or unrewarded(trainer.learner.memory)
        greedy, sampled = (
            evaluate(trainer, config.build_env(count), self.episodes, self.seed, greedy=best, belief=belief)
            for best in (True, False)
        )
        note = trainer.meter.note
        left, right = (_figures(found, modulo=not note) for found in (greedy, sampled))
        learned, done = folder.machines(), len(trainer.history.returns)
        if self.json:
            told = {} if learned is None else {"machine": learned_json(learned, done)}
            print(json.dumps({**left, "sampled": right, "belief": belief, **told}))
        else:
            _print_table(left, right)
            print(READS[belief])
            if hesitant := _hesitation(greedy, sampled):
                print(hesitant)
            if learned is not None:
                print("\n".join(learned_lines(learned, done)))
        if note:
            print(f"nrm: {note}", file=sys.stderr)
        return 0

    @property
    def _belief(self) -> Belief | None:
        """What the agent's memory reads, if an option says so."""
        if self.rewards and self.argmax:
            raise UsageError("--rewards and --argmax are two ways to follow a task; give one of them")
        return "filtered" if self.rewards else "argmax" if self.argmax else None

    def _execute(self, trainer: Trainer, config: RunConfig) -> int:
        """Tasks that the agent may never have seen: how often it carries each out."""
        from nrm.agents import check_new_tasks, evaluate_tasks

        assert trainer.tasks is not None
        given = [f"--{name}" for name in ("task", "family") if getattr(self, name) is not None]
        if len(given) > 1:
            raise UsageError(f"{' and '.join(given)} are given together; give one of them")
        if self.count is not None and self.family is None:
            raise UsageError("--count says how many tasks are drawn; name what they are drawn from: --family mixture")
        if self.no_stuck_noise and trainer.stuck_noise is None:
            raise UsageError("the run has no tasks.stuck_noise; drop --no-stuck-noise")
        pool, trained = self._tasks(config, trainer.tasks)
        check_new_tasks(trainer, pool)
        belief: Belief = self._belief or "open-loop"
        with stage_progress() as progress:
            found = evaluate_tasks(
                trainer,
                config.build_env,
                pool,
                self.episodes,
                self.seed,
                greedy=self.greedy,
                belief=belief,
                stuck_noise=not self.no_stuck_noise,
                progress=None if progress is None else lambda done: progress("tasks", done, len(pool)),
            )
        stirred = trainer.stuck_noise is not None and not self.no_stuck_noise and not self.greedy
        told = _outcome_json(found, trained)
        if self.json:
            print(json.dumps({**told, "belief": belief, "sampled": not self.greedy, "stuck_noise": stirred}))
            return 0
        _print_outcomes(found, trained)
        how = "best actions" if self.greedy else "sampled actions"
        how += f", at random after {trainer.stuck_noise} steps without anything new" if stirred else ""
        print(f"mean success {told['success_rate']:.1%} of {self.episodes} episodes each; {how}, {READS[belief]}")
        return 0

    def _tasks(self, config: RunConfig, trained: TaskSet) -> tuple[TaskSet, list[bool]]:
        """The tasks to test, and whether each is one of those trained on."""
        from nrm.machines import TaskSet
        from nrm.samplers import FILE_PREFIX, sample_tasks

        if self.task is not None:
            text = formula_option(self.task, self.logic) or self.task
            pool = TaskSet.of([config.task_named(text)])
        elif (family := self.chosen_family()) is not None:
            space = config.env_config.task_space()
            assert space is not None
            alphabet, events = space
            kept = () if str(self.family).startswith(FILE_PREFIX) else trained.machines
            count = 100 if self.count is None else self.count
            pool = sample_tasks(family, alphabet, count, self.seed, events=events, without=kept)
            if self.count is not None and len(pool) < self.count:
                print(f"nrm: there are {len(pool)} such tasks, fewer than --count {self.count}", file=sys.stderr)
        else:
            pool = trained.subset(range(min(10, len(trained))))
        known = set(trained.machines)
        return pool, [machine in known for machine in pool.machines]


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


def _hesitation(greedy: Evaluation, sampled: Evaluation) -> str:
    """What to say where the best action alone does far worse than drawing; empty where it does not."""
    if sampled.success_rate - greedy.success_rate < HESITATES:
        return ""
    return (
        f"greedy is far below sampled ({greedy.success_rate:.1%} and {sampled.success_rate:.1%}): the best action "
        "alone hesitates or runs in circles where several are about as good. The policy that was trained is the "
        "sampled one"
    )


def _print_table(greedy: Figures, sampled: Figures) -> None:
    """Both side by side; what neither has a value of is left out."""
    rows = []
    for key in greedy:
        if greedy[key] is sampled[key] is None:
            continue
        share = key == "success_rate" or "accuracy" in key
        cells = (
            "-" if value is None else f"{value:{'.1%' if share else 'g'}}" for value in (greedy[key], sampled[key])
        )
        rows.append((key.replace("_", " "), *cells))
    plain_console().print(table(("", "greedy", "sampled"), rows, numbers=("greedy", "sampled")))
