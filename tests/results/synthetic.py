"""Records of runs that never ran."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from nrm.results import Record
from nrm.runs import RunConfig, choose_run


@cache
def _config(task: str, world: str, method: str, seed: int, episodes: int, environments: int) -> RunConfig:
    return choose_run(task, world, method, seed, episodes=episodes, environments=environments)


def record(
    returns: Sequence[float],
    task: str = "1",
    world: str = "map",
    method: str = "rm",
    seed: int = 0,
    variant: str = "",
    missing: int = 0,
    cpu_seconds: float | None = 1.0,
    path: str = "",
) -> Record:
    """A run with these returns; `missing` episodes are still to come. A variant has settings of its own."""
    values = np.asarray(returns, dtype=np.float64)
    count = len(values)
    metrics = {
        "episode": np.arange(1.0, count + 1),
        "steps": np.arange(1.0, count + 1) * 10,
        "return": values,
        "length": np.full(count, 10.0),
        "success": (values >= 100).astype(np.float64),
    }
    grounding = None
    if method == "nrm":
        bursts = np.arange(0.0, count + 1, max(1, count // 4))
        rise = bursts / max(count, 1)
        grounding = {
            "episode": bursts,
            "accuracy": 0.4 * rise,
            "balanced_accuracy": 0.3 * rise,
            "accuracy_modulo_shortcuts": rise,
        }
    config = _config(task, world, method, seed, count + missing, 16 + len(variant))
    return Record(
        path=Path(path or f"{world}-{task}-{method}-{variant}-{seed}"),
        config=config,
        task=config.build_task(),
        world=config.world_title,
        variant=variant,
        metrics=metrics,
        grounding=grounding,
        cpu_seconds=cpu_seconds,
    )


def grid(
    tasks: Sequence[str] = ("1", "5"),
    worlds: Sequence[str] = ("map",),
    methods: Sequence[str] = ("rm", "nrm", "rnn"),
    seeds: Sequence[int] = (0, 1, 2),
    episodes: int = 300,
) -> list[Record]:
    """Runs that learn, each method at its own pace."""
    records = []
    for place, (world, task, method, seed) in enumerate(
        (world, task, method, seed) for world in worlds for task in tasks for method in methods for seed in seeds
    ):
        pace = {"rm": 40, "nrm": 60, "rnn": 150}[method]
        noise = np.random.default_rng(place).normal(0, 5, episodes)
        returns = np.minimum(100, 100 * (1 - np.exp(-np.arange(episodes) / pace)) + noise)
        records.append(record(returns.tolist(), task, world, method, seed))
    return records
