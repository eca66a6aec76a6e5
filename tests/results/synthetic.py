"""Records of runs that never ran."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from nrm.results import Record
from nrm.runs import OneTask, RunConfig, choose_run


@cache
def _config(task: str, env: str, method: str, seed: int, episodes: int, num_envs: int) -> RunConfig:
    return choose_run(task, env, method, seed, total_episodes=episodes, num_envs=num_envs)


def record(
    returns: Sequence[float],
    task: str = "1",
    env: str = "map",
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
        updates = np.arange(0.0, count + 1, max(1, count // 4))
        rise = updates / max(count, 1)
        grounding = {
            "episode": updates,
            "accuracy": 0.4 * rise,
            "balanced_accuracy": 0.3 * rise,
            "accuracy_modulo_shortcuts": rise,
        }
    config = _config(task, env, method, seed, count + missing, 16 + len(variant))
    return Record(
        path=Path(path or f"{env}-{task}-{method}-{variant}-{seed}"),
        config=config,
        about=OneTask.of(config.build_task()),
        env=config.env_title,
        variant=variant,
        metrics=metrics,
        grounding=grounding,
        cpu_seconds=cpu_seconds,
    )


def grid(
    tasks: Sequence[str] = ("1", "5"),
    envs: Sequence[str] = ("map",),
    methods: Sequence[str] = ("rm", "nrm", "rnn"),
    seeds: Sequence[int] = (0, 1, 2),
    episodes: int = 300,
) -> list[Record]:
    """Runs that learn, each method at its own pace."""
    records = []
    for place, (env, task, method, seed) in enumerate(
        (env, task, method, seed) for env in envs for task in tasks for method in methods for seed in seeds
    ):
        pace = {"rm": 40, "nrm": 60, "rnn": 150}[method]
        noise = np.random.default_rng(place).normal(0, 5, episodes)
        returns = np.minimum(100, 100 * (1 - np.exp(-np.arange(episodes) / pace)) + noise)
        records.append(record(returns.tolist(), task, env, method, seed))
    return records
