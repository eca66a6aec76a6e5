"""What policies earn that remember nothing, computed exactly: lines to hold every learned machine against.

*Blind*: the best fixed distribution over actions. *Memoryless*: the best policy that sees its cell and remembers
nothing; the best of some ascents, so a lower bound of the best. Expected returns are sums over all cells, states of the
machine and steps of an episode, with no sampling; the policies are found by ascent on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from torch import Tensor

import nrm
from benchmarks.common import report
from nrm import MooreMachine
from nrm.envs import MINECRAFT_SYMBOLS, BatchedMinecraft, MinecraftConfig
from nrm.envs.minecraft.grid import next_cells


@dataclass(frozen=True)
class Config:
    """Compute references."""

    out: Path = Path("out/bench")
    """Where the table goes."""
    tasks: tuple[str, ...] = ("1", "2", "3", "4", "5", "6", "7", "8")
    """The paper's tasks, or formulas over the world's symbols."""
    size: int = 4
    """Cells along a side."""
    starts: int = 4
    """How often ascent begins anew."""
    iterations: int = 250
    """Steps of an ascent."""


@dataclass(frozen=True, eq=False)
class Walk:
    """A task on the map as a chain over pairs of a cell and a state of the machine."""

    reached: Tensor
    """(cells * states, actions) the pair that each action leads to; pairs where an episode is over stay."""
    levels: Tensor
    """(cells * states,) the level of each pair, from 0 at the beginning."""
    start: int
    steps: int
    states: int

    @classmethod
    def of(cls, machine: MooreMachine, world: MinecraftConfig) -> Walk:
        """The chain of a task."""
        moves = next_cells(world)
        labels = BatchedMinecraft(world, machine, 1).true_labels()
        assert labels is not None
        assert world.start_cell is not None
        over = machine.accepting | machine.dead
        reached = np.empty((world.cells, machine.states, moves.shape[1]), dtype=np.int64)
        for cell in range(world.cells):
            for state in range(machine.states):
                for action, after in enumerate(moves[cell].tolist()):
                    to = machine.next_state(state, int(labels[after]))
                    pair = (cell, state) if over[state] else (after, to)
                    reached[cell, state, action] = pair[0] * machine.states + pair[1]
        levels = np.tile(machine.outputs - machine.outputs[machine.initial], world.cells)
        start = world.number(world.start_cell) * machine.states + machine.initial
        flat = torch.from_numpy(reached.reshape(-1, moves.shape[1]))
        return cls(flat, torch.from_numpy(levels), start, world.steps, machine.states)

    def expected_return(self, policy: Tensor) -> Tensor:
        """Of a policy (cells, actions)."""
        chosen = policy.repeat_interleave(self.states, 0)
        share = torch.zeros(len(self.levels), dtype=torch.float64)
        share[self.start] = 1.0
        for _ in range(self.steps):
            share = torch.zeros_like(share).index_add(0, self.reached.flatten(), (share[:, None] * chosen).flatten())
        return share @ self.levels


def best(walk: Walk, sees: bool, starts: int, iterations: int) -> float:
    """The largest expected return that ascent finds, of a policy that sees its cell or nothing."""
    cells = len(walk.levels) // walk.states
    found = -np.inf
    for seed in range(starts):
        generator = torch.Generator().manual_seed(seed)
        scores = torch.randn(cells if sees else 1, walk.reached.shape[1], generator=generator, dtype=torch.float64)
        scores.requires_grad_()
        optimizer = torch.optim.Adam([scores], lr=0.1)
        for _ in range(iterations):
            optimizer.zero_grad()
            earned = walk.expected_return(scores.softmax(1).expand(cells, -1))
            (-earned).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            found = max(found, float(earned.detach()))
    return found


def main(config: Config) -> None:
    torch.set_num_threads(1)
    world = MinecraftConfig(size=config.size)
    rows: list[list[object]] = []
    for task in config.tasks:
        formula = nrm.paper_task(task).formula(MINECRAFT_SYMBOLS) if task.isdigit() else task
        walk = Walk.of(nrm.compile(formula, MINECRAFT_SYMBOLS), world)
        figures = [best(walk, sees, config.starts, config.iterations) for sees in (False, True)]
        rows.append([task, *(f"{figure:.1f}" for figure in figures)])
        print(*rows[-1], flush=True)
    report("The best that no memory earns, map world", ["task", "blind", "memoryless"], rows, config.out, "blind")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
