"""PPO + RM, PPO + NRM, RecurrentPPO and PPO alone on MiniGrid from RGB images: success over steps, ratios to PPO + RM.

Every run has a folder below `--out` with its curve in a JSON file; runs that are there are not done again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import tyro
from numpy.typing import NDArray

from benchmarks.minigrid_agents import METHODS, Method, Settings, run
from benchmarks.results import Benchmark, Headline, Row, complete, show
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
    num_envs: tuple[str, ...] = tuple(STEPS)
    """Ids of environments with a ready task."""
    methods: tuple[Method, ...] = METHODS
    """Which methods."""
    seeds: tuple[int, ...] = (4000, 4001, 4002, 4003, 4004)
    """Seeds of training; settings were chosen on seeds 0, 1, 2, 10 and 11."""
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


def run_cell(config: Config, cell: Cell) -> Row:
    """Train one run, unless it is there; its row. The curve stays in its file."""
    path = path_of(config, cell)
    if not path.exists():
        steps = config.steps_of(cell.environment)
        result = run(cell.environment, cell.method, cell.seed, steps, config.episodes, config.settings)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps(result) + "\n")
    found = json.loads(read_text(path))
    row = {name: value for name, value in found.items() if name not in ("settings", "ended", "successes")}
    return {**row, "area": area(found), "steps_per_second": found["steps"] / found["cpu_seconds"]}


def jobs(config: Config, seeds: Sequence[int]) -> dict[str, tuple[Any, ...]]:
    """A run of every environment, method and seed."""
    cells = [Cell(*at) for at in product(config.num_envs, config.methods, seeds)]
    return {
        f"{cell.environment} {cell.method} {cell.seed} {config.steps_of(cell.environment)}": (config, cell)
        for cell in cells
    }


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


def picture(config: Config) -> None:
    """Draw success over steps, a panel per environment: means over seeds, and each seed thin."""
    figure, panels = plt.subplots(
        1, len(config.num_envs), figsize=(4.2 * len(config.num_envs), 3.2), sharey=True, squeeze=False
    )
    for environment, panel in zip(config.num_envs, panels[0], strict=True):
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


SCORES = ("sampled", "greedy", "area", "accuracy_modulo_shortcuts", "state_accuracy", "steps_per_second", "cpu_seconds")
COMMAND = "python -m benchmarks.headline minigrid"
HEADLINE = Headline("minigrid", COMMAND, SCORES, ("environment", "method"), "environment")
BENCHMARKS = {"minigrid": Benchmark(HEADLINE, partial(jobs, Config(num_envs=tuple(STEPS)[:2])), run_cell)}


def main(config: Config) -> None:
    """Train what is missing, then summarise."""
    show(complete(HEADLINE, jobs(config, config.seeds), run_cell, config.processes, config.out), config.out)
    picture(config)


if __name__ == "__main__":
    main(tyro.cli(Config))
