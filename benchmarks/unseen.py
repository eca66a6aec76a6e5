"""What programs share that train one agent on many tasks and test it on formulas that it has never seen."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nrm.agents import Trainer, evaluate
from nrm.files import read_json, write_json
from nrm.machines import TaskSet
from nrm.runs import RunConfig
from nrm.tracking import Belief


class Tested(NamedTuple):
    """An agent on one formula."""

    success: float
    steps: float
    """Mean over successful episodes; NaN without one."""


def outcomes(
    config: RunConfig,
    trainer: Trainer,
    pool: TaskSet,
    episodes: int,
    seed: int,
    belief: Belief = "open-loop",
) -> list[Tested]:
    """Sampled actions on every task of a pool; in open beliefs no reward is read."""
    found = []
    for number in range(len(pool)):
        env = config.build_env(min(episodes, 250), pool.subset([number]))
        (one,) = evaluate(trainer, env, episodes, seed + number, greedy=False, belief=belief).by_task
        found.append(Tested(one.success_rate, float("nan") if one.mean_steps is None else one.mean_steps))
    return found


def curve(
    config: RunConfig, test: TaskSet, every: int, episodes: int, seed: int, said: str
) -> tuple[Trainer, dict[str, Any]]:
    """Train to the end; every so many steps, the test: 100 episodes of each formula, and `episodes` at the end.

    CPU seconds are those of training alone.
    """
    trainer = config.build_trainer()
    assert not set(test.machines) & set(trainer.tasks.machines), "a test formula is among the training tasks"
    points: list[dict[str, Any]] = []
    named: int | None = None
    began, tests = time.process_time(), 0.0
    while not trainer.done:
        trainer.update()
        accuracy = trainer.history.accuracy
        if named is None and accuracy and accuracy[-1][1] == 1.0:
            named = trainer.steps
        if trainer.steps >= every * (len(points) + 1) or trainer.done:
            at = time.process_time()
            point = outcomes(config, trainer, test, episodes if trainer.done else min(100, episodes), seed)
            tests += time.process_time() - at
            cpu = time.process_time() - began - tests
            points.append({"steps": trainer.steps, "cpu": cpu, "formulas": point})
            mean = np.mean([one.success for one in point])
            print(f"{said}: {trainer.steps:,} steps, {cpu:.0f} s, {mean:.4f}", flush=True)
    result = {
        "steps": trainer.steps,
        "curve": points,
        "symbols_right_after": named,
        "grounding": trainer.history.accuracy[-1][1] if trainer.history.accuracy else None,
    }
    return trainer, result


def all_runs(
    folder: Path, named: Mapping[str, tuple[Any, ...]], run: Callable[..., Mapping[str, Any]]
) -> Iterable[dict[str, Any]]:
    """The results of runs by their names, from files; those that are missing are made with the arguments named."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, arguments in named.items():
        path = folder / f"{name}.json"
        if not path.exists():
            write_json(path, json.loads(json.dumps(run(*arguments))))
        yield dict(read_json(path))
