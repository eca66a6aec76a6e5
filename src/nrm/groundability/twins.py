"""Letter classes that can be swapped, two at a time, with all others staying: found fast in large machines.

A task that names many symbols in one way ("visit them all") has as many interchangeable classes. Being swappable is an
equivalence relation, so sets of such *twins* are found by comparing each class with one of each set; and a set of n
twins stands for n! symmetries that need not be searched for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from nrm.groundability.colours import refined_colours
from nrm.groundability.search import Permutation, SymmetrySearch

ARRAY_SPEED = 8
"""How many transitions arrays follow while the search follows one."""


def twin_sets(search: SymmetrySearch, fixed: Iterable[int] = ()) -> list[list[int]]:
    """The sets of two or more twins among the classes that are not `fixed`."""
    _, colours = refined_colours(search.columns, search.state_colours, search.class_colours)
    kept = set(fixed)
    sets: dict[int, list[list[int]]] = {}
    for number, colour in enumerate(colours):
        if number not in kept:
            known = sets.setdefault(colour, [])
            twins = next((members for members in known if _swaps(search, members[0], number)), None)
            if twins is None:
                known.append([number])
            else:
                twins.append(number)
    return [members for known in sets.values() for members in known if len(members) > 1]


def swap(degree: int, one: int, other: int) -> Permutation:
    """The permutation that swaps two points."""
    images = list(range(degree))
    images[one], images[other] = other, one
    return tuple(images)


def _swaps(search: SymmetrySearch, one: int, other: int) -> bool:
    """Whether swapping two classes is a symmetry: followed from the initial state, all states of a distance at once."""
    columns, colours = search.columns, np.asarray(search.state_colours)
    images = np.array(swap(search.classes, one, other))
    moved = np.full(search.states, -1, dtype=np.int64)
    moved[search.initial] = search.initial
    frontier: Sequence[int] | np.ndarray[tuple[int, ...], np.dtype[np.int64]] = [search.initial]
    while len(frontier):
        search.spend(len(frontier) * search.classes // ARRAY_SPEED)
        targets = columns[frontier].ravel()
        wanted = columns[moved[frontier]][:, images].ravel()
        fresh = moved[targets] < 0
        moved[targets[fresh]] = wanted[fresh]
        if (moved[targets] != wanted).any() or (colours[targets] != colours[wanted]).any():
            return False
        frontier = np.unique(targets[fresh])
    return bool(len(np.unique(moved)) == search.states)
