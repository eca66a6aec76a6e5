"""What policies earn that remember nothing, computed exactly: lines to hold every learned machine against.

*Blind*: the best fixed distribution over actions. *Memoryless*: the best policy that sees its cell and remembers
nothing. Expected returns are sums over all cells, states of the machine and steps of an episode, with no sampling; the
best is the best of some ascents, so a lower bound.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import tyro

import nrm
from benchmarks.common import report
from benchmarks.memoryless import Walk, best_policy
from nrm.envs import MINECRAFT_SYMBOLS, MinecraftConfig


@dataclass(frozen=True)
class Config:
    """Compute references."""

    out: Path = Path("out/bench")
    """Where the table goes."""
    tasks: tuple[str, ...] = ("1", "2", "3", "4", "5", "6", "7", "8")
    """The paper's tasks, or formulas over the environment's symbols."""
    size: int = 4
    """Cells along a side."""
    starts: int = 32
    """Policies that ascent begins with."""
    iterations: int = 600
    """Steps of an ascent, at most."""


def main(config: Config) -> None:
    env = MinecraftConfig(size=config.size)
    rows: list[list[object]] = []
    for task in config.tasks:
        formula = nrm.logic.paper_task(task).formula(MINECRAFT_SYMBOLS) if task.isdigit() else task
        walk = Walk.of(nrm.compile(formula, MINECRAFT_SYMBOLS), env)
        began = time.process_time()
        found = [best_policy(walk, sees, config.starts, config.iterations) for sees in (False, True)]
        rows.append([task, *(f"{figure:.1f}" for figure in found), time.process_time() - began])
        print(*rows[-1], flush=True)
    headings = ["task", "blind", "memoryless", "CPU s"]
    report("The best that no memory earns, map environment", headings, rows, config.out, "blind")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
