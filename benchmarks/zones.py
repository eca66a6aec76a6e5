"""One agent for every task of a robot with lidar, tested zero-shot on formulas and layouts that nothing was trained on.

    python -m benchmarks.headline zones

The six formulas are those that DeepLTL's authors publish figures for, with true symbols and other physics. They and
all copies with other colours are held out. No reward is read in tests, and the limit is 1,000 steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from benchmarks.common import processor_seconds
from benchmarks.results import Benchmark, Headline, Row
from nrm.agents import Evaluation, Trainer, evaluate
from nrm.machines import TaskSet
from nrm.runs import RunConfig, choose_run

FORMULAS = (
    "F (green & (!blue U yellow)) & F magenta",
    "F blue & (!blue U (green & F yellow))",
    "F (blue | green) & F yellow & F magenta",
    "!(magenta | yellow) U (blue & F green)",
    "!green U ((blue | magenta) & (!green U yellow))",
    "((green | blue) -> (!yellow U magenta)) U yellow",
)
FRAMES, EPISODES = 3_000_000, 500


def tested(config: RunConfig, trainer: Trainer, greedy: bool, episodes: int, seed: int) -> list[Evaluation]:
    """Of each formula."""
    found = []
    for number, formula in enumerate(FORMULAS):
        env = config.build_env(min(episodes, 250), TaskSet.of([formula], config.alphabet))
        found.append(evaluate(trainer, env, episodes, seed + number, greedy, "open-loop"))
    return found


def run(method: str, seed: int, frames: int, episodes: int) -> dict[str, Any]:
    """One row: an agent on the six formulas, with sampled actions and with the best ones."""
    tasks = {"held_out": FORMULAS, "up_to_renaming": True}
    config = choose_run(None, "zones", method, seed, tasks="mixture", total_timesteps=frames, settings={"tasks": tasks})
    began = processor_seconds()
    trainer = config.build_trainer()
    trainer.run()
    row: dict[str, Any] = {"method": method, "seed": seed, "frames": trainer.steps}
    row["cpu_seconds"] = processor_seconds() - began
    accuracy = trainer.accuracy()
    row["named"] = None if accuracy is None else accuracy.plain
    for name, greedy in (("sampled", False), ("best", True)):
        found = [one.by_task[0] for one in tested(config, trainer, greedy, episodes, 90_000 + 100 * seed)]
        successes = [one.success_rate for one in found]
        row |= {name: np.mean(successes), f"{name}_worst": min(successes), f"{name}_formulas": successes}
        row[f"{name}_steps"] = [one.mean_steps for one in found]
    return row


def jobs(seeds: Sequence[int], frames: int = FRAMES, episodes: int = EPISODES) -> dict[str, tuple[Any, ...]]:
    """Both methods with every seed."""
    return {
        f"{method}-{seed}-{frames}-{episodes}": (method, seed, frames, episodes)
        for seed, method in product(seeds, ("rm", "nrm"))
    }


def means(rows: Sequence[Row]) -> dict[str, float]:
    """Success on each formula with sampled actions and with the best, and steps of successful episodes."""
    found: dict[str, list[float]] = {}
    for row, name in product(rows, ("sampled", "best")):
        scores = {"": row[f"{name}_formulas"], ", steps": row[f"{name}_steps"]}
        for what, (number, value) in ((what, one) for what, of in scores.items() for one in enumerate(of, 1)):
            if value is not None:
                found.setdefault(f"{row['method']} {name} {number}{what}", []).append(value)
    return {name: float(np.mean(values)) for name, values in found.items()}


HEADLINE = Headline(
    "zones",
    "python -m benchmarks.headline zones",
    ("sampled", "sampled_worst", "best", "best_worst", "named", "frames", "cpu_seconds"),
    derived=means,
)
BENCHMARKS = {"zones": Benchmark(HEADLINE, jobs, run)}
