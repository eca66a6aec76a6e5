"""What a policy sees of a task: numbers of one width for every task over an alphabet.

A policy that sees the number of the machine's state has to learn every task anew. What it needs to know is which
letters help and which hurt, now and after the next step; a task that it has never met is then a new combination of
numbers that it knows.
"""

from __future__ import annotations

import numpy as np

from nrm.aliases import FloatArray
from nrm.machines.moore import MooreMachine

FARTHEST = 10
"""Distances to acceptance beyond this look alike."""


def view_width(letters: int) -> int:
    """How many numbers the view of a task over so many letters has."""
    return 4 * letters + 1


def task_view(machine: MooreMachine) -> FloatArray:
    """(states, 4 * letters + 1) what can be seen of the task from each state.

    With d the distance to acceptance: for each letter its *gain* d(q) - d(next), cut to -1 and 1 (0 where it loses the
    task), and whether it *loses* the task; then the means of both over the different states that gaining letters lead
    to; and last min(d, 10) / 10, 1 where the task is lost. Blocks: gain now, lost now, gain next, lost next, left.
    """
    moves, letters = machine.transitions, machine.alphabet.size
    distance = machine.distance_to_acceptance
    dead = machine.dead
    lost = dead[moves]
    gain = np.where(lost | dead[:, None], 0, np.clip(distance[:, None] - distance[moves], -1, 1))
    view = np.zeros((machine.states, view_width(letters)))
    now = np.concatenate([gain, lost], axis=1)
    view[:, : 2 * letters] = now
    # Pairs (state, next state) over gaining letters, each once.
    states, helping = np.nonzero(gain > 0)
    pairs = np.unique(np.stack([states, moves[states, helping]], axis=1), axis=0)
    if len(pairs):
        total = np.zeros_like(now, dtype=np.float64)
        np.add.at(total, pairs[:, 0], now[pairs[:, 1]])
        counts = np.bincount(pairs[:, 0], minlength=machine.states)
        view[:, 2 * letters : 4 * letters] = total / np.maximum(counts, 1)[:, None]
    view[:, -1] = np.where(dead, FARTHEST, np.minimum(distance, FARTHEST)) / FARTHEST
    return view
