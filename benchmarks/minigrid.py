"""PPO + RM, PPO + NRM, RecurrentPPO and PPO alone on MiniGrid from RGB images: success over steps, ratios to PPO + RM.

Every run has a folder below `--out` with its curve in a JSON file; runs that are there are not done again.
"""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.common import report
from benchmarks.minigrid_agents import METHODS, Method, Settings, run
from nrm.files import read_text, write_text

STEPS = {
    "MiniGrid-LavaGapS5-v0": 60_000,
    "MiniGrid-DoorKey-5x5-v0": 40_000,
    "MiniGrid-RedBlueDoors-6x6-v0": 150_000,
}
"""The environments, and steps enough for PPO + RM to settle."""
NAMES = {"rm": "PPO + RM", "nrm": "PPO + NRM", "rnn": "RecurrentPPO", "ppo": "PPO alone"}
COLOURS = {"rm": "#0072B2", "nrm": "#D55E00", "rnn": "#009E73", "ppo": "#888888"}


@dataclass(frozen=True)
class Config:
    """Train a grid of runs."""

    out: Path = Path("out/minigrid")
    """Run folders, tables and the picture go here."""
    environments: tuple[str, ...] = tuple(STEPS)
    """Ids of environments with a ready task."""
    methods: tuple[Method, ...] = METHODS
    """Which methods."""
    seeds: tuple[int, ...] = (2, 3)
    """Seeds of training; settings were chosen on seeds 0 and 1."""
    steps: int | None = None
    """Steps of each run; if absent, what the environment is known to need."""
    episodes: int = 208
    """Episodes that a trained agent is judged by, of each kind."""
    processes: int = 2
    """Runs side by side, one core each."""
    settings: Settings = field(default_factory=Settings)

    def steps_of(self, environment: str) -> int:
        """How long to train on an environment."""
        return self.steps or STEPS.get(environment, 100_000)


@dataclass(frozen=True)
class Cell:
    """One run of the grid."""

    environment: str
    method: Method
    seed: int


def path_of(config: Config, cell: Cell) -> Path:
    steps = config.steps_of(cell.environment)
    return config.out / f"{cell.environment}-{steps}" / f"{cell.method}-seed{cell.seed}" / "run.json"


def run_cell(config: Config, cell: Cell) -> None:
    """Train one run, unless it is there."""
    torch.set_num_threads(1)
    path = path_of(config, cell)
    if path.exists():
        return
    steps = config.steps_of(cell.environment)
    result = run(cell.environment, cell.method, cell.seed, steps, config.episodes, config.settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(result) + "\n")


def results(config: Config, environment: str, method: Method) -> list[dict[str, Any]]:
    """The runs of all seeds that are there."""
    paths = [path_of(config, Cell(environment, method, seed)) for seed in config.seeds]
    return [json.loads(read_text(path)) for path in paths if path.exists()]


def smooth(result: dict[str, Any], steps: NDArray[np.float64], window: int = 50) -> NDArray[np.float64]:
    """The success rate of the last episodes at each number of steps; NaN before the first one ends."""
    ended = np.array(result["ended"])
    total = np.concatenate([[0], np.cumsum(result["successes"])])
    done = np.searchsorted(ended, steps, side="right")
    first = np.maximum(done - window, 0)
    return np.where(done > 0, (total[done] - total[first]) / np.maximum(done - first, 1), np.nan)


def area(result: dict[str, Any]) -> float:
    """The mean success rate over the steps of training."""
    return float(np.nanmean(smooth(result, np.linspace(0, result["steps"], 201))))


def summary(config: Config) -> None:
    """Print a row for each environment and method."""
    rows: list[tuple[object, ...]] = []
    for environment in config.environments:
        told: dict[str, float] = {}
        for method in config.methods:
            found = results(config, environment, method)
            if not found:
                continue
            success = {kind: float(np.mean([result[kind] for result in found])) for kind in ("greedy", "sampled")}
            over = float(np.mean([area(result) for result in found]))
            if method == "rm":
                told = {**success, "area": over}
            rows.append(
                (
                    environment.removeprefix("MiniGrid-").removesuffix("-v0"),
                    NAMES[method],
                    len(found),
                    f"{success['sampled']:.1%}",
                    _ratio(success["sampled"], told.get("sampled")),
                    f"{success['greedy']:.1%}",
                    _ratio(over, told.get("area")),
                    _share(found, "accuracy_modulo_shortcuts"),
                    _share(found, "state_accuracy"),
                    sum(result["steps"] for result in found) / sum(result["cpu_seconds"] for result in found),
                )
            )
    headings = (
        "environment",
        "method",
        "runs",
        "success",
        "/ RM's",
        "greedy",
        "area / RM's",
        "grounding mod. shortcuts",
        "states",
        "steps/s",
    )
    report("MiniGrid from RGB images, the same steps for all", headings, rows, config.out, "minigrid")


def _ratio(value: float, told: float | None) -> str:
    return "-" if not told else f"{value / told:.2f}"


def _share(found: list[dict[str, Any]], key: str) -> str:
    return f"{np.mean([result[key] for result in found]):.1%}" if key in found[0] else "-"


def picture(config: Config) -> None:
    """Draw success over steps, a panel per environment: means over seeds, and each seed thin."""
    figure, panels = plt.subplots(
        1, len(config.environments), figsize=(4.2 * len(config.environments), 3.2), sharey=True, squeeze=False
    )
    for environment, panel in zip(config.environments, panels[0], strict=True):
        steps = np.linspace(0, config.steps_of(environment), 301)
        for method in config.methods:
            curves = np.array([smooth(result, steps) for result in results(config, environment, method)])
            if not len(curves):
                continue
            for curve in curves:
                panel.plot(steps / 1000, curve, color=COLOURS[method], linewidth=0.6, alpha=0.4)
            known = ~np.isnan(curves).all(axis=0)
            panel.plot(
                steps[known] / 1000, np.nanmean(curves[:, known], axis=0), color=COLOURS[method], label=NAMES[method]
            )
        panel.set_title(environment, fontsize=9)
        panel.set_xlabel("steps (thousands)")
        panel.set_ylim(-0.02, 1.05)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0][0].set_ylabel("success, last 50 episodes")
    fullest = max(panels[0], key=lambda panel: len(panel.get_legend_handles_labels()[0]))
    fullest.legend(frameon=False, loc="lower right", fontsize=8)
    figure.tight_layout()
    figure.savefig(config.out / "minigrid.png", dpi=110)
    plt.close(figure)


def main(config: Config) -> None:
    """Train what is missing, then summarise."""
    grid = [
        Cell(environment, method, seed)
        for seed in config.seeds
        for environment in config.environments
        for method in config.methods
    ]
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
