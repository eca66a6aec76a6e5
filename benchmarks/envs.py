"""Random-policy episodes of the paper's map and image environments, for the benchmarks and the tests of learning.

The environment is `nrm.envs.MinecraftEnv`: a 4x4 grid with a pickaxe, lava, a door and a gem; the walker starts in
the corner and has 50 steps. An episode ends when the task is accomplished or failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

import nrm
from nrm import MooreMachine
from nrm.envs import MINECRAFT_SYMBOLS, BatchedTasks, End, MinecraftConfig, MinecraftEnv, TaskEnv
from nrm.shortcuts import diagnose

SYMBOLS = MINECRAFT_SYMBOLS
SIDE = 4
MOVES = (3, 1, 0, 2)
"""The order in which moves are drawn: left, right, up, down."""


@dataclass(frozen=True)
class Recording:
    """One episode of the walker."""

    cells: NDArray[np.int64]
    """(time, 2) where it was after each move: x, y."""
    symbols: NDArray[np.int64]
    """(time,) the true symbol of that cell."""
    rewards: NDArray[np.float64]
    """(time,) the differences of potentials."""


def record(env: TaskEnv[NDArray[np.float32], int], generator: np.random.Generator) -> Recording:
    """One episode under the uniform policy."""
    env.reset(seed=0)
    cells, symbols, rewards = [], [], []
    over = False
    while not over:
        seen, reward, terminated, truncated, info = env.step(MOVES[int(generator.integers(len(MOVES)))])
        cells.append((int(seen[0]), int(seen[1])))
        symbols.append(info["letter"])
        rewards.append(float(reward))
        over = terminated or truncated
    return Recording(np.array(cells), np.array(symbols), np.array(rewards))


def record_many(machine: MooreMachine, count: int, seed: int) -> list[Recording]:
    """Episodes of the map environment with a task on it; to the time limit where the task has no end."""
    generator = np.random.default_rng(seed)
    end: End = "outcome" if machine.accepting.any() else "limit"
    env: TaskEnv[NDArray[np.float32], int] = TaskEnv(MinecraftEnv(), machine, end=end)
    return [record(env, generator) for _ in range(count)]


def as_map(cells: NDArray[np.int64]) -> NDArray[np.float32]:
    """(time, 2) coordinates, scaled to -1 to 1."""
    return (cells / (SIDE - 1) * 2 - 1).astype(np.float32)


def as_images(cells: NDArray[np.int64]) -> NDArray[np.uint8]:
    """(time, 64, 64, 3) what the image environment shows with the walker in those cells."""
    chosen: NDArray[np.uint8] = _frames()[cells[:, 0] + SIDE * cells[:, 1]]
    return chosen


def all_cells() -> list[tuple[int, int]]:
    """The sixteen cells (x, y), column by column."""
    return [(x, y) for x in range(SIDE) for y in range(SIDE)]


def true_symbols() -> list[int]:
    """The true symbol of each of `all_cells`."""
    labels = _env("map").probe(0).letters
    return [int(labels[x + SIDE * y]) for x, y in all_cells()]


def _env(observation: str) -> BatchedTasks:
    machine = nrm.compile("F empty", SYMBOLS)  # any task: the cells do not depend on it
    return BatchedTasks(MinecraftConfig(observation=observation), machine, 1)


@cache
def _frames() -> NDArray[np.uint8]:
    frames = _env("image").frames
    assert frames is not None
    return np.asarray(frames)


def accuracy_modulo_shortcuts(machine: MooreMachine, predicted: Sequence[int], true: Sequence[int]) -> float:
    """The share of letters in the right class, under the symmetry of the task that fits best."""
    confusion = np.zeros((machine.alphabet.size, machine.alphabet.size))
    np.add.at(confusion, (list(true), list(predicted)), 1.0)
    return diagnose(nrm.shortcuts(machine), confusion).accuracy_modulo_shortcuts
