"""What a policy sees of a task: numbers of one width for every task over an alphabet.

What a policy needs to know is which letters help and which hurt, now and after the next step; a task that it has never
met is then a new combination of numbers that it knows.
"""

from __future__ import annotations

import numpy as np

from nrm.aliases import BoolArray, FloatArray, IntArray
from nrm.machines.alphabet import Alphabet
from nrm.machines.moore import MooreMachine


def view_columns(alphabet: Alphabet) -> tuple[str, ...]:
    """What each number of a block of the view speaks of: letters, or where these are many, propositions and their lack.

    Up to twelve propositions the columns are all their subsets; past that `p`, `!p` for each proposition p.
    """
    if alphabet.is_small:
        return alphabet.letter_names
    return tuple(text for name in alphabet.symbols for text in (name, f"!{name}"))


def labelled_moves(machine: MooreMachine) -> tuple[IntArray, BoolArray]:
    """(moves, 2) states and the other states that they lead to, and (moves, columns) by which letters or literals."""
    return machine.moves.leaving()


def view_width(alphabet: Alphabet) -> int:
    """How many numbers the view of a task over an alphabet has."""
    return 4 * (alphabet.size if alphabet.is_small else 2 * len(alphabet.symbols)) + 1


def task_view(machine: MooreMachine) -> FloatArray:
    """(states, 4 * columns + 1) what can be seen of the task from each state: what helps and hurts now and next.

    With d the distance to acceptance: for each letter its *gain* d(q) - d(next), cut to -1 and 1 (0 where it loses the
    task), and whether it *loses* the task; the means of both over the different states that gaining letters lead to;
    and last min(d, 10) / 10, 1 where the task is lost. Machines side by side look the same as each by itself.

    Where propositions are many (`view_columns`), columns are propositions that hold (p) or do not (!p), whatever else
    does: the gain is then the best that is possible with it, and it loses the task where nothing else can help.
    """
    now, pairs = _next_step(machine), _gaining(machine)
    later = np.zeros_like(now)
    np.add.at(later, pairs[:, 0], now[pairs[:, 1]])
    later /= np.maximum(np.bincount(pairs[:, 0], minlength=machine.states), 1)[:, None]
    left = np.where(machine.dead, 10, np.minimum(machine.distance_to_acceptance, 10)) / 10
    return np.concatenate([now, later, left[:, None]], axis=1)


def _next_step(machine: MooreMachine) -> FloatArray:
    """(states, 2 * columns) the gain by each letter or proposition, cut to -1 and 1, and whether it loses the task.

    Of propositions, it is the best gain with each of them and without it, and whether all is lost then.
    """
    distance, dead, far = machine.distance_to_acceptance, machine.dead, 1 << 30
    nearest = machine.moves.nearest(np.where(dead, far, distance).astype(np.int64))
    lost = nearest >= far
    gain = np.where(lost | dead[:, None], 0, np.clip(distance[:, None] - nearest, -1, 1))
    return np.concatenate([gain, lost], axis=1).astype(np.float64)


def _gaining(machine: MooreMachine) -> IntArray:
    """(pairs, 2) states and the different states, nearer to acceptance, that some letter leads to from them."""
    edges = machine.moves.edges()
    before, after = machine.distance_to_acceptance[edges].T
    nearer: IntArray = edges[(after >= 0) & (after < before)]
    return nearer
