"""Five visits in a row on a larger map: what it is worth to know that there is a machine.

How soon a policy is sure of itself depends on how long it is to train, as the weight of its entropy comes down with
that. So agents are trained for one number of episodes after the other. Shown: how many runs end with 95 % success in
the last hundred episodes, their mean return, the steps after which they first had it (median), the episode from which
on the learned machine was the task's, CPU seconds, and what the best policies earn that remember nothing. Rows
are kept as they come (`rows.jsonl`), and those that are there are not made again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
import tyro

import nrm
from benchmarks.common import kept_rows, report
from benchmarks.memoryless import Walk, best_policy
from nrm.envs import MinecraftConfig
from nrm.files import parse_toml
from nrm.machines import Alphabet, MooreMachine
from nrm.runs import RunConfig, choose_run
from nrm.tracking import found_at

ITEMS = ("pickaxe@2,2", "gem@5,2", "door@2,5")
"""Where they lie: the way from each of the others to the next leads through the pickaxe."""
SYMBOLS = ("pickaxe", "gem", "door", "empty")
VISITS = ("pickaxe", "gem", "pickaxe", "door", "pickaxe", "gem", "pickaxe", "door")
"""In this order. What to do next at the pickaxe is not to be seen there."""
WINDOW, GOAL = 100, 0.95
"""Episodes of the mean, and the share of them that must succeed."""
"""Methods that learn the machine."""


@dataclass(frozen=True)
class Config:
    """Compare methods."""

    out: Path = Path("out/bench/five-visits")
    """Where rows and tables go."""
    methods: tuple[str, ...] = ("rm", "pure-learning", "rnn", "memoryless")
    """Which methods."""
    seeds: tuple[int, ...] = (820, 821, 822)
    """Which seeds."""
    episodes: tuple[int, ...] = (6000, 12_000, 24_000)
    """How long to train."""
    size: int = 6
    """Cells along a side."""
    steps: int = 26
    """Steps of an episode: 16 are needed, and 28 by a way that always leaves the pickaxe alike."""
    visits: int = 5
    """How many items are to be visited in a row."""
    paid: str = "distance"
    """When visits are paid: distance, each; acceptance, all of them at the last."""
    slip: float = 0.0
    """The probability that a move is drawn."""
    algorithm: str = "auto"
    """How the policy learns, of all methods: a2c, ppo, or the environment's own."""
    settings: tuple[str, ...] = ()
    """What differs from the preset, of all methods, such as algorithm.ent_coef=0.02 or recurrent.size=128."""
    references: bool = True
    """Whether the best policy without memory is computed."""


def run_of(config: Config, method: str, seed: int, episodes: int) -> RunConfig:
    """One run."""
    env = {"size": config.size, "items": ITEMS, "steps": config.steps, "slip": config.slip}
    settings: dict[str, dict[str, Any]] = {"env": env, **parse_toml("\n".join(config.settings), "--settings")}
    return choose_run(
        task_of(config), "map", method, seed, algorithm=config.algorithm, total_episodes=episodes, settings=settings
    )


def task_of(config: Config) -> nrm.Task:
    """The task of the visits."""
    formula = f"sequenced_visit({', '.join(VISITS[: config.visits])})"
    return nrm.Task(formula, Alphabet.exclusive(SYMBOLS), config.paid)  # type: ignore[arg-type]


def one_run(config: Config, method: str, seed: int, episodes: int) -> dict[str, Any]:
    """Train once; what came of it."""
    began = time.process_time()
    trainer = run_of(config, method, seed, episodes).build_trainer()
    history = trainer.run()
    sums = np.convolve(np.array(history.successes, dtype=np.float64), np.ones(WINDOW), "valid")
    reached = np.flatnonzero(sums >= GOAL * WINDOW)
    row: dict[str, Any] = {
        "steps": int(history.steps[WINDOW - 1 + int(reached[0])]) if len(reached) else None,
        "success": float(np.mean(history.successes[-WINDOW:])),
        "return": history.mean_return(WINDOW),
        "seconds": time.process_time() - began,
    }
    if trainer.inference is not None:
        row |= {"found": found_at(trainer.inference.versions), "states": trainer.inference.hypothesis.states}
    return row


def key(config: Config, method: str, seed: int, episodes: int) -> str:
    shape = f"{config.size} {config.steps} {config.visits} {config.paid} {config.slip:g} {episodes}"
    own = [] if config.algorithm == "auto" else [config.algorithm]
    return " ".join([f"{shape} {method} {seed}", *own, *config.settings])


def variants(config: Config) -> list[tuple[str, int]]:
    """Methods and lengths."""
    return [(method, episodes) for method in config.methods for episodes in config.episodes]


def all_rows(config: Config) -> dict[str, dict[str, Any]]:
    """Every row, those of earlier calls included."""
    runs = [(method, seed, episodes) for seed in config.seeds for method, episodes in variants(config)]
    return kept_rows(config.out, {key(config, *run): partial(one_run, config, *run) for run in runs})


def without_memory(config: Config) -> tuple[float, float]:
    """What the best blind and the best memoryless policy earn."""
    machine: MooreMachine = task_of(config).machine()
    env = MinecraftConfig(size=config.size, items=ITEMS, steps=config.steps, slip=config.slip)
    walk = Walk.of(machine, env)
    return best_policy(walk, False), best_policy(walk, True, starts=16, iterations=600)


def main(config: Config) -> None:
    torch.set_num_threads(1)
    rows = all_rows(config)
    table: list[list[object]] = []
    for method, episodes in variants(config):
        mine = [rows[key(config, method, seed, episodes)] for seed in config.seeds]
        solved = [row for row in mine if row["success"] >= GOAL]
        steps = sorted(np.inf if row["steps"] is None else row["steps"] for row in mine)[len(mine) // 2]
        found = [row["found"] for row in mine if row.get("found") is not None]
        table.append(
            [
                method,
                episodes,
                f"{len(solved)}/{len(mine)}",
                f"{float(np.mean([row['return'] for row in mine])):.1f}",
                int(steps) if np.isfinite(steps) else "-",
                f"{len(found)}/{len(mine)}, {median(found):.0f}" if found else "-",
                float(np.mean([row["seconds"] for row in mine])),
            ]
        )
    if config.references:
        for name, earned in zip(("best blind", "best memoryless"), without_memory(config), strict=True):
            table.append([name, "-", "-", f"{earned:.1f}", "-", "-", "-"])
    headings = ["method", "episodes", "solved", "return", "steps to 95 %", "machine right, since", "CPU s"]
    title = f"{config.visits} visits in a row, {config.size}x{config.size}, paid by {config.paid}"
    report(title, headings, table, config.out, f"{config.visits}-{config.paid}")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
