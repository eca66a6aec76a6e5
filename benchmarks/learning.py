"""Learning curves of RM, NRM and RNN on the paper's tasks: last returns, areas under the curve, grounding, time.

Every run has a folder below `--out`; runs that are done are not done again, so the program can be stopped and started.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
import torch
import tyro
from rich.console import Console

from benchmarks.common import report
from nrm.agents import METHODS, Method, preset
from nrm.envs import MINECRAFT_SYMBOLS, PAPER_ITEMS, MinecraftConfig
from nrm.files import read_text, write_text
from nrm.lab import RunFolder, new_trainer, run_config, train
from nrm.logic import paper_task
from nrm.machines import Alphabet, Task

COLOURS = {"rm": "#0072B2", "nrm": "#D55E00", "rnn": "#009E73"}


@dataclass(frozen=True)
class Config:
    """Train a grid of runs."""

    out: Path = Path("out/learning")
    """Run folders and tables go here."""
    tasks: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8)
    """The paper's tasks."""
    methods: tuple[Method, ...] = METHODS
    """Which methods."""
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    """Seeds of training."""
    world: Literal["map", "image"] = "map"
    """What the agent sees."""
    layout: Literal["fixed", "episode"] = "fixed"
    """Where the items lie."""
    preset: str = "default"
    """default or paper."""
    episodes: int = 10_000
    """Episodes of each run."""
    processes: int = 2
    """Runs side by side."""


@dataclass(frozen=True)
class Cell:
    """One run of the grid."""

    task: int
    method: Method
    seed: int


def cells(config: Config) -> Iterator[Cell]:
    """The grid, seeds last, so that a part of it says something early."""
    for seed in config.seeds:
        for task in config.tasks:
            for method in config.methods:
                yield Cell(task, method, seed)


def folder_of(config: Config, cell: Cell) -> RunFolder:
    name = f"{config.preset}-{config.world}-{config.layout}-{config.episodes}"
    return RunFolder(config.out / name / f"task{cell.task}-{cell.method}-seed{cell.seed}")


def run_cell(config: Config, cell: Cell) -> None:
    """Train one run to its end, from where it is."""
    torch.set_num_threads(1)
    folder = folder_of(config, cell)
    if not folder.exists:
        items = PAPER_ITEMS if config.layout == "fixed" else tuple(name for name, _ in PAPER_ITEMS)
        world = MinecraftConfig(observation=config.world, layout=config.layout, items=items)
        agent = replace(preset(config.preset), episodes=config.episodes)
        task = Task.from_paper(cell.task, Alphabet.exclusive(MINECRAFT_SYMBOLS))
        folder.begin(run_config(task, world, cell.method, agent, cell.seed))
    trainer = folder.load() if (folder.path / "checkpoint.pt").exists() else new_trainer(folder.config())
    if trainer.done:
        return
    began = time.process_time()
    train(folder, trainer)
    write_text(folder.path / "seconds.txt", f"{time.process_time() - began:.2f}\n")


def summary(config: Config) -> None:
    """Print a row for each task and method."""
    rows: list[tuple[object, ...]] = []
    for task in config.tasks:
        area: dict[str, float] = {}
        for method in config.methods:
            last, areas, modulo, seconds = [], [], [], []
            for seed in config.seeds:
                folder = folder_of(config, Cell(task, method, seed))
                if not (folder.path / "seconds.txt").exists():
                    continue
                returns = folder.metrics()["return"]
                last.append(returns[-100:].mean())
                areas.append(returns.mean())
                seconds.append(float(read_text(folder.path / "seconds.txt")))
                accuracy = folder.path / "grounding.csv"
                if accuracy.exists():
                    modulo.append(float(read_text(accuracy).splitlines()[-1].split(",")[-1]))
            if last:
                area[method] = float(np.mean(areas))
                ratio = area[method] / area["rm"] if "rm" in area else float("nan")
                grounded = f"{min(modulo):.1%}" if modulo else "-"
                rows.append(
                    (
                        task,
                        method,
                        len(last),
                        np.mean(last).item(),
                        min(last).item(),
                        area[method],
                        ratio,
                        grounded,
                        float(np.mean(seconds)),
                    )
                )
    headings = (
        "task",
        "method",
        "runs",
        "last 100",
        "worst run",
        "mean return",
        "area / RM's",
        "grounding, worst",
        "CPU s",
    )
    name = f"learning_{config.preset}_{config.world}_{config.layout}"
    report(
        f"{config.world} world, preset {config.preset}, {config.episodes:,} episodes", headings, rows, config.out, name
    )


def picture(config: Config) -> None:
    """Draw the learning curves, a panel per task: means of 100 episodes, and the spread over seeds."""
    figure, panels = plt.subplots(2, 4, figsize=(13, 5.6), sharex=True, sharey=True, squeeze=False)
    for task, panel in zip(config.tasks, panels.flat, strict=False):
        for method in config.methods:
            folders = [folder_of(config, Cell(task, method, seed)) for seed in config.seeds]
            returns = [folder.metrics()["return"] for folder in folders if (folder.path / "seconds.txt").exists()]
            if not returns:
                continue
            window = min(100, config.episodes)
            smooth = np.array([np.convolve(row, np.ones(window) / window, mode="valid") for row in returns])
            episodes = np.arange(window, window + smooth.shape[1])
            mean, spread = smooth.mean(0), smooth.std(0)
            panel.plot(episodes, mean, color=COLOURS[method], label=method.upper(), linewidth=1.4)
            panel.fill_between(episodes, mean - spread, mean + spread, color=COLOURS[method], alpha=0.18, linewidth=0)
        panel.set_title(f"{task}: {paper_task(task).formula()}", fontsize=9)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0][0].legend(frameon=False, loc="lower right")
    figure.supxlabel("episode")
    figure.supylabel("return, mean of 100")
    figure.tight_layout()
    figure.savefig(config.out / f"learning_{config.preset}_{config.world}_{config.layout}.png", dpi=110)
    plt.close(figure)


def main(config: Config) -> None:
    """Train what is missing, then summarise."""
    grid = list(cells(config))
    console = Console()
    with ProcessPoolExecutor(config.processes) as pool:
        jobs = {pool.submit(run_cell, config, cell): cell for cell in grid}
        for number, job in enumerate(as_completed(jobs), 1):
            job.result()
            console.print(f"{number}/{len(grid)} {jobs[job]}", highlight=False)
    summary(config)
    picture(config)


if __name__ == "__main__":
    main(tyro.cli(Config))
