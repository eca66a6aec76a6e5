"""Nothing known: agents that learn the machine while acting, beside the agent that is told everything.

For every task, seed and method: the mean return of the last hundred episodes, the mean over all (area), whether the
final machine is the task's as far as episodes can show, the episode from which on it was, and CPU seconds. Rows are
kept as they come (`rows.jsonl`), and those that are there are not made again.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
import tyro

from benchmarks.common import kept_rows, report
from nrm.runs import choose_run
from nrm.tracking.versions import found_at

PUBLISHED = (72.6, 82.1, 48.6, 72.9, 48.5, 7.9, 28.8, 9.9)
"""FLNRM on the map with five states, as published, task by task."""


@dataclass(frozen=True)
class Config:
    """Compare methods."""

    out: Path = Path("out/bench/unknown")
    """Where rows and tables go."""
    world: str = "map"
    """map or image."""
    tasks: tuple[str, ...] = ("1", "2", "3", "4", "5", "6", "7", "8")
    """The paper's tasks, or formulas."""
    methods: tuple[str, ...] = ("rm", "machine", "both")
    """Which methods; rm is what the others are compared with."""
    seeds: int = 5
    """How many seeds."""
    first_seed: int = 100
    """The first of them."""
    episodes: int = 10_000
    """Episodes of a run."""
    explore: float = 0.0
    """The bonus for unseen transitions, of methods that learn the machine."""
    layout: str = "fixed"
    """Of the world: fixed, or episode for endless layouts."""


def key(config: Config, task: str, method: str, seed: int) -> str:
    return f"{config.world} {config.layout} {task} {method} {seed} {config.episodes} {config.explore:g}"


def one_run(config: Config, task: str, method: str, seed: int) -> dict[str, Any]:
    """Train once; what came of it."""
    settings: dict[str, dict[str, Any]] = {"world": {"layout": config.layout}} if config.layout != "fixed" else {}
    if config.explore and method in ("machine", "both"):
        settings["inference"] = {"explore": config.explore}
    began = time.process_time()
    trainer = choose_run(task, config.world, method, seed, episodes=config.episodes, settings=settings).build_trainer()
    history = trainer.run()
    row: dict[str, Any] = {
        "last": history.mean_return(),
        "area": float(np.mean(history.returns)),
        "seconds": time.process_time() - began,
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


def all_rows(config: Config) -> dict[str, dict[str, Any]]:
    """Every row, those of earlier calls included."""
    seeds = range(config.first_seed, config.first_seed + config.seeds)
    runs = itertools.product(seeds, config.tasks, config.methods)
    jobs = {
        key(config, task, method, seed): partial(one_run, config, task, method, seed) for seed, task, method in runs
    }
    return kept_rows(config.out, jobs)


def main(config: Config) -> None:
    torch.set_num_threads(1)
    rows = all_rows(config)
    table: list[list[object]] = []
    for task in config.tasks:
        line: list[object] = [task]
        base: list[dict[str, Any]] = []
        for method in config.methods:
            seeds = range(config.first_seed, config.first_seed + config.seeds)
            mine = [rows[key(config, task, method, seed)] for seed in seeds]
            base = base or mine
            last, area = (float(np.mean([row[name] for row in mine])) for name in ("last", "area"))
            line += [f"{last:.1f}", f"{area:.1f}"]
            if method != config.methods[0]:
                line.append(f"{last / float(np.mean([row['last'] for row in base])):.3f}")
            if "right" in mine[0]:
                # Runs that never had it count as their last episode.
                found = [config.episodes if row["found"] is None else row["found"] for row in mine]
                line += [f"{sum(row['right'] for row in mine)}/{len(mine)}", median(found)]
            if method != config.methods[0]:
                line.append(f"{sum(row['seconds'] for row in mine) / sum(row['seconds'] for row in base):.2f}")
        table.append(line)
    headings = ["task"]
    for method in config.methods:
        headings += [f"{method}: last 100", "area"]
        later = method != config.methods[0]
        headings += ["of " + config.methods[0]] if later else []
        headings += ["right", "found at"] if method in ("machine", "both") else []
        headings += ["CPU"] if later else []
    name = f"{config.world}-{config.layout}"
    report(f"Nothing known, {name}, {config.episodes} episodes", headings, table, config.out, name)


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
