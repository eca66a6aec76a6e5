"""A machine on the letters of N environments: states and what is paid."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nrm.errors import LimitError
from nrm.machines import MooreMachine

States = NDArray[np.int64]
Paid = NDArray[np.float32]


class Stepper(Protocol):
    """Moves many states at once."""

    def step(self, states: States, letters: NDArray[np.int64]) -> tuple[States, Paid]:
        """(N,) the states that follow states (N,) by letters (N,), and (N,) the differences of potentials."""


def stepper(machine: MooreMachine) -> Stepper:
    """By classes of letters, a lookup in a table; where there are too many of them, move by move."""
    try:
        return _ByClasses(machine)
    except LimitError:
        return _ByMoves(machine)


class _ByClasses:
    def __init__(self, machine: MooreMachine) -> None:
        self._letters = machine.letters
        self._classes = machine.classes
        self._moves = machine.columns.astype(np.int64).ravel()
        self._paid = (machine.outputs[machine.columns] - machine.outputs[:, None]).astype(np.float32).ravel()

    def step(self, states: States, letters: NDArray[np.int64]) -> tuple[States, Paid]:
        move = states * self._classes + self._letters.take(letters)
        return self._moves.take(move), self._paid.take(move)


class _ByMoves:
    def __init__(self, machine: MooreMachine) -> None:
        self._moves = machine.moves
        self._outputs = machine.outputs

    def step(self, states: States, letters: NDArray[np.int64]) -> tuple[States, Paid]:
        after = self._moves.take(states, letters)
        return after, (self._outputs.take(after) - self._outputs.take(states)).astype(np.float32)
