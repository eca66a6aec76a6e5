"""Random-policy episodes of the map and the image world: a minimal generator for the benchmarks here.

A 4x4 grid with a pickaxe, lava, a door and a gem; four moves; the walker starts in the corner and has 50 steps. An
episode ends when the task is accomplished or failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import nrm
from nrm import MooreMachine
from nrm.groundability import diagnose

SYMBOLS = ("pickaxe", "lava", "door", "gem", "empty")
SIDE = 4
STEPS = 50
START = (0, 0)
ITEMS = {(1, 1): 0, (3, 3): 1, (3, 0): 2, (0, 3): 3}
EMPTY = 4
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))
COLOURS = ((139, 69, 19), (255, 80, 0), (90, 90, 200), (0, 200, 180))


@dataclass(frozen=True)
class Recording:
    """One episode of the walker."""

    cells: NDArray[np.int64]
    """(time, 2) where it was after each move."""
    symbols: NDArray[np.int64]
    """(time,) the true symbol of that cell."""
    rewards: NDArray[np.float64]
    """(time,) the differences of levels."""


def symbol_at(cell: tuple[int, int]) -> int:
    return ITEMS.get(cell, EMPTY)


def record(machine: MooreMachine, generator: np.random.Generator) -> Recording:
    """One episode under the uniform policy."""
    cell, state = START, machine.initial
    cells, symbols, rewards = [], [], []
    for _ in range(STEPS):
        move = MOVES[int(generator.integers(len(MOVES)))]
        cell = (min(max(cell[0] + move[0], 0), SIDE - 1), min(max(cell[1] + move[1], 0), SIDE - 1))
        symbol = symbol_at(cell)
        after = machine.next_state(state, symbol)
        cells.append(cell)
        symbols.append(symbol)
        rewards.append(float(machine.outputs[after] - machine.outputs[state]))
        state = after
        if machine.accepting[state] or machine.dead[state]:
            break
    return Recording(np.array(cells), np.array(symbols), np.array(rewards))


def record_many(machine: MooreMachine, count: int, seed: int) -> list[Recording]:
    generator = np.random.default_rng(seed)
    return [record(machine, generator) for _ in range(count)]


def as_map(cells: NDArray[np.int64]) -> NDArray[np.float32]:
    """(time, 2) coordinates, scaled to -1 to 1."""
    return (cells / (SIDE - 1) * 2 - 1).astype(np.float32)


def as_images(cells: NDArray[np.int64], size: int = 64) -> NDArray[np.uint8]:
    """(time, size, size, 3) pictures of the grid: items as coloured squares, the walker as a white disc."""
    frames = np.stack([_frame((int(row), int(column)), size) for row, column in all_cells()])
    chosen: NDArray[np.uint8] = frames[cells[:, 0] * SIDE + cells[:, 1]]
    return chosen


def all_cells() -> list[tuple[int, int]]:
    """The sixteen cells, row by row."""
    return [(row, column) for row in range(SIDE) for column in range(SIDE)]


def _frame(walker: tuple[int, int], size: int) -> NDArray[np.uint8]:
    side = size // SIDE
    frame = np.full((size, size, 3), 30, dtype=np.uint8)
    frame[::side] = frame[:, ::side] = 60
    for (row, column), symbol in ITEMS.items():
        frame[row * side + 3 : (row + 1) * side - 2, column * side + 3 : (column + 1) * side - 2] = COLOURS[symbol]
    rows, columns = np.mgrid[:size, :size]
    centre = (walker[0] * side + side / 2, walker[1] * side + side / 2)
    frame[(rows - centre[0]) ** 2 + (columns - centre[1]) ** 2 <= (side / 4) ** 2] = 255
    return frame


def accuracy_modulo_shortcuts(machine: MooreMachine, predicted: Sequence[int], true: Sequence[int]) -> float:
    """The share of letters in the right class, under the symmetry of the task that fits best."""
    confusion = np.zeros((machine.alphabet.size, machine.alphabet.size))
    np.add.at(confusion, (list(true), list(predicted)), 1.0)
    return diagnose(nrm.shortcuts(machine), confusion).accuracy_modulo_shortcuts
