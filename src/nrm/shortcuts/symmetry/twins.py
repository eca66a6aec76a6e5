"""Letter classes that can be swapped, two at a time, with all others staying: found fast in large machines.

A task that names many symbols in one way ("visit them all") has as many interchangeable classes. Being swappable is an
equivalence relation, so sets of such *twins* are found by comparing each class with one of each set; and a set of n
twins stands for n! symmetries that need not be searched for. Twins only save time: where too many classes look alike
and are no twins (as the sets of five out of ten propositions do), the search goes on without them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from nrm.aliases import IntArray
from nrm.shortcuts.symmetry.colour_refinement import refined_colours
from nrm.shortcuts.symmetry.search import ARRAY_SPEED, Permutation, SymmetrySearch

WASTED_TABLES = 4
"""Twins are given up once refuted swaps have followed as many transitions as the machine has, times this."""


def twin_sets(search: SymmetrySearch, fixed: Iterable[int] = ()) -> list[list[int]]:
    """Sets of two or more twins among the classes that are not `fixed`, each of them whole; not always all sets.

    Twins have one colour, so colours are taken one after the other, the smallest first, and the sets of a colour that
    was not finished are left out: half a set would mislead the search.
    """
    _, colours = refined_colours(search.columns, search.state_colours, search.class_colours, search.by_arrays)
    kept = set(fixed)
    alike: dict[int, list[int]] = {}
    for number, colour in enumerate(colours):
        if number not in kept:
            alike.setdefault(colour, []).append(number)
    state_colours = np.array(search.state_colours)
    patience = WASTED_TABLES * search.columns.size
    sets: list[list[int]] = []
    for numbers in sorted(alike.values(), key=len):
        found: list[list[int]] = []
        for number in numbers:
            for members in found:
                swaps, followed = _swaps(search, state_colours, members[0], number)
                if swaps:
                    members.append(number)
                    break
                patience -= followed
                if patience < 0:
                    return sets
            else:
                found.append([number])
        sets += [members for members in found if len(members) > 1]
    return sets


def swap(degree: int, one: int, other: int) -> Permutation:
    """The permutation that swaps two points."""
    images = list(range(degree))
    images[one], images[other] = other, one
    return tuple(images)


def _swaps(search: SymmetrySearch, colours: IntArray, one: int, other: int) -> tuple[bool, int]:
    """Whether swapping two classes is a symmetry, and how many transitions were followed to tell.

    `colours`: (states,). Followed from the fixed states, many states at once; first few, since most wrong swaps show
    at once.
    """
    columns = search.columns
    images = np.array(swap(search.classes, one, other))
    moved = np.full(search.states, -1, dtype=np.int64)
    pending: IntArray = np.array(search.fixed)
    moved[pending] = pending
    followed, together = 0, 1
    while len(pending):
        here, pending = pending[:together], pending[together:]
        together *= 2
        search.spend(len(here) * search.classes // ARRAY_SPEED)
        followed += len(here) * search.classes
        targets = columns[here].ravel()
        wanted = columns[moved[here]][:, images].ravel()
        fresh = moved[targets] < 0
        moved[targets[fresh]] = wanted[fresh]
        if (moved[targets] != wanted).any() or (colours[targets] != colours[wanted]).any():
            return False, followed
        pending = np.concatenate([pending, np.unique(targets[fresh])])
    return bool(len(np.unique(moved)) == search.states), followed
