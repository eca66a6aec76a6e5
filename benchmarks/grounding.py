"""Grounding from random-policy episodes: expectation-maximisation, descent on its likelihood, the paper's objective.

For each of the paper's tasks and each seed, 120 episodes of the map environment (or the image environment) are
recorded under the uniform policy, and a grounder is learned from their rewards alone. Shown: the accuracy over the
sixteen cells, modulo the shortcuts that no reward can remove.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import tyro

import nrm
from benchmarks import envs
from benchmarks.results import Benchmark, Headline, Row, complete, show
from nrm.neural import (
    CnnGrounder,
    EpisodeBuffer,
    FitConfig,
    Grounder,
    MlpGrounder,
    NeuralRewardMachine,
    Objective,
    fit,
)

GrounderName = Literal["mlp", "paper-mlp", "cnn"]


@dataclass(frozen=True)
class Config:
    """Compare objectives of grounding."""

    out: Path = Path("out/bench")
    """Where the tables go."""
    env: Literal["map", "image"] = "map"
    """What is observed: coordinates, or pictures of 64x64x3."""
    grounder: GrounderName | None = None
    """The network; by default the MLP for the map, and the paper's CNN for images."""
    tasks: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8)
    """Which of the paper's tasks."""
    seeds: int = 5
    """How many seeds."""
    first_seed: int = 4000
    """The first of them; settings were chosen on seeds below 400."""
    episodes: int = 120
    """How many episodes each run learns from."""
    restarts: int = 32
    """Most restarts of a run."""
    epochs: int = 400
    """Most epochs of a restart."""
    learning_rate: float = 0.01
    """Adam's step size."""
    objectives: tuple[Objective, ...] = ("em", "sequence", "marginal")
    """Which objectives."""


def network(config: Config) -> Grounder:
    count = len(envs.SYMBOLS)
    match config.grounder or ("mlp" if config.env == "map" else "cnn"):
        case "mlp":
            return MlpGrounder(2, count)
        case "paper-mlp":
            return MlpGrounder.paper(2, count)
        case "cnn":
            return CnnGrounder(count)


def run(config: Config, task: int, seed: int, objective: Objective) -> Row:
    """One run: the accuracy modulo shortcuts over all cells, restarts and CPU seconds."""
    machine = nrm.compile(nrm.logic.paper_task(task).formula(envs.SYMBOLS), envs.SYMBOLS)
    observe = envs.as_map if config.env == "map" else envs.as_images
    episodes = EpisodeBuffer.for_machine(machine)
    for episode in envs.record_many(machine, config.episodes, seed):
        episodes.add(observe(episode.cells), rewards=episode.rewards, symbols=episode.symbols)
    torch.manual_seed(seed)
    model = NeuralRewardMachine(network(config), machine)
    settings = FitConfig(
        objective=objective,
        restarts=config.restarts,
        epochs=config.epochs,
        learning_rate=config.learning_rate,
        seed=seed,
    )
    began = time.process_time()
    record = fit(model, episodes, "grounding", settings)
    seconds = time.process_time() - began
    cells = np.array(envs.all_cells())
    true = envs.true_symbols()
    with torch.no_grad():
        predicted = model.ground(torch.from_numpy(observe(cells))).argmax(-1).tolist()
    accuracy = envs.accuracy_modulo_shortcuts(machine, predicted, true)
    return {
        "env": config.env,
        "objective": objective,
        "task": task,
        "seed": seed,
        "accuracy": accuracy,
        "right": accuracy == 1,
        "cpu_seconds": seconds,
        "restarts": sum(attempt.restarts for attempt in record.attempts),
    }


def jobs(config: Config, seeds: Sequence[int]) -> dict[str, tuple[Any, ...]]:
    """A run of every task, seed and objective."""
    runs = product(config.objectives, config.tasks, seeds)
    return {
        f"{config.env} {objective} {task} {seed} {config.episodes}": (config, task, seed, objective)
        for objective, task, seed in runs
    }


def reported(seeds: Sequence[int]) -> dict[str, tuple[Any, ...]]:
    """From positions by two objectives, and from images by one."""
    return jobs(Config(objectives=("em", "sequence")), seeds) | jobs(Config(env="image", objectives=("em",)), seeds)


SCORES = ("right", "accuracy", "restarts", "cpu_seconds")
COLUMNS = ("task", "env", "objective")
COMMAND = "python -m benchmarks.headline grounding"
BENCHMARKS = {"grounding": Benchmark(Headline("grounding", COMMAND, SCORES, COLUMNS), reported, run)}


def main(config: Config) -> None:
    """Measure and print."""
    run(config, 1, 0, "em")  # PyTorch's first steps take longer
    headline = BENCHMARKS["grounding"].headline
    seeds = range(config.first_seed, config.first_seed + config.seeds)
    show(complete(headline, jobs(config, seeds), run, folder=config.out), config.out)


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
