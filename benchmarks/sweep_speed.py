"""Grids: what a run costs by method and environment, two processes beside one, and Ray beside our own processes."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import torch
import tyro

from benchmarks.common import report
from nrm.results import read_records
from nrm.sweeps import Grid, run_grid
from nrm.sweeps.engines import Engine, LocalEngine, RayEngine

ENVS = ("map", "image")


@dataclass(frozen=True)
class Config:
    """Measure grids."""

    out: Path = Path("out/bench")
    """Where the tables go; the runs go into a folder there, which is made anew."""
    task: str = "4"
    """A task."""
    episodes: int = 300
    """Episodes of each run."""
    runs: int = 4
    """Runs for comparing engines."""
    ray: bool = True
    """Whether to measure Ray too."""


def seconds(grid: Grid, store: Path, engine: Engine) -> tuple[float, float, float]:
    """(starting, running, CPU of the runs) of a grid, in seconds."""
    called = time.perf_counter()
    heard: list[float] = []  # when each event arrived; the first one is the beginning of a run, the last one an end
    outcome = run_grid(grid, store, engine, lambda *_: lambda _: heard.append(time.perf_counter()))
    assert not outcome.failed, outcome.failed
    cost = sum(record.cpu_seconds or 0.0 for record in read_records(store)[0])
    return heard[0] - called, heard[-1] - heard[0], cost


def costs(config: Config, store: Path) -> None:
    """Print what a run costs."""
    grid = Grid((config.task,), envs=ENVS, total_episodes=config.episodes)
    seconds(grid, store, LocalEngine(1))
    spent = {(record.env, record.method): record.cpu_seconds or 0.0 for record in read_records(store)[0]}
    rows = [
        (f"{env}, {method.upper()}", spent[env, method], spent[env, method] / spent["map", "rm"])
        for env in ENVS
        for method in grid.methods
    ]
    title = f"Cost of a run of {config.episodes:,} episodes, task {config.task}"
    report(title, ("environment, method", "CPU seconds", "ratio"), rows, config.out, "lab_costs")


def engines(config: Config, store: Path) -> None:
    """Print how engines compare on the same grid."""
    grid = Grid((config.task,), methods=("rnn",), seeds=tuple(range(config.runs)), total_episodes=config.episodes)
    chosen: list[tuple[str, Engine]] = [
        ("one process", LocalEngine(1)),
        ("two processes", LocalEngine(2)),
    ]
    if config.ray:
        chosen += [("Ray, one CPU", RayEngine(processes=1)), ("Ray, two CPUs", RayEngine(processes=2))]
    rows: list[tuple[object, ...]] = []
    first = 0.0
    for number, (name, engine) in enumerate(chosen):
        starting, running, cost = seconds(grid, store / f"engine-{number}", engine)
        first = first or running
        rows.append((name, starting, running, first / running, cost))
    headings = (f"{config.runs} runs", "starting, s", "running, s", "speed-up", "CPU s of the runs")
    load = f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    report(f"Engines, RNN on task {config.task}; {load}", headings, rows, config.out, "lab_engines")


def main(config: Config) -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    store = config.out / "lab-runs"
    shutil.rmtree(store, ignore_errors=True)
    costs(config, store / "costs")
    engines(config, store)


if __name__ == "__main__":
    main(tyro.cli(Config))
