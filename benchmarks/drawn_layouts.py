"""Drawn layouts from images: items lie elsewhere in every episode, so symbols must be known by looks.

Trains RM, NRM, RNN, an agent without memory and one that sees nothing on tasks of the paper, on grids of two sizes, and
prints what each earns on fresh episodes with actions drawn from its policy. Runs that are done are not made again, and
interrupted ones go on: start it again with the same options. Runs are ordinary ones; `nrm report OUT/4x4` shows them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro

from benchmarks.common import report
from nrm.agents.evaluation import evaluate
from nrm.files import write_json
from nrm.results import read_record
from nrm.runs import RunFolder
from nrm.sweeps import Grid, run_grid
from nrm.sweeps.cells import RUNS
from nrm.sweeps.engines import LocalEngine
from nrm.tracking.versions import found_at

EVALUATION = "drawn-layouts.json"
"""What an evaluation found, in the folder of its run."""
STEPS = {4: 150_000, 6: 400_000}
"""Steps of a run, by the cells along a side."""


@dataclass(frozen=True)
class Config:
    """Train and measure."""

    out: Path = Path("out/drawn-layouts")
    """Where runs and tables go."""
    tasks: tuple[str, ...] = ("1", "3", "5", "8")
    """Tasks of the paper."""
    sizes: tuple[int, ...] = (4, 6)
    """Cells along a side."""
    methods: tuple[str, ...] = ("rm", "nrm", "rnn", "none", "blind")
    """What is compared; blind has no memory and sees nothing."""
    seeds: tuple[int, ...] = (700, 701, 702, 703, 704)
    """Seeds of training. Settings were chosen on seed 100, tasks 5 and 8, and with many tasks on seeds 100 to 511."""
    steps: int | None = None
    """Steps of a run; by the cells along a side when absent."""
    processes: int = 1
    """Runs side by side."""
    played: int = 500
    """Episodes that a trained agent is measured on."""


@dataclass(frozen=True)
class Measured:
    """One trained agent."""

    returned: float
    """Mean return, of 100."""
    success: float
    greedy: float
    """Mean return of the agent that always takes its best action."""
    grounding: float | None
    """How often the grounder is right over the steps of the episodes, modulo shortcuts."""
    found: int | None = None
    """The episode from which on the learned machine was the task's, of methods that learn one."""


def grids(config: Config, size: int) -> Iterator[Grid]:
    """The runs on grids of a size: those that see, and those that do not."""
    settings = {"world": {"size": size}}
    shared: dict[str, Any] = {
        "tasks": config.tasks,
        "worlds": ("image-episode",),
        "seeds": config.seeds,
        "steps": config.steps or STEPS.get(size, 400_000),
    }
    if seeing := tuple(method for method in config.methods if method != "blind"):
        yield Grid(methods=seeing, settings=settings, **shared)
    if "blind" in config.methods:
        blind = {"blind": {"network": {"encoder": "blind"}}}
        yield Grid(methods=("none",), settings=settings, variants=blind, **shared)


def measured(path: Path, episodes: int) -> Measured:
    """What a trained agent earns on fresh episodes; found once, then read."""
    file = path / EVALUATION
    if file.exists():
        return Measured(**json.loads(file.read_text()))
    folder = RunFolder(path)
    trainer, config = folder.load_trained(), folder.config()
    sampled, greedy = (
        evaluate(trainer, config.build_world(50), episodes, seed=12345, greedy=best) for best in (False, True)
    )
    found = Measured(
        sampled.mean_return,
        sampled.success_rate,
        greedy.mean_return,
        None if sampled.grounding is None else sampled.grounding.modulo_shortcuts,
        None if (learned := folder.machines()) is None else found_at(list(learned.versions)),
    )
    write_json(file, asdict(found))
    return found


def rows(config: Config, size: int) -> list[tuple[object, ...]]:
    """Train what is missing, measure, and give the lines of a size's table."""
    lines: dict[tuple[str, str], list[tuple[float, ...]]] = defaultdict(list)
    for grid in grids(config, size):
        blind = "blind" in grid.variants
        store = config.out / (f"{size}x{size}-blind" if blind else f"{size}x{size}")
        outcome = run_grid(grid, store, LocalEngine(config.processes), interrupted=lambda: False)
        for name, reason in outcome.failed.items():
            print(f"{name} failed: {reason}", flush=True)
        for cell in grid.cells:
            path = store / RUNS / cell.name
            if cell.name in outcome.failed:
                continue
            record, found = read_record(path), measured(path, config.played)
            task = next(task for task in config.tasks if f"task{task}-" in f"{cell.name}-")
            key = (task, "blind" if blind else cell.config.method)
            frames, minutes = float(record.metrics["steps"][-1]), (record.cpu_seconds or 0.0) / 60
            grounding = float("nan") if found.grounding is None else found.grounding
            episode = float("nan") if found.found is None else found.found
            lines[key].append((found.returned, found.greedy, grounding, frames, minutes, episode))
    return [_line(task, method, np.array(values)) for (task, method), values in sorted(lines.items())]


def _line(task: str, method: str, values: Any) -> tuple[object, ...]:
    """(seeds, 6) values of the runs of a task and a method as one line."""
    returned, greedy, grounding, frames, minutes, episode = values.T
    named = "-" if np.isnan(grounding).all() else f"{grounding.mean():.2%}"
    right = episode[~np.isnan(episode)]
    return (
        f"task {task}, {method}",
        len(values),
        f"{returned.mean():.1f}",
        f"{returned.min():.1f}",
        f"{greedy.mean():.1f}",
        named,
        int(frames.mean()),
        f"{minutes.mean():.1f}",
        f"{len(right)} of {len(values)}, at episode {np.median(right):.0f}" if len(right) else "-",
    )


def main(config: Config) -> None:
    """Train, measure and print."""
    torch.set_num_threads(1)
    headings = (
        *("task, method", "seeds", "return", "worst seed", "greedy return", "grounding modulo shortcuts", "frames"),
        *("CPU minutes", "right machine"),
    )
    for size in config.sizes:
        report(
            f"Drawn layouts, {size}x{size}, from images",
            headings,
            rows(config, size),
            config.out,
            f"drawn_layouts_{size}x{size}",
        )


if __name__ == "__main__":
    main(tyro.cli(Config))
