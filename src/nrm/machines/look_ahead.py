"""What the next letter does to a task: which letters, or propositions where letters are many, help and which hurt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import BoolArray, FloatArray, IntArray
from nrm.automata.letter_diagram import is_wide
from nrm.automata.move_building import ascending
from nrm.automata.move_diagram import MoveDiagram
from nrm.machines.alphabet import Alphabet
from nrm.machines.moore import MooreMachine

FAR = 1 << 30
"""The distance from where the task is lost."""


def view_columns(alphabet: Alphabet) -> tuple[str, ...]:
    """What each number of a block of the view speaks of: letters, or where these are many, propositions and their lack.

    Up to twelve propositions the columns are all their subsets; past that `p`, `!p` for each proposition p.
    """
    if _is_wide(alphabet):
        return tuple(text for name in alphabet.symbols for text in (name, f"!{name}"))
    return alphabet.letter_names


def columns_of(alphabet: Alphabet) -> int:
    """How many columns there are."""
    return 2 * len(alphabet.symbols) if _is_wide(alphabet) else alphabet.size


def next_step(machine: MooreMachine) -> FloatArray:
    """(states, 2 * columns) the gain by each letter or proposition, cut to -1 and 1, and whether it loses the task."""
    return _by_literal(machine) if _is_wide(machine.alphabet) else _by_letter(machine)


def _is_wide(alphabet: Alphabet) -> bool:
    return alphabet.is_free and is_wide(len(alphabet.symbols))


def gaining(machine: MooreMachine) -> IntArray:
    """(pairs, 2) states and the different states, nearer to acceptance, that some letter leads to from them."""
    distance = machine.distance_to_acceptance
    if not _is_wide(machine.alphabet):
        after = distance[machine.columns]
        states, helping = np.nonzero((after >= 0) & (after < distance[:, None]))
        return np.unique(np.stack([states, machine.columns[states, helping]], axis=1), axis=0).astype(np.int32)
    pairs = [
        (state, target)
        for state in range(machine.states)
        for target in sorted(machine.targets(state))
        if 0 <= distance[target] < distance[state]
    ]
    return np.array(pairs, dtype=np.int32).reshape(-1, 2)


def labelled_moves(machine: MooreMachine) -> tuple[IntArray, BoolArray]:
    """(moves, 2) states and the other states that they lead to, and (moves, columns) by which letters or literals."""
    if _is_wide(machine.alphabet):
        away = 1 - np.eye(machine.states, dtype=np.int64)
        by = _nearest(ascending(machine.diagram), away) == 0  # (states, literals, states)
        pairs = np.argwhere(by.any(1) & (away == 1))
        return pairs.astype(np.int32), by[pairs[:, 0], :, pairs[:, 1]]
    table = machine.transitions
    states, letters = np.nonzero(table != np.arange(machine.states)[:, None])
    pairs, move = np.unique(np.stack([states, table[states, letters]], axis=1), axis=0, return_inverse=True)
    by = np.zeros((len(pairs), machine.alphabet.size), dtype=np.bool_)
    by[move.ravel(), letters] = True
    return pairs.astype(np.int32), by


def _by_letter(machine: MooreMachine) -> FloatArray:
    """(states, 2 * letters) the gain by each letter, and whether it loses the task."""
    moves, distance, dead = machine.transitions, machine.distance_to_acceptance, machine.dead
    lost = dead[moves]
    gain = np.where(lost | dead[:, None], 0, np.clip(distance[:, None] - distance[moves], -1, 1))
    return np.concatenate([gain, lost], axis=1)


def _by_literal(machine: MooreMachine) -> FloatArray:
    """(states, 4 * propositions) the best gain with each proposition and without it, and whether all is lost then."""
    moves, dead = ascending(machine.diagram), machine.dead
    nearest = _nearest(moves, np.where(dead, FAR, machine.distance_to_acceptance).astype(np.int64))
    lost = nearest >= FAR
    gain = np.where(lost | dead[:, None], 0, np.clip(machine.distance_to_acceptance[:, None] - nearest, -1, 1))
    return np.concatenate([gain, lost], axis=1).astype(np.float64)


def _nearest(moves: MoveDiagram, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """(states, literals, …) the least of values (states, …) over what letters with p, or without it, lead to."""
    low, high, roots = moves.places
    literals = 2 * moves.propositions
    best = np.empty((moves.states + moves.nodes, literals, *values.shape[1:]), dtype=np.int64)
    best[: moves.states] = values[:, None]
    for level, part in moves.by_level:
        ends = best[low[part]], best[high[part]]
        here = best[moves.states + part.start : moves.states + part.stop]
        np.minimum(*ends, out=here)
        with_it = 2 * moves.order[level]
        here[:, with_it], here[:, with_it + 1] = ends[1][:, with_it], ends[0][:, with_it + 1]
    return best[roots]
