"""What the next letter does to a task: which letters, or propositions where letters are many, help and which hurt."""

from __future__ import annotations

import numpy as np

from nrm.aliases import BoolArray, FloatArray, IntArray
from nrm.machines.alphabet import Alphabet
from nrm.machines.moore import MooreMachine

FAR = 1 << 30
"""The distance from where the task is lost."""


def view_columns(alphabet: Alphabet) -> tuple[str, ...]:
    """What each number of a block of the view speaks of: letters, or where these are many, propositions and their lack.

    Up to twelve propositions the columns are all their subsets; past that `p`, `!p` for each proposition p.
    """
    if alphabet.is_small:
        return alphabet.letter_names
    return tuple(text for name in alphabet.symbols for text in (name, f"!{name}"))


def columns_of(alphabet: Alphabet) -> int:
    """How many columns there are."""
    return alphabet.size if alphabet.is_small else 2 * len(alphabet.symbols)


def next_step(machine: MooreMachine) -> FloatArray:
    """(states, 2 * columns) the gain by each letter or proposition, cut to -1 and 1, and whether it loses the task.

    Of propositions, it is the best gain with each of them and without it, and whether all is lost then.
    """
    distance, dead = machine.distance_to_acceptance, machine.dead
    nearest = machine.moves.nearest(np.where(dead, FAR, distance).astype(np.int64))
    lost = nearest >= FAR
    gain = np.where(lost | dead[:, None], 0, np.clip(distance[:, None] - nearest, -1, 1))
    return np.concatenate([gain, lost], axis=1).astype(np.float64)


def gaining(machine: MooreMachine) -> IntArray:
    """(pairs, 2) states and the different states, nearer to acceptance, that some letter leads to from them."""
    edges = machine.moves.edges()
    before, after = machine.distance_to_acceptance[edges].T
    nearer: IntArray = edges[(after >= 0) & (after < before)]
    return nearer


def labelled_moves(machine: MooreMachine) -> tuple[IntArray, BoolArray]:
    """(moves, 2) states and the other states that they lead to, and (moves, columns) by which letters or literals."""
    return machine.moves.leaving()
