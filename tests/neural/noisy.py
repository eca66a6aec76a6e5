"""Observations without end: the middle of a small grid shows what holds, and all around it is noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import nrm

SYMBOLS = ("a", "b", "nothing")
SHAPE = (3, 3, 3)


def shown(letters: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.float32]:
    """(n, 3, 3, 3) a grid for each letter (n,)."""
    grids = generator.random((len(letters), *SHAPE))
    grids[:, 1, 1] = np.eye(len(SYMBOLS))[letters]
    return grids.astype(np.float32)


def episodes(
    formula: str, count: int, seed: int, steps: int = 14
) -> list[tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.int64]]]:
    """Observations, rewards and true letters of random episodes, which end when the task is done or lost."""
    machine = nrm.compile(formula, SYMBOLS)
    generator = np.random.default_rng(seed)
    result = []
    for _ in range(count):
        letters, levels, state = list[int](), [0.0], machine.initial
        while len(letters) < steps and not (machine.accepting[state] or machine.dead[state]):
            letters.append(int(generator.choice(3, p=(0.15, 0.15, 0.7))))
            state = machine.next_state(state, letters[-1])
            levels.append(float(machine.outputs[state] - machine.outputs[machine.initial]))
        read = np.array(letters)
        result.append((shown(read, generator), np.diff(levels), read))
    return result
