"""What tables and diagrams of moves share: distances, and strings that tell automata apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from nrm.aliases import BoolArray, IntArray, Letter, State

Pair = tuple[State, State]
Differ = Callable[[State, State], bool]
Place = TypeVar("Place", int, tuple[int, int])


class Reaching:
    """Moves that tell from which states one letter leads to some others."""

    def reaching(self, goals: BoolArray) -> BoolArray:
        """(states,) which states some letter leads to one of the goals."""
        raise NotImplementedError

    def distances(self, goals: BoolArray) -> IntArray:
        """For each state the least number of steps to a goal state, and -1 where none can be reached."""
        result = np.where(goals, 0, -1).astype(np.int32)
        steps = 0
        while True:
            steps += 1
            arriving = (result < 0) & self.reaching(result == steps - 1)
            if not arriving.any():
                return result
            result[arriving] = steps


def distinguishing_string(
    rows: tuple[Sequence[Sequence[State]], Sequence[Sequence[State]]],
    start: Pair,
    letters: Mapping[tuple[int, int], Letter],
    differ: Differ,
    horizon: int | None = None,
) -> tuple[list[Letter], Pair] | None:
    """A shortest string after which the states of two automata `differ`, and these states; None if there is none.

    `rows`: the next state by state and letter class, of both. `letters`: for each pair of letter classes a letter that
    is in both, in the order in which they are tried. `horizon`: look at strings up to this length only.
    """
    left, right = rows

    def moves(pair: Pair) -> Iterable[tuple[Pair, Letter]]:
        row, twin = left[pair[0]], right[pair[1]]
        return (((row[own], twin[other]), letter) for (own, other), letter in letters.items())

    return first_path(start, moves, lambda pair: differ(*pair), horizon)


def first_path(
    start: Place,
    moves: Callable[[Place], Iterable[tuple[Place, Letter]]],
    wanted: Callable[[Place], bool],
    horizon: int | None = None,
) -> tuple[list[Letter], Place] | None:
    """The shortest string to a place that is `wanted`, breadth first, and this place; None if there is none."""
    if wanted(start):
        return [], start
    strings: dict[Place, tuple[Place, Letter]] = {}
    frontier, length = [start], 0
    while frontier and length != horizon:
        length += 1
        following = []
        for place in frontier:
            for target, letter in moves(place):
                if target == start or target in strings:
                    continue
                strings[target] = place, letter
                following.append(target)
                if wanted(target):
                    string, end = [], target
                    while end != start:
                        end, letter = strings[end]
                        string.append(letter)
                    return string[::-1], target
        frontier = following
    return None
