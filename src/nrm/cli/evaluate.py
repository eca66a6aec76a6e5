"""`nrm evaluate`: what a trained agent reaches."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from nrm.aliases import Json
from nrm.cli.arguments import UsageError
from nrm.cli.learned import learned_json, learned_lines
from nrm.cli.options import AgentOptions, FamilyOptions, JsonOption
from nrm.cli.terminal import cell, plain_console, print_records, say, stage_progress, table
from nrm.errors import listing
from nrm.settings import Count

if TYPE_CHECKING:
    from nrm.agents import Evaluation, Trainer
    from nrm.machines import Rounds, TaskSet
    from nrm.runs import RunConfig, RunFolder


Figures = dict[str, float | None]
"""What is printed of an evaluation, by name."""


@dataclass(frozen=True, kw_only=True)
class Evaluate(AgentOptions, FamilyOptions, JsonOption):
    """Test a trained agent on new episodes, with greedy and with sampled actions.

    An agent of many tasks is tested on --task, one formula, or on unseen tasks from a sampler, --family. Without
    either, it is tested on ten of its training tasks. Actions are sampled, unless --greedy is given. Of an infinite
    task (--logic ltl), accepting visits, rounds and violations are counted.

    For example:
      nrm evaluate runs/gem
      nrm evaluate runs/letters --task "F(a & F b) & G !c"
      nrm evaluate runs/letters --family reach --count 100 --json
      nrm evaluate letter --task "GF a & GF b & G !c" --logic ltl
    """

    episodes: Count = 100
    """Number of episodes; with many tasks, for each task."""
    greedy: bool = False
    """Agents of many tasks: take the most probable action instead of sampling."""
    belief: Literal["open-loop", "filtered", "argmax"] | None = None
    """What the belief reads. open-loop: observations only, because rewards reveal most of the state. filtered: also
    rewards. argmax: the most probable symbol of each step. The default is without rewards."""

    def run(self) -> int:
        """Play and print."""
        import torch

        from nrm.machines import Rounds
        from nrm.runs import Family, OneTask, find_run

        self.chosen_family()
        torch.set_num_threads(1)
        folder = find_run(self.folder)
        trainer, config = folder.load_policy(), folder.config()
        if trainer.reached and not trainer.done:  # a copied agent does not tell how far it was trained
            amount = f"{trainer.reached:,} of {config.amount:,} {config.unit}"
            say(f"nrm: the run is unfinished: {amount}", file=sys.stderr)
        if self.task is not None or isinstance(config.about, OneTask):
            tasks = config.about.tested(trainer, config, self.task_text)
            if isinstance(tasks, Rounds):
                return self._go_on(trainer, config, tasks)
        play = {OneTask: self._repeat, Family: self._execute}[type(config.about)]
        return play(folder, trainer, config)

    def _go_on(self, trainer: Trainer, config: RunConfig, tasks: Rounds) -> int:
        """An infinite task: its rounds, in episodes that go on to the time limit or a violation."""
        from nrm.agents import evaluate, unrewarded

        belief = self.belief or unrewarded(trainer.learner.memory)
        env = config.build_env(min(self.episodes, config.about.side_by_side), tasks)
        found = evaluate(trainer, env, self.episodes, self.seed, greedy=self.greedy, belief=belief)
        assert found.rounds is not None
        figures: Figures = {**found.rounds._asdict(), "mean_length": found.mean_length}
        if self.json:
            about = {"task": tasks.names[0], "episodes": found.episodes}
            print(json.dumps({**about, **figures, "belief": belief, "sampled": not self.greedy}))
        else:
            say(f"{tasks.names[0]}  ({found.episodes} episodes)")
            rows = [(key.replace("_", " "), cell(key, value)) for key, value in figures.items()]
            plain_console().print(table(("mean of an episode", ""), rows, numbers=("",)))
            say(f"{'greedy' if self.greedy else 'sampled'} actions, {_reads(belief)}")
        return 0

    def _repeat(self, folder: RunFolder, trainer: Trainer, config: RunConfig) -> int:
        """The task that the agent was trained on: how well it does, greedily and by sampling."""
        from nrm.agents import evaluate, unrewarded

        if given := [f"--{name}" for name in ("task", "family", "greedy") if getattr(self, name)]:
            raise UsageError(f"the agent in {self.folder} was trained on one task; drop {listing(given)}")
        count, belief = min(16, self.episodes), self.belief or unrewarded(trainer.learner.memory)
        greedy, sampled = (
            evaluate(trainer, config.build_env(count), self.episodes, self.seed, greedy=best, belief=belief)
            for best in (True, False)
        )
        note = trainer.meter.note
        left, right = (_figures(found, modulo=not note) for found in (greedy, sampled))
        learned, done = folder.machines(), len(trainer.history.returns)
        if self.json:
            machine = {} if learned is None else {"machine": learned_json(learned, done)}
            print(json.dumps({**left, "sampled": right, "belief": belief, **machine}))
        else:
            _print_table(left, right)
            say(_reads(belief))
            if hesitant := _hesitation(greedy, sampled):
                say(hesitant)
            if learned is not None:
                say("\n".join(learned_lines(learned, done)))
        if note:
            say(f"nrm: {note}", file=sys.stderr)
        return 0

    def _execute(self, _: RunFolder, trainer: Trainer, config: RunConfig) -> int:
        """Tasks that the agent may never have seen: how often it executes each."""
        from nrm.agents import by_size, check_new_tasks, evaluate_tasks

        given = [f"--{name}" for name in ("task", "family") if getattr(self, name) is not None]
        if len(given) > 1:
            raise UsageError(f"{' and '.join(given)} exclude each other; give one of them")
        if self.count is not None and self.family is None:
            raise UsageError("--count needs a task sampler: --family mixture")
        pool, trained = self._tasks(config, cast("TaskSet", config.pool))
        check_new_tasks(trainer, pool)
        belief = self.belief or "open-loop"
        with stage_progress() as progress:
            found = evaluate_tasks(
                trainer,
                config.build_env,
                pool,
                self.episodes,
                self.seed,
                greedy=self.greedy,
                belief=belief,
                progress=None if progress is None else lambda done: progress("tasks", done, len(pool)),
            )
        tasks: list[Json] = [{**one._asdict(), "trained_on": known} for one, known in zip(found, trained, strict=True)]
        sizes: list[Json] = [size._asdict() for size in by_size(found)]
        mean = sum(one.success_rate for one in found) / len(found)
        if self.json:
            outcomes = {"tasks": tasks, "sizes": sizes, "success_rate": mean}
            print(json.dumps({**outcomes, "belief": belief, "sampled": not self.greedy}))
            return 0
        _print_outcomes(tasks, sizes)
        how = "greedy actions" if self.greedy else "sampled actions"
        say(f"mean success {mean:.1%} of {self.episodes} episodes each; {how}, {_reads(belief)}")
        if self.greedy and mean < 0.8:
            say("a greedy policy can run in circles: compare with sampled actions, without --greedy")
        return 0

    def _tasks(self, config: RunConfig, trained: TaskSet) -> tuple[TaskSet, list[bool]]:
        """The tasks to test, and whether each is one of those trained on."""
        from nrm.machines import TaskSet
        from nrm.samplers import FILE_PREFIX, sample_tasks

        if self.task is not None:
            pool = TaskSet.of([config.task_named(str(self.task_text))])
        elif (family := self.chosen_family()) is not None:
            space = config.env_config.task_space()
            assert space is not None
            alphabet, events = space
            kept = () if str(self.family).startswith(FILE_PREFIX) else trained.machines
            count = 100 if self.count is None else self.count
            pool = sample_tasks(family, alphabet, count, self.seed, events=events, without=kept)
            if self.count is not None and len(pool) < self.count:
                say(f"nrm: the sampler has only {len(pool)} tasks, not --count {self.count}", file=sys.stderr)
        else:
            pool = trained.subset(range(min(10, len(trained))))
        known = set(trained.machines)
        return pool, [machine in known for machine in pool.machines]


def _reads(belief: str) -> str:
    return f"{'rewards' if belief == 'filtered' else 'no rewards'} are read ({belief} beliefs)"


def _figures(found: Evaluation, modulo: bool) -> Figures:
    """The numbers of an evaluation; those modulo shortcuts only where they are known."""
    grounding = found.grounding
    return {
        "episodes": found.episodes,
        "mean_return": found.mean_return,
        "success_rate": found.success_rate,
        "mean_length": found.mean_length,
        "state_accuracy": found.state_accuracy,
        "state_accuracy_modulo_shortcuts": found.state_accuracy_modulo_shortcuts if modulo else None,
        "grounding_accuracy": grounding.plain if grounding else None,
        "grounding_accuracy_modulo_shortcuts": grounding.modulo_shortcuts if grounding and modulo else None,
    }


def _hesitation(greedy: Evaluation, sampled: Evaluation) -> str:
    """What to say where the best action alone does far worse than sampled ones; empty where it does not."""
    if sampled.success_rate - greedy.success_rate < 0.2:
        return ""
    return (
        f"greedy actions succeed far less often than sampled ones ({greedy.success_rate:.1%} and "
        f"{sampled.success_rate:.1%}): a greedy policy gets stuck if several actions are about equally good. Training "
        "samples actions, so report the sampled result"
    )


def _print_outcomes(tasks: list[Json], sizes: list[Json]) -> None:
    """Tables by task and by the size of machines."""
    shown, title = tasks, ""
    if len(tasks) > 30:
        shown = sorted(tasks, key=lambda row: float(row["success_rate"]))[:10]
        title = f"The 10 of {len(tasks)} tasks with the lowest success (--json has all)"
    rows = [{**row, "trained_on": "trained on" if row["trained_on"] else "unseen"} for row in shown]
    headings = {"name": "task", "episodes": "", "success_rate": "success", "mean_steps": "steps to success"}
    print_records(title, {**headings, "trained_on": " "}, rows)
    if len(tasks) > 1:
        headings = {"least": "from", "most": "to", "success_rate": "success", "worst": "worst task"}
        print_records("By number of machine states", headings, sizes)


def _print_table(greedy: Figures, sampled: Figures) -> None:
    """Both side by side; what neither has a value of is left out."""
    rows = [
        (
            key.replace("_", " ").replace("modulo shortcuts", "up to equivalence"),
            cell(key, best),
            cell(key, sampled[key]),
        )
        for key, best in greedy.items()
        if not best is sampled[key] is None
    ]
    plain_console().print(table(("in these episodes", "greedy", "sampled"), rows, numbers=("greedy", "sampled")))
