"""Where the time of training on many tasks goes: frames per CPU second by part, and whether more tasks cost more.

    python -m benchmarks.many_speed --envs letter letter-image image-episode --method nrm

A part of 100,000 frames per second takes a hundred-thousandth of a second of every frame; all parts together give the
speed of training. Parts that call others are counted without them. Then a step of the environment, of the beliefs and
of the views, with ten tasks in the pool and with tens of thousands.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
import tyro

from benchmarks.common import report
from nrm.agents import Trainer
from nrm.machines import MooreMachine, TaskSet
from nrm.runs import RunConfig, choose_run
from nrm.samplers import sample_tasks
from nrm.tracking import Transition

DRAWN = 3000
"""Tasks that are drawn; more are the same ones with their letters renamed."""
TURNS, TURN = 30, 20
"""Pools of different sizes take turns of so many steps; those of the first do not count."""


@dataclass(frozen=True)
class Config:
    """Measure speed."""

    out: Path = Path("out/bench")
    """Where the tables go."""
    envs: tuple[str, ...] = ("letter", "letter-image", "image-episode")
    """Environments to train in."""
    method: str = "nrm"
    """What is trained."""
    steps: int = 50_000
    """Frames of each run; those of its first update are not counted."""
    seed: int = 0
    """Of the runs."""
    tasks: tuple[int, ...] = (10, 3000, 30_000)
    """Sizes of the pool whose steps are compared; empty for no such table."""


class Stopwatch:
    """CPU seconds by part. A part that calls another is counted without it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._within: list[float] = []

    def watch(self, owner: Any, name: str, part: str) -> None:
        """Count what a method of an object takes."""
        genuine = getattr(owner, name)

        def call(*arguments: Any, **named: Any) -> Any:
            self._within.append(0.0)
            began = time.process_time()
            try:
                return genuine(*arguments, **named)
            finally:
                spent, others = time.process_time() - began, self._within.pop()
                self.seconds[part] = self.seconds.get(part, 0.0) + spent - others
                if self._within:
                    self._within[-1] += spent

        setattr(owner, name, call)

    def watch_training(self, trainer: Trainer) -> None:
        """All parts of a run of PPO's on many tasks."""
        learner: Any = trainer.learner
        env, memory = trainer.env, learner.memory
        self.watch(trainer, "update", "recording")
        self.watch(learner, "collect", "rollout")
        self.watch(learner, "learn", "learning")
        self.watch(learner.actor, "features", "network, acting")
        self.watch(env, "step", "env")
        for name in ("step", "begin"):
            self.watch(env.runner, name, "machines")  # type: ignore[attr-defined]
        for name in ("read", "begin"):
            self.watch(memory, name, "beliefs")
        if hasattr(memory, "letters"):
            self.watch(memory, "letters", "reading symbols")
            self.watch(memory, "_carry", "view")
        if trainer.grounding is not None:
            self.watch(trainer.grounding, "add", "grounding")


PARTS: tuple[str, ...] = ("env", "machines", "reading symbols", "beliefs", "view", "network, acting", "rollout")
PARTS += ("learning", "recording", "grounding")


def parts(config: Config, env: str) -> dict[str, float]:
    """CPU seconds for each frame, by part."""
    run = choose_run(None, env, config.method, config.seed, tasks="mixture", total_timesteps=300_000)
    trainer = run.build_trainer()
    trainer.update()
    before, watch = trainer.steps, Stopwatch()
    watch.watch_training(trainer)
    while trainer.steps < config.steps:
        trainer.update()
    return {part: spent / (trainer.steps - before) for part, spent in watch.seconds.items()}


def renamed(pool: TaskSet, count: int, seed: int) -> TaskSet:
    """So many tasks: those of a pool, then the same with their letters renamed by drawn permutations."""
    generator = np.random.default_rng(seed)
    machines = list(pool.machines)
    while len(machines) < count:
        order = generator.permutation(pool.alphabet.size)
        machines += [
            MooreMachine.from_table(
                one.alphabet, one.transitions[:, order], one.accepting, one.outputs, int(one.initial)
            )
            for one in pool.machines[: count - len(machines)]
        ]
    machines = machines[:count]
    return TaskSet(tuple(machines), tuple(map(str, range(count))))


class Stepping:
    """Steps of all envs of an env by drawn actions, with what is remembered of them: CPU seconds of each."""

    def __init__(self, run: RunConfig, pool: TaskSet, method: str) -> None:
        self._env = cast(Any, run.build_env(tasks=pool))
        self._memory: Any = memory_of(choose_run(None, run.env, method, tasks="mixture", total_timesteps=1), self._env)
        self._generator = torch.Generator().manual_seed(0)
        self._env.reset(0)
        self._carry = self._memory.begin(self._env.task)
        self.spent: list[tuple[float, float]] = []

    def go(self, steps: int) -> None:
        """Some steps; what the grounder says is found beforehand, for it knows nothing of tasks."""
        env, memory = self._env, self._memory
        for _ in range(steps):
            action = torch.randint(env.actions, (env.count,), generator=self._generator)
            began = time.process_time()
            batch = env.step(action)
            stepped = time.process_time()
            if hasattr(memory, "letters"):
                said = type(memory).letters(memory, self._carry, batch.final_observation)
                memory.letters = lambda *_, said=said: said
            label, _, state = env.truth
            told = state if memory.sees_truth else None
            seen = Transition(batch.final_observation, None, action, batch.reward, told, label)
            remembering = time.process_time()
            reached = memory.read(self._carry, seen)
            self._carry = memory.reset(reached, batch.terminated | batch.truncated, env.task)
            memory.feature(self._carry)
            self.spent.append((stepped - began, time.process_time() - remembering))

    @property
    def microseconds(self) -> list[float]:
        """Medians: of a step of the environment, and of remembering it."""
        return [float(one) * 1e6 for one in np.median(self.spent[TURN:], 0)]


def memory_of(run: RunConfig, env: Any) -> Any:
    """What an agent of a method remembers in an environment."""
    from nrm.agents import METHODS

    what = METHODS[run.method]
    return what.prepare(env, run.settings.get(what.section) or (what.config and what.config()), 1, 0).memory


def pool_rows(config: Config) -> list[tuple[object, ...]]:
    """A line for each size of the pool. They take turns, so that a busy machine slows all of them down."""
    run = choose_run(None, "letter", "rm", config.seed, tasks="mixture", total_timesteps=1)
    drawn = sample_tasks("mixture", run.alphabet, min(DRAWN, max(config.tasks)), 0, max_states=30)
    pools = [drawn.subset(range(count)) if count <= len(drawn) else renamed(drawn, count, 1) for count in config.tasks]
    pairs = [[Stepping(run, pool, method) for method in ("rm", "nrm")] for pool in pools]
    for _ in range(TURNS):
        for pair in pairs:
            for one in pair:
                one.go(TURN)
    rows: list[tuple[object, ...]] = []
    found = [[*pair[0].microseconds, pair[1].microseconds[1]] for pair in pairs]
    for pool, times in zip(pools, found, strict=True):
        cells = (f"{value:.0f} ({value / one:.2f})" for value, one in zip(times, found[0], strict=True))
        rows.append((len(pool), len(pool.task_of_state), pool.max_states, *cells))
    return rows


def main(config: Config) -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    found = {env: parts(config, env) for env in config.envs}
    rows: list[tuple[object, ...]] = []
    shown: Callable[[float, float], str] = lambda spent, whole: f"{1 / spent:,.0f} ({spent / whole:.0%})"  # noqa: E731
    for part in PARTS:
        if any(part in one for one in found.values()):
            cells = (shown(one[part], sum(one.values())) if one.get(part, 0) > 0 else "" for one in found.values())
            rows.append((part, *cells))
    rows.append(("all", *(f"{1 / sum(one.values()):,.0f}" for one in found.values())))
    title = f"Frames per CPU second by part (share of the time), {config.method.upper()}, many tasks"
    report(title, ("part", *found), rows, config.out, "many_speed")
    if config.tasks:
        headings = ("tasks", "states", "largest", "environment and machines", "RM: view", "NRM: beliefs and view")
        title = "CPU microseconds of a step of 256 environments in LetterWorld (ratio to the first line)"
        report(title, headings, pool_rows(config), config.out, "many_speed_tasks")


if __name__ == "__main__":
    main(tyro.cli(Config))
