"""Nothing known: agents that learn the machine while acting, beside the agent that is told everything.

For every task, seed and method: the mean return of 200 test episodes, in which no reward is read, of the last hundred
episodes of training and of all of them (area), whether the final machine is the task's as far as episodes can show, the
episode from which on it was, and CPU seconds. Rows are kept as they come, and those that are there are not made again.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from benchmarks.results import Benchmark, Headline, Row, beside_rm, complete, show
from nrm.agents import evaluate
from nrm.runs import choose_run
from nrm.tracking import found_at

TESTED = 200
"""Episodes that a trained agent is tested on, without rewards."""
PUBLISHED = (72.6, 82.1, 48.6, 72.9, 48.5, 7.9, 28.8, 9.9)
"""FLNRM on the map with five states, as published, task by task."""


@dataclass(frozen=True)
class Config:
    """Compare methods."""

    out: Path = Path("out/bench/unknown")
    """Where rows and tables go."""
    env: str = "map"
    """map or image."""
    tasks: tuple[str, ...] = ("1", "2", "3", "4", "5", "6", "7", "8")
    """The paper's tasks, or formulas."""
    methods: tuple[str, ...] = ("rm", "automata-learning", "pure-learning")
    """Which methods; rm is what the others are compared with."""
    seeds: int = 5
    """How many seeds."""
    first_seed: int = 4000
    """The first of them."""
    episodes: int = 10_000
    """Episodes of a run."""
    layout: str = "fixed"
    """Of the environment: fixed, or episode for endless layouts."""


def key(config: Config, task: str, method: str, seed: int) -> str:
    return f"{config.env} {config.layout} {task} {method} {seed} {config.episodes}"


def one_run(config: Config, task: str, method: str, seed: int) -> Row:
    """Train once; what came of it."""
    settings: dict[str, dict[str, Any]] = {"env": {"layout": config.layout}} if config.layout != "fixed" else {}
    began = time.process_time()
    chosen = choose_run(task, config.env, method, seed, total_episodes=config.episodes, settings=settings)
    trainer = chosen.build_trainer()
    history = trainer.run()
    spent = time.process_time() - began
    row: Row = {
        "env": f"{config.env} {config.layout}",
        "method": method,
        "task": task,
        "seed": seed,
        "last": history.mean_return(),
        "area": float(np.mean(history.returns)),
        "test": evaluate(trainer, chosen.build_env(50), TESTED, 90_000 + seed, greedy=False).mean_return,
        "cpu_seconds": spent,
    }
    if trainer.inference is not None:
        versions = trainer.inference.versions
        row |= {
            "right": bool(versions and versions[-1].right),
            "found": found_at(versions),
            "versions": len(versions),
            "states": trainer.inference.hypothesis.states,
        }
    return row


def jobs(config: Config, seeds: Sequence[int]) -> dict[str, tuple[Any, ...]]:
    """A run of every seed, task and method."""
    runs = itertools.product(seeds, config.tasks, config.methods)
    return {key(config, task, method, seed): (config, task, method, seed) for seed, task, method in runs}


SCORES = ("test", "last", "area", "right", "found", "cpu_seconds")
COMMAND = "python -m benchmarks.headline unknown-machines"
HEADLINE = Headline(
    "unknown-machines", COMMAND, SCORES, ("task", "method"), derived=partial(beside_rm, ("test", "last", "cpu_seconds"))
)
BENCHMARKS = {"unknown-machines": Benchmark(HEADLINE, partial(jobs, Config()), one_run)}


def main(config: Config) -> None:
    """Measure and print."""
    seeds = range(config.first_seed, config.first_seed + config.seeds)
    name = f"unknown-{config.env}-{config.layout}"
    show(complete(HEADLINE._replace(name=name), jobs(config, seeds), one_run, folder=config.out), config.out)


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
