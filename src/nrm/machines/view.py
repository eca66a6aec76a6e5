"""What a policy sees of a task: numbers of one width for every task over an alphabet.

A policy that sees the number of the machine's state has to learn every task anew. What it needs to know is which
letters help and which hurt, now and after the next step; a task that it has never met is then a new combination of
numbers that it knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nrm.aliases import FloatArray
from nrm.machines.moore import MooreMachine
from nrm.registry import Registry

FARTHEST = 10
"""Distances to acceptance beyond this look alike."""


class TaskEncoding(Protocol):
    """How the states of a task become numbers that a policy sees: as many for every task over an alphabet."""

    @property
    def name(self) -> str:
        """How the command line and files call it."""

    @property
    def label(self) -> str:
        """How people read it."""

    def width(self, letters: int) -> int:
        """How many numbers there are for a task over so many letters."""

    def table(self, machine: MooreMachine) -> FloatArray:
        """(states, width) what is seen from each state. Of machines side by side, the same as of each by itself."""


@dataclass(frozen=True)
class LookAhead:
    """What helps and what hurts, now and some steps ahead.

    With d the distance to acceptance: for each letter its *gain* d(q) - d(next), cut to -1 and 1 (0 where it loses the
    task), and whether it *loses* the task; for each further step the means of both over the different states that
    gaining letters lead to; and last min(d, 10) / 10, 1 where the task is lost. Blocks of two steps: gain now, lost
    now, gain next, lost next, left.
    """

    name: str
    label: str
    steps: int
    """How many steps are looked at, the next one included."""

    def width(self, letters: int) -> int:
        """Two numbers for each letter and step, and the distance."""
        return 2 * self.steps * letters + 1

    def table(self, machine: MooreMachine) -> FloatArray:
        """(states, width)."""
        moves, letters = machine.transitions, machine.alphabet.size
        distance = machine.distance_to_acceptance
        dead = machine.dead
        lost = dead[moves]
        gain = np.where(lost | dead[:, None], 0, np.clip(distance[:, None] - distance[moves], -1, 1))
        view = np.zeros((machine.states, self.width(letters)))
        block = np.concatenate([gain, lost], axis=1).astype(np.float64)
        view[:, : 2 * letters] = block
        # Pairs (state, next state) over gaining letters, each once.
        states, helping = np.nonzero(gain > 0)
        pairs = np.unique(np.stack([states, moves[states, helping]], axis=1), axis=0)
        counts = np.maximum(np.bincount(pairs[:, 0], minlength=machine.states), 1)[:, None]
        for step in range(1, self.steps):
            total = np.zeros_like(block)
            np.add.at(total, pairs[:, 0], block[pairs[:, 1]])
            block = total / counts
            view[:, 2 * letters * step : 2 * letters * (step + 1)] = block
        view[:, -1] = np.where(dead, FARTHEST, np.minimum(distance, FARTHEST)) / FARTHEST
        return view


_HERE = "nrm.machines.view"
ENCODINGS: Registry[TaskEncoding] = Registry(
    "task encoding", ("label", "width", "table"), dict.fromkeys(("two-step", "one-step", "three-step"), _HERE)
)
TWO_STEP = ENCODINGS.register(LookAhead("two-step", "what helps and hurts now and next", 2))
ENCODINGS.register(LookAhead("one-step", "what helps and hurts now", 1))
ENCODINGS.register(LookAhead("three-step", "what helps and hurts now, next and after", 3))


def view_width(letters: int) -> int:
    """How many numbers the usual view of a task over so many letters has."""
    return TWO_STEP.width(letters)


def task_view(machine: MooreMachine) -> FloatArray:
    """(states, 4 * letters + 1) what can be seen of the task from each state; see `LookAhead`, of two steps."""
    return TWO_STEP.table(machine)
