"""What a policy sees of a task: numbers of one width for every task over an alphabet.

A policy that sees the number of the machine's state has to learn every task anew. What it needs to know is which
letters help and which hurt, now and after the next step; a task that it has never met is then a new combination of
numbers that it knows.
"""

from __future__ import annotations

import numpy as np

from nrm.aliases import FloatArray
from nrm.machines.alphabet import Alphabet
from nrm.machines.look_ahead import columns_of, gaining, next_step, view_columns
from nrm.machines.moore import MooreMachine

__all__ = ["task_view", "view_columns", "view_width"]

FARTHEST = 10
"""Distances to acceptance beyond this look alike."""


def view_width(alphabet: Alphabet) -> int:
    """Two numbers for each letter (or column), now and next, and the distance."""
    return 4 * columns_of(alphabet) + 1


def task_view(machine: MooreMachine) -> FloatArray:
    """(states, 4 * columns + 1) what helps and what hurts from each state, now and next.

    With d the distance to acceptance: for each letter its *gain* d(q) - d(next), cut to -1 and 1 (0 where it loses the
    task), and whether it *loses* the task; the means of both over the different states that gaining letters lead to;
    and last min(d, 10) / 10, 1 where the task is lost. Blocks: gain now, lost now, gain next, lost next, left.

    Where propositions are many (`view_columns`), columns are propositions that hold (p) or do not (!p), whatever else
    does: the gain is then the best that is possible with it, and it loses the task where nothing else can help. Of
    machines side by side, the view is the same as of each by itself.
    """
    now, pairs = next_step(machine).astype(np.float64), gaining(machine)
    counts = np.maximum(np.bincount(pairs[:, 0], minlength=machine.states), 1)[:, None]
    total = np.zeros_like(now)
    np.add.at(total, pairs[:, 0], now[pairs[:, 1]])
    left = np.where(machine.dead, FARTHEST, np.minimum(machine.distance_to_acceptance, FARTHEST)) / FARTHEST
    return np.concatenate([now, total / counts, left[:, None]], axis=1)
