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
from nrm.machines.alphabet import Alphabet
from nrm.machines.look_ahead import columns_of, gaining, next_step, view_columns
from nrm.machines.moore import MooreMachine
from nrm.registry import Registry

__all__ = ["ENCODINGS", "LookAhead", "TaskEncoding", "task_view", "view_columns", "view_width"]

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

    def width(self, alphabet: Alphabet) -> int:
        """How many numbers there are for a task over an alphabet."""

    def table(self, machine: MooreMachine) -> FloatArray:
        """(states, width) what is seen from each state. Of machines side by side, the same as of each by itself."""


@dataclass(frozen=True)
class LookAhead:
    """What helps and what hurts, now and some steps ahead.

    With d the distance to acceptance: for each letter its *gain* d(q) - d(next), cut to -1 and 1 (0 where it loses the
    task), and whether it *loses* the task; for each further step the means of both over the different states that
    gaining letters lead to; and last min(d, 10) / 10, 1 where the task is lost. Blocks of two steps: gain now, lost
    now, gain next, lost next, left.

    Where propositions are many (`view_columns`), columns are propositions that hold (p) or do not (!p), whatever else
    does: the gain is then the best that is possible with it, and it loses the task where nothing else can help.
    """

    name: str
    label: str
    steps: int
    """How many steps are looked at, the next one included."""

    def width(self, alphabet: Alphabet) -> int:
        """Two numbers for each letter (or column) and step, and the distance."""
        return 2 * self.steps * columns_of(alphabet) + 1

    def table(self, machine: MooreMachine) -> FloatArray:
        """(states, width)."""
        distance, dead = machine.distance_to_acceptance, machine.dead
        block = next_step(machine).astype(np.float64)
        blocks, pairs = [block], gaining(machine)
        counts = np.maximum(np.bincount(pairs[:, 0], minlength=machine.states), 1)[:, None]
        for _ in range(1, self.steps):
            total = np.zeros_like(block)
            np.add.at(total, pairs[:, 0], block[pairs[:, 1]])
            block = total / counts
            blocks.append(block)
        left = np.where(dead, FARTHEST, np.minimum(distance, FARTHEST)) / FARTHEST
        return np.concatenate([*blocks, left[:, None]], axis=1)


_HERE = "nrm.machines.view"
ENCODINGS: Registry[TaskEncoding] = Registry(
    "task encoding", ("label", "width", "table"), dict.fromkeys(("two-step", "one-step", "three-step"), _HERE)
)
TWO_STEP = ENCODINGS.register(LookAhead("two-step", "what helps and hurts now and next", 2))
ENCODINGS.register(LookAhead("one-step", "what helps and hurts now", 1))
ENCODINGS.register(LookAhead("three-step", "what helps and hurts now, next and after", 3))


def view_width(alphabet: Alphabet) -> int:
    """How many numbers the usual view of a task over an alphabet has."""
    return TWO_STEP.width(alphabet)


def task_view(machine: MooreMachine) -> FloatArray:
    """(states, 4 * columns + 1) what can be seen of the task from each state; see `LookAhead`, of two steps."""
    return TWO_STEP.table(machine)
