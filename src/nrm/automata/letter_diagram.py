"""Letters of many propositions: a decision diagram that leads every subset of them to its letter class.

A machine has few classes of letters, and each is a Boolean function of the propositions. Nothing here is of the size of
the alphabet, which has 2^n letters for n propositions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import IntArray, Letter
from nrm.automata.mtbdd import Mtbdd
from nrm.errors import LimitError

DENSE = 12
"""Propositions up to which the class of each letter stands in an array."""
MAX_LISTED = 20
"""Propositions up to which all letters can be listed."""
MAX_NODES = 2_000_000


def is_wide(propositions: int) -> bool:
    """Whether propositions are so many that letters are kept in diagrams and not in arrays."""
    return propositions > DENSE


@dataclass(frozen=True, eq=False)
class LetterDiagram:
    """The class of each letter over `propositions`; bit i of a letter's number says whether proposition i is true."""

    propositions: int
    order: tuple[int, ...]
    """The proposition that each level of the diagram asks for, the topmost first; others do not matter."""
    levels: IntArray
    """(nodes,) the level of each node; children come before their parents, and the root is last."""
    low: IntArray
    """(nodes,) where to go on if the proposition is false: a node, or -1 - class."""
    high: IntArray
    """(nodes,) the same where it is true."""
    root: int
    """The topmost node; -1 - class where all letters are of one class."""

    def __post_init__(self) -> None:
        for array in (self.levels, self.low, self.high):
            array.flags.writeable = False

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.levels)

    def at(self, letter: Letter) -> int:
        """The class of a letter."""
        levels, low, high, order = self._lists
        node = self.root
        while node >= 0:
            node = high[node] if letter >> order[levels[node]] & 1 else low[node]
        return -1 - node

    @cached_property
    def _lists(self) -> tuple[list[int], list[int], list[int], tuple[int, ...]]:
        return self.levels.tolist(), self.low.tolist(), self.high.tolist(), self.order

    def take(self, letters: NDArray[np.int64]) -> NDArray[np.int64]:
        """(…) the classes of letters (…)."""
        flat = letters.ravel()
        node = np.full(flat.shape, self.root, dtype=np.int64)
        bits = np.array(self.order, dtype=np.int64)[self.levels] if self.nodes else np.zeros(0, dtype=np.int64)
        while (inner := np.flatnonzero(node >= 0)).size:
            here = node[inner]
            true = (flat[inner] >> bits[here] & 1).astype(bool)
            node[inner] = np.where(true, self.high[here], self.low[here])
        return (-1 - node).reshape(letters.shape)

    def table(self) -> IntArray:
        """(letters,) the class of each letter, while these can be listed."""
        if self.propositions > MAX_LISTED:
            raise LimitError(
                f"{self.propositions} propositions have 2^{self.propositions} letters, and this needs a list of them "
                f"(the limit is {MAX_LISTED} propositions)"
            )
        return self.take(np.arange(1 << self.propositions, dtype=np.int64)).astype(np.int32)

    def first_letters(self) -> dict[int, Letter]:
        """The letter with the smallest number of each class."""
        return self._least(lambda proposition: 1 << proposition)

    def plainest_letters(self) -> dict[int, Letter]:
        """A letter of each class at which as few propositions hold as possible."""
        many = 1 << self.propositions
        least = self._least(lambda proposition: many + (1 << proposition))
        return {number: weight % many for number, weight in least.items()}

    def _least(self, weight: Callable[[int], int]) -> dict[int, int]:
        """The least sum of the weights of true propositions that leads to each class."""
        found: list[dict[int, int]] = []

        def below(child: int) -> dict[int, int]:
            return found[child] if child >= 0 else {-1 - child: 0}

        levels, low, high, order = self._lists
        for level, one, two in zip(levels, low, high, strict=True):
            added = weight(order[level])
            merged = dict(below(one))
            for number, value in below(two).items():
                merged[number] = min(merged.get(number, value + added), value + added)
            found.append(merged)
        return below(self.root)

    def counts(self) -> tuple[int, ...]:
        """How many letters each class has, exactly."""
        levels, low, high, order = self._lists
        found: list[dict[int, int]] = []
        depth = len(order)

        def below(child: int, level: int) -> Iterator[tuple[int, int]]:
            """What lies below an edge from a level, times the levels that it skips."""
            if child < 0:
                yield -1 - child, 1 << (depth - level - 1)
            else:
                yield from ((number, count << (levels[child] - level - 1)) for number, count in found[child].items())

        for level, one, two in zip(levels, low, high, strict=True):
            merged: dict[int, int] = {}
            for child in (one, two):
                for number, count in below(child, level):
                    merged[number] = merged.get(number, 0) + count
            found.append(merged)
        total = dict(below(self.root, -1))
        spare = self.propositions - depth
        return tuple(total[number] << spare for number in range(len(total)))

    def placed(self, bits: Sequence[int], propositions: int) -> LetterDiagram:
        """The same over other propositions: proposition i becomes number `bits[i]` of so many."""
        return replace(self, order=tuple(bits[old] for old in self.order), propositions=propositions)

    def mapped(self, numbers: Sequence[int]) -> LetterDiagram:
        """The same with classes renumbered, or merged where numbers are equal."""
        work = _Work()
        return work.frozen(work.read(self, lambda number: numbers[number]), self.order, self.propositions)

    def reordered(self, order: tuple[int, ...]) -> LetterDiagram:
        """The same function, asked for in another order, which may have more propositions."""
        place = {proposition: level for level, proposition in enumerate(order)}
        levels = [place[proposition] for proposition in self.order]
        if levels == sorted(levels):
            renamed = np.array(levels, dtype=np.int32)[self.levels] if self.nodes else self.levels
            return replace(self, order=order, levels=renamed)
        work = _Work()
        return work.frozen(work.read(self, int, levels), order, self.propositions)


def diagram_of_table(table: Sequence[int], propositions: int) -> LetterDiagram:
    """The diagram of an array of classes (2^n,); the lowest bit is asked for first."""
    work = _Work()
    nodes = [work.diagrams.leaf(number) for number in table]
    # Neighbours differ in bit 0; joining halves from the top bit down leaves bit 0 at the top of the diagram.
    for level in reversed(range(propositions)):
        half = len(nodes) // 2
        nodes = [work.diagrams.node(level, low, high) for low, high in zip(nodes[:half], nodes[half:], strict=True)]
    return work.frozen(nodes[0], tuple(range(propositions)), propositions)


def diagram_of_levels(
    tops: Sequence[Sequence[tuple[int, int]]], classes: Sequence[int], order: tuple[int, ...], propositions: int
) -> LetterDiagram:
    """A diagram from what lies at each level: for every place the places at the next level for false and for true.

    `classes`: of the places below the last level.
    """
    work = _Work()
    nodes = [work.diagrams.leaf(number) for number in classes]
    for level in reversed(range(len(tops))):
        nodes = [work.diagrams.node(level, nodes[low], nodes[high]) for low, high in tops[level]]
    return work.frozen(nodes[0], order, propositions)


def merged_order(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """Both orders in one, keeping each where that is possible, and the first in any case."""
    merged: list[int] = []
    rest = [proposition for proposition in other if proposition not in one]
    shared = [proposition for proposition in other if proposition in one]
    if shared != [proposition for proposition in one if proposition in shared]:
        return (*one, *rest)
    waiting = list(other)
    for proposition in one:
        if proposition in waiting:
            place = waiting.index(proposition)
            merged += waiting[:place]
            del waiting[: place + 1]
        merged.append(proposition)
    return (*merged, *waiting)


class _Work:
    """A table of nodes in which diagrams are read, changed and frozen again."""

    def __init__(self) -> None:
        self.diagrams: Mtbdd[int] = Mtbdd(MAX_NODES)

    def read(self, given: LetterDiagram, change: Callable[[int], int], levels: Sequence[int] | None = None) -> int:
        """The node of a diagram with classes changed; `levels`: where its levels go, in any order."""
        made: list[int] = []
        done: dict[tuple[int, int, int], int] = {}

        def below(child: int) -> int:
            return made[child] if child >= 0 else self.diagrams.leaf(change(-1 - child))

        old_levels, low, high, _ = given._lists
        for level, one, two in zip(old_levels, low, high, strict=True):
            if levels is None:
                made.append(self.diagrams.node(level, below(one), below(two)))
            else:
                made.append(self.diagrams.choice(levels[level], below(one), below(two), done))
        return below(given.root)

    def frozen(self, root: int, order: tuple[int, ...], propositions: int) -> LetterDiagram:
        """The diagram below a node, without levels that it does not ask for."""
        diagrams = self.diagrams
        kept = [node for node in _children_first(diagrams, root) if not diagrams.is_leaf(node)]
        used = sorted({diagrams.var[node] for node in kept})
        level = {old: new for new, old in enumerate(used)}
        number = {node: index for index, node in enumerate(kept)}

        def reference(node: int) -> int:
            return -1 - diagrams.value(node) if diagrams.is_leaf(node) else number[node]

        columns = (
            [level[diagrams.var[node]] for node in kept],
            [reference(diagrams.low[node]) for node in kept],
            [reference(diagrams.high[node]) for node in kept],
        )
        levels, low, high = (np.array(column, dtype=np.int32) for column in columns)
        asked = tuple(order[old] for old in used)
        return LetterDiagram(propositions, asked, levels, low, high, reference(root))


def _children_first(diagrams: Mtbdd[int], root: int) -> Iterable[int]:
    """The nodes below a root, each once, by level from the lowest."""
    return sorted(diagrams.below([root]), key=lambda node: -diagrams.var[node])
