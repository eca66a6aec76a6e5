"""Moves over many propositions: one shared decision diagram that leads every letter, from each state, to the next.

A letter class is a column for *all* states at once, and their number can be 3^n where each state's own diagram is
small. So transition functions are kept state by state, and classes are made only where somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import BoolArray, IntArray, Letter, State
from nrm.automata.letter_diagram import LetterDiagram


@dataclass(frozen=True, eq=False)
class MoveDiagram:
    """The next state by state and letter; bit i of a letter's number says whether proposition i is true.

    Reduced: no two nodes are alike, none asks in vain, and each is used. Nodes stand by level from the lowest, so
    children come before their parents; within a level by their children.
    """

    propositions: int
    order: tuple[int, ...]
    """The proposition that each level asks for, the topmost first; others do not matter."""
    levels: IntArray
    """(nodes,) the level of each node, descending."""
    low: IntArray
    """(nodes,) where to go on if the proposition is false: a node, or -1 - state."""
    high: IntArray
    """(nodes,) the same where it is true."""
    roots: IntArray
    """(states,) where each state begins: a node, or -1 - state."""

    def __post_init__(self) -> None:
        for array in (self.levels, self.low, self.high, self.roots):
            array.flags.writeable = False

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.roots)

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.levels)

    @cached_property
    def lists(self) -> tuple[list[int], list[int], list[int], list[int]]:
        """Levels, low, high and roots as lists, for walks."""
        return self.levels.tolist(), self.low.tolist(), self.high.tolist(), self.roots.tolist()

    @cached_property
    def by_level(self) -> tuple[tuple[int, slice], ...]:
        """Each level that has nodes, the lowest first, and where these stand."""
        return tuple((int(self.levels[start]), slice(start, stop)) for start, stop in level_runs(self.levels))

    @cached_property
    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Low, high and roots as places in an array of values of all states and then all nodes."""
        low, high, roots = (
            np.where(array < 0, -1 - array.astype(np.int64), array.astype(np.int64) + self.states)
            for array in (self.low, self.high, self.roots)
        )
        return low, high, roots

    def next_state(self, state: State, letter: Letter) -> State:
        """Where a letter leads from a state."""
        levels, low, high, roots = self.lists
        node, order = roots[state], self.order
        while node >= 0:
            node = high[node] if letter >> order[levels[node]] & 1 else low[node]
        return -1 - node

    def take(self, states: NDArray[np.int64], letters: NDArray[np.int64]) -> NDArray[np.int64]:
        """(N,) the states that follow states (N,) by letters (N,)."""
        node = self.roots[states].astype(np.int64)
        bits = np.array(self.order, dtype=np.int64)[self.levels] if self.nodes else np.zeros(0, dtype=np.int64)
        while (inner := np.flatnonzero(node >= 0)).size:
            here = node[inner]
            true = (letters[inner] >> bits[here] & 1).astype(bool)
            node[inner] = np.where(true, self.high[here], self.low[here])
        return -1 - node

    def targets(self, state: State) -> list[State]:
        """The states that one state leads to: in the order of the letters, the topmost proposition counting most."""
        return list(dict.fromkeys(-1 - node for node in self._below([self.lists[3][state]], set()) if node < 0))

    def _below(self, roots: Sequence[int], seen: set[int]) -> Iterator[int]:
        """What lies below some roots, depth first and false before true; nothing that was seen before."""
        _, low, high, _ = self.lists
        pending = list(roots)[::-1]
        while pending:
            node = pending.pop()
            if node in seen:
                continue
            seen.add(node)
            yield node
            if node >= 0:
                pending.append(high[node])
                pending.append(low[node])

    def reached(self, initial: State) -> list[State]:
        """The states reachable from one, in breadth-first order by letter, the topmost proposition counting most."""
        found, seen = [initial], {-1 - initial}
        roots = self.lists[3]
        for state in found:
            # What was seen from an earlier state leads to no new ones.
            found += [-1 - node for node in self._below([roots[state]], seen) if node < 0]
        return found

    def entered(self, state: State) -> bool:
        """Whether some state moves to this one."""
        return any(bool((array == -1 - state).any()) for array in (self.low, self.high, self.roots))

    def absorbing(self) -> BoolArray:
        """(states,) the states that no letter leaves."""
        result: BoolArray = self.roots == -1 - np.arange(self.states)
        return result

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

    def reaching(self, goals: BoolArray) -> BoolArray:
        """(states,) which states some letter leads to one of the goals."""
        low, high, roots = self.places
        values = np.zeros(self.states + self.nodes, dtype=bool)
        values[: self.states] = goals
        for _, part in self.by_level:
            values[self.states + part.start : self.states + part.stop] = values[low[part]] | values[high[part]]
        result: BoolArray = values[roots]
        return result

    def letters_by_target(self, state: State) -> LetterDiagram:
        """The letters by where they lead from one state: classes are numbers of states."""
        levels, low, high, roots = self.lists
        kept = sorted(node for node in self._below([roots[state]], set()) if node >= 0)
        place = {node: number for number, node in enumerate(kept)}
        columns = (
            [levels[node] for node in kept],
            [place.get(low[node], low[node]) for node in kept],
            [place.get(high[node], high[node]) for node in kept],
        )
        own = [np.array(column, dtype=np.int32) for column in columns]
        root = place.get(roots[state], roots[state])
        return LetterDiagram(self.propositions, self.order, own[0], own[1], own[2], root)

    def placed(self, bits: Sequence[int], propositions: int) -> MoveDiagram:
        """The same over other propositions: proposition i becomes number `bits[i]` of so many."""
        return replace(self, order=tuple(bits[old] for old in self.order), propositions=propositions)


def level_runs(levels: NDArray[np.integer]) -> list[tuple[int, int]]:
    """Where each run of equal levels (nodes,) begins and ends."""
    starts = np.flatnonzero(np.diff(levels, prepend=-1)).tolist()
    return list(pairwise([*starts, len(levels)]))
