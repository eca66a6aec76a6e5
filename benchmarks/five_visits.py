"""Five visits in a row on a larger map: what it is worth to know that there is a machine.

Each run goes on until 95 % of the last hundred episodes succeed, or its episodes are over. Shown: how many runs came
there, after how many episodes and steps (medians; those that did not count as the limit), the episode from which on the
learned machine was the task's, CPU seconds, and what the best policy earns that sees its cell and remembers nothing.
With `--explore` the methods that learn the machine are trained once more, paid for transitions that it has not seen.
Rows are kept as they come (`rows.jsonl`), and those that are there are not made again.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
import tyro

import nrm
from benchmarks.common import report
from nrm.envs import MinecraftConfig
from nrm.envs.minecraft.memoryless import Walk, best_policy
from nrm.machines import Alphabet, MooreMachine
from nrm.runs import RunConfig, choose_run
from nrm.tracking.versions import found_at

ITEMS = ("pickaxe@2,2", "gem@5,2", "door@2,5")
"""Where they lie: the way from each of the others to the next leads through the pickaxe."""
SYMBOLS = ("pickaxe", "gem", "door", "empty")
VISITS = ("pickaxe", "gem", "pickaxe", "door", "pickaxe", "gem", "pickaxe", "door")
"""In this order. What to do next at the pickaxe is not to be seen there."""
WINDOW, GOAL = 100, 0.95
"""Episodes of the mean, and the share of them that must succeed."""
LEARNS = ("machine", "both")
"""Methods that learn the machine."""


@dataclass(frozen=True)
class Config:
    """Compare methods."""

    out: Path = Path("out/bench/five-visits")
    """Where rows and tables go."""
    methods: tuple[str, ...] = ("rm", "nrm", "machine", "both", "rnn", "none")
    """Which methods."""
    seeds: tuple[int, ...] = (820, 821, 822, 823, 824)
    """Which seeds."""
    episodes: int = 20_000
    """Episodes after which a run counts as not solved."""
    size: int = 6
    """Cells along a side."""
    steps: int = 26
    """Steps of an episode: 16 are needed, and 28 by a way that always leaves the pickaxe alike."""
    visits: int = 5
    """How many items are to be visited in a row."""
    explore: tuple[float, ...] = (0.0,)
    """The bonus for unseen transitions, of methods that learn the machine; several are compared."""
    paid: str = "distance"
    """When visits are paid: distance, each; acceptance, all of them at the last."""
    slip: float = 0.0
    """The probability that a move is drawn."""
    references: bool = True
    """Whether the best policy without memory is computed."""


def run_of(config: Config, method: str, seed: int, explore: float) -> RunConfig:
    """One run."""
    world = {"size": config.size, "items": ITEMS, "steps": config.steps, "slip": config.slip}
    settings: dict[str, dict[str, Any]] = {"world": world}
    if explore:
        settings["inference"] = {"explore": explore}
    return choose_run(task_of(config), "map", method, seed, episodes=config.episodes, settings=settings)


def task_of(config: Config) -> nrm.Task:
    """The task of the visits."""
    formula = f"sequenced_visit({', '.join(VISITS[: config.visits])})"
    return nrm.Task(formula, Alphabet.exclusive(SYMBOLS), config.paid)  # type: ignore[arg-type]


def one_run(config: Config, method: str, seed: int, explore: float) -> dict[str, Any]:
    """Train until the goal is reached, or to the end."""
    began = time.process_time()
    trainer = run_of(config, method, seed, explore).build_trainer()
    history, solved, looked = trainer.history, None, WINDOW
    while solved is None and not trainer.done:
        trainer.update()
        done = np.array(history.successes, dtype=np.float64)
        if len(done) >= looked:
            sums = np.convolve(done[looked - WINDOW :], np.ones(WINDOW), "valid")
            reached = np.flatnonzero(sums >= GOAL * WINDOW)
            solved = looked + int(reached[0]) if len(reached) else None
            looked = len(done) + 1
    row: dict[str, Any] = {
        "episodes": solved,
        "steps": None if solved is None else history.steps[solved - 1],
        "success": float(np.mean(history.successes[-WINDOW:])),
        "return": history.mean_return(WINDOW),
        "seconds": time.process_time() - began,
    }
    if trainer.inference is not None:
        row |= {"found": found_at(trainer.inference.versions), "states": trainer.inference.hypothesis.states}
    return row


def key(config: Config, method: str, seed: int, explore: float) -> str:
    shape = f"{config.size} {config.steps} {config.visits} {config.paid} {config.slip:g} {config.episodes}"
    return f"{shape} {method} {seed} {explore:g}"


def variants(config: Config) -> list[tuple[str, float]]:
    """Methods and bonuses."""
    return [(method, one) for method in config.methods for one in config.explore if method in LEARNS or not one]


def all_rows(config: Config) -> dict[str, dict[str, Any]]:
    """Every row, those of earlier calls included."""
    path = config.out / "rows.jsonl"
    config.out.mkdir(parents=True, exist_ok=True)
    rows = {}
    if path.exists():
        rows = {row["key"]: row for row in map(json.loads, path.read_text().splitlines())}
    for seed in config.seeds:
        for method, explore in variants(config):
            name = key(config, method, seed, explore)
            if name not in rows:
                rows[name] = {"key": name, **one_run(config, method, seed, explore)}
                print(rows[name], flush=True)
                with path.open("a") as file:
                    file.write(json.dumps(rows[name]) + "\n")
    return rows


def without_memory(config: Config) -> tuple[float, float]:
    """What the best blind and the best memoryless policy earn."""
    machine: MooreMachine = task_of(config).machine()
    world = MinecraftConfig(size=config.size, items=ITEMS, steps=config.steps, slip=config.slip)
    walk = Walk.of(machine, world)
    return best_policy(walk, False), best_policy(walk, True, starts=16, iterations=600)


def main(config: Config) -> None:
    torch.set_num_threads(1)
    rows = all_rows(config)
    table: list[list[object]] = []
    for method, explore in variants(config):
        mine = [rows[key(config, method, seed, explore)] for seed in config.seeds]
        solved = [row for row in mine if row["episodes"] is not None]
        reached = median(row["episodes"] or config.episodes for row in mine)
        steps = median(row["steps"] or np.inf for row in mine)
        found = [row["found"] for row in mine if row.get("found") is not None]
        table.append(
            [
                method + (f", explore {explore:g}" if explore else ""),
                f"{len(solved)}/{len(mine)}",
                int(reached) if len(solved) > len(mine) / 2 else f"> {config.episodes}",
                int(steps) if np.isfinite(steps) else "-",
                f"{100 * float(np.mean([row['success'] for row in mine])):.0f} %",
                f"{len(found)}/{len(mine)}, {median(found):.0f}" if found else "-",
                float(np.mean([row["seconds"] for row in mine])),
            ]
        )
    if config.references:
        for name, earned in zip(("best blind", "best memoryless"), without_memory(config), strict=True):
            table.append([f"{name}: earns {earned:.1f} of 100", "-", "-", "-", "-", "-", "-"])
    headings = ["method", "solved", "episodes", "steps", "success at the end", "machine right, since", "CPU s"]
    title = f"{config.visits} visits in a row, {config.size}x{config.size}, paid by {config.paid}"
    report(title, headings, table, config.out, f"{config.visits}-{config.paid}")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
