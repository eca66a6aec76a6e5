"""Finished decision diagrams as arrays: letter classes (one root) and moves (a root for each state).

Nothing here is of the size of the alphabet, which has 2^n letters for n propositions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import BoolArray, IntArray, Letter
from nrm.automata.mtbdd import FALSE, LEAF, TRUE, Bdd, Mtbdd
from nrm.errors import LimitError, MachineError

MAX_NODES = 4_000_000
"""Nodes of a diagram on its way into another order."""
Numbers = NDArray[np.int64]
Parts = tuple[Numbers, Numbers, Numbers, Numbers]
"""The levels, low and high sides of nodes, and the roots."""
OwnKind = TypeVar("OwnKind", bound="Diagram")
OwnLeaf = TypeVar("OwnLeaf", bound=Hashable)
Value = TypeVar("Value")


class NodeArrays(NamedTuple):
    """The level of each node, and where it leads for false and true."""

    var: Numbers
    low: Numbers
    high: Numbers


@dataclass(frozen=True, eq=False)
class Diagram:
    """From each root and letter to a number; bit i of a letter's number says whether proposition i is true.

    Reduced: no two nodes are alike, none asks in vain, and each is used. Nodes stand by level from the lowest, so
    children come before their parents; within a level by their children.
    """

    propositions: int
    order: tuple[int, ...]
    """The proposition that each level asks for, the topmost first; others do not matter."""
    levels: IntArray
    """(nodes,) the level of each node, descending."""
    low: IntArray
    """(nodes,) where to go on if the proposition is false: a node, or -1 - number."""
    high: IntArray
    """(nodes,) the same where it is true."""
    roots: IntArray
    """(roots,) where each function begins: a node, or -1 - number."""

    def __post_init__(self) -> None:
        for array in (self.levels, self.low, self.high, self.roots):
            array.flags.writeable = False

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
    def asked(self) -> tuple[int, ...]:
        """The propositions that some node asks for, ascending: each of them matters somewhere."""
        return tuple(sorted(self.order[level] for level, _ in self.by_level))

    @cached_property
    def places(self) -> tuple[Numbers, Numbers, Numbers]:
        """Low, high and roots as places in an array of values, those of as many leaves as there are roots first."""
        low, high, roots = (
            np.where(array < 0, -1 - array.astype(np.int64), array.astype(np.int64) + len(self.roots))
            for array in (self.low, self.high, self.roots)
        )
        return low, high, roots

    @cached_property
    def arrays(self) -> NodeArrays:
        """Leaves, of as many numbers as there are roots, and then nodes; below a leaf lies the root of its number."""
        low, high, roots = self.places
        levels = np.concatenate([np.full(len(self.roots), LEAF), self.levels]).astype(np.int64)
        return NodeArrays(levels, np.concatenate([roots, low]), np.concatenate([roots, high]))

    def leaf(self, root: int, letter: Letter) -> int:
        """The number at the end of the way that a letter takes from a root."""
        levels, low, high, roots = self.lists
        node, order = roots[root], self.order
        while node >= 0:
            node = high[node] if letter >> order[levels[node]] & 1 else low[node]
        return -1 - node

    def leaves(self, roots: Numbers, letters: Numbers) -> Numbers:
        """(N,) the numbers that letters (N,) lead to from roots (N,)."""
        node = self.roots[roots].astype(np.int64)
        bits = np.array(self.order, dtype=np.int64)[self.levels] if self.nodes else np.zeros(0, dtype=np.int64)
        while (inner := np.flatnonzero(node >= 0)).size:
            here = node[inner]
            true = (letters[inner] >> bits[here] & 1).astype(bool)
            node[inner] = np.where(true, self.high[here], self.low[here])
        return -1 - node

    def below(self, root: int, seen: set[int]) -> Iterator[int]:
        """The nodes and -1 - numbers below a root, low sides first; nothing that was `seen` before."""
        _, low, high, roots = self.lists
        pending = [roots[root]]
        while pending:
            node = pending.pop()
            if node in seen:
                continue
            seen.add(node)
            yield node
            if node >= 0:
                pending.append(high[node])
                pending.append(low[node])

    def least(self, root: int, weight: Callable[[int], int]) -> dict[int, int]:
        """For each number below a root the least sum of the weights of true propositions; such numbers first."""
        levels, low, high, roots = self.lists
        sums = {roots[root]: 0}
        for node in sorted((node for node in self.below(root, set()) if node >= 0), reverse=True):  # parents first
            for child, more in ((low[node], 0), (high[node], weight(self.order[levels[node]]))):
                sums[child] = min(sums.get(child, sums[node] + more), sums[node] + more)
        leaves = ((-1 - node, least) for node, least in sums.items() if node < 0)
        return dict(sorted(leaves, key=lambda leaf: leaf[1]))

    def folded(self, leaf: Callable[[int], Value], node: Callable[[int, Value, Value], Value]) -> list[Value]:
        """The values of the roots: leaves have some by number, and nodes by level from those of both sides."""
        made: list[Value] = []
        levels, low, high, roots = self.lists

        def below(child: int) -> Value:
            return made[child] if child >= 0 else leaf(-1 - child)

        for level, one, two in zip(levels, low, high, strict=True):
            made.append(node(level, below(one), below(two)))
        return [below(root) for root in roots]

    def placed(self: OwnKind, bits: Sequence[int], propositions: int) -> OwnKind:
        """The same over other propositions: proposition i becomes number `bits[i]` of so many."""
        return replace(self, order=tuple(bits[old] for old in self.order), propositions=propositions)

    def relabelled(self: OwnKind, numbers: NDArray[np.integer], kept: NDArray[np.integer] | None = None) -> OwnKind:
        """Some roots (all, when absent) with other numbers at the leaves."""
        low, high, roots = (
            np.where(array < 0, -1 - numbers[np.maximum(-1 - array, 0)], array).astype(np.int64)
            for array in (self.low, self.high, self.roots if kept is None else self.roots[kept])
        )
        return type(self).reduced((self.levels.astype(np.int64), low, high, roots), self.order, self.propositions)

    def reordered(self: OwnKind, order: tuple[int, ...]) -> OwnKind:
        """The same, asked for in another order, which may have more propositions."""
        if order == self.order:
            return self
        place = {proposition: level for level, proposition in enumerate(order)}
        levels = [place[proposition] for proposition in self.order]
        if levels == sorted(levels):
            renamed = np.array(levels, dtype=np.int32)[self.levels] if self.nodes else self.levels
            return replace(self, order=order, levels=renamed)
        work: Mtbdd[int] = Mtbdd(MAX_NODES)
        try:
            roots = self.folded(work.leaf, lambda level, low, high: work.choice(levels[level], low, high))
        except LimitError:
            raise LimitError(
                f"with the propositions in this order the machine needs more than {MAX_NODES:,} decision diagram "
                "nodes; list those that the formula names together beside each other"
            ) from None
        return type(self).of_nodes(
            work, roots, lambda node: work.value(node) if work.is_leaf(node) else None, order, self.propositions
        )

    def ascending(self: OwnKind) -> OwnKind:
        """The same with propositions asked for in the order of their numbers, and no level without nodes."""
        full, used = tuple(sorted(self.order)), set(self.asked)
        found = self.reordered(full)
        place = np.cumsum([proposition in used for proposition in full], dtype=np.int32) - 1
        levels = place[found.levels].astype(np.int32) if found.nodes else found.levels
        return replace(found, order=tuple(sorted(used)), levels=levels)

    @classmethod
    def of_nodes(
        cls: type[OwnKind],
        table: Mtbdd[OwnLeaf],
        roots: Sequence[int],
        number: Callable[[int], int | None],
        order: tuple[int, ...],
        propositions: int,
    ) -> OwnKind:
        """The functions of a table of nodes; `number`: that of a node that is a leaf here, None if it asks on."""
        found: dict[int, int] = {}
        asking: list[int] = []
        pending = list(dict.fromkeys(roots))
        while pending:
            node = pending.pop()
            if node in found:
                continue
            leaf = number(node)
            found[node] = 0 if leaf is None else -1 - leaf
            if leaf is None:
                asking.append(node)
                pending.append(table.high[node])
                pending.append(table.low[node])
        asking.sort(key=lambda node: -table.var[node])
        found.update({node: place for place, node in enumerate(asking)})
        columns = (
            [table.var[node] for node in asking],
            [found[table.low[node]] for node in asking],
            [found[table.high[node]] for node in asking],
            [found[root] for root in roots],
        )
        levels, low, high, tops = (np.array(column, dtype=np.int64) for column in columns)
        return cls.reduced((levels, low, high, tops), order, propositions)

    @classmethod
    def read(
        cls: type[OwnKind],
        propositions: int,
        order: Sequence[int],
        levels: Sequence[int],
        low: Sequence[int],
        high: Sequence[int],
        roots: Sequence[int],
    ) -> OwnKind:
        """The diagram of numbers that were read from a file; `MachineError` where they make none."""
        try:
            asked = tuple(int(place) for place in order)
            arrays = [np.array(values, dtype=np.int64) for values in (levels, low, high, roots)]
        except (TypeError, ValueError, OverflowError):
            raise MachineError("a diagram of moves is made of whole numbers") from None
        own, *sides, tops = arrays
        nodes, states = len(own), len(tops)
        if any(array.ndim != 1 for array in arrays) or any(len(side) != nodes for side in sides) or not states:
            raise MachineError("a diagram has a level, a low and a high side for each node, and a root for each state")
        if len(set(asked)) < len(asked) or not set(asked) <= set(range(propositions)):
            raise MachineError(f"the levels of a diagram ask for different propositions, 0 to {propositions - 1}")
        if nodes and not 0 <= own.min() <= own.max() < len(asked):
            raise MachineError(f"the nodes of a diagram stand on levels 0 to {len(asked) - 1}")
        for side in (*sides, tops):
            if side.size and (side.min() < -states or side.max() >= nodes):
                raise MachineError("a diagram leads to nodes or states that are not there")
        # Negative numbers, states, are found at the end of `below`, under all levels.
        below = np.concatenate([own, np.full(states, len(asked))])
        if any((below[side] <= own).any() for side in sides):
            raise MachineError("below each node of a diagram stand lower levels")
        return cls.sorted_by_level((own, sides[0], sides[1], tops), asked, propositions)

    @classmethod
    def sorted_by_level(cls: type[OwnKind], parts: Parts, order: tuple[int, ...], propositions: int) -> OwnKind:
        """As `reduced`, of nodes that do not stand by level yet."""
        levels, low, high, roots = parts
        by_level = np.argsort(-levels, kind="stable")
        place = np.empty(len(levels), dtype=np.int64)
        place[by_level] = np.arange(len(levels))
        low, high, roots = (_through(array, place) for array in (low[by_level], high[by_level], roots))
        return cls.reduced((levels[by_level], low, high, roots), order, propositions)

    @classmethod
    def reduced(cls: type[OwnKind], parts: Parts, order: tuple[int, ...], propositions: int) -> OwnKind:
        """The diagram of nodes that stand by level, the lowest first, and may be alike, in vain or unused."""
        levels, low, high, roots = parts
        used = _used(levels, low, high, roots)
        if not used.all():
            place = np.cumsum(used) - 1
            low, high, roots = (_through(array, place) for array in (low, high, roots))
            levels, low, high = levels[used], low[used], high[used]
        most = int(-min(-1, roots.min(initial=-1), low.min(initial=-1), high.min(initial=-1)))
        width = most + len(levels) + 1
        new = np.zeros(len(levels), dtype=np.int64)
        kept: list[Numbers] = []
        count = 0
        for start, stop in level_runs(levels):
            ends = [_through(array[start:stop], new) for array in (low, high)]
            asking = ends[0] != ends[1]
            codes = ((ends[0] + most) * width + ends[1] + most)[asking]
            distinct, ranks = np.unique(codes, return_inverse=True)
            here = ends[0]
            here[asking] = count + ranks
            new[start:stop] = here
            own = np.full(len(distinct), levels[start])
            kept.append(np.stack([own, distinct // width - most, distinct % width - most]))
            count += len(distinct)
        tops = _through(roots, new)
        table = np.concatenate(kept, axis=1) if kept else np.zeros((3, 0), dtype=np.int64)
        found = tuple(array.astype(np.int32) for array in (*table, tops))
        return cls(propositions, order, found[0], found[1], found[2], found[3])


def level_runs(levels: NDArray[np.integer]) -> list[tuple[int, int]]:
    """Where each run of equal levels (nodes,) begins and ends."""
    starts = np.flatnonzero(np.diff(levels, prepend=-1)).tolist()
    return list(pairwise([*starts, len(levels)]))


def _through(references: Numbers, numbers: Numbers) -> Numbers:
    """References with other numbers (nodes,) of their nodes; those to leaves stay."""
    return np.where(references < 0, references, numbers[np.maximum(references, 0)]) if len(numbers) else references


def _used(levels: Numbers, low: Numbers, high: Numbers, roots: Numbers) -> BoolArray:
    """(nodes,) which nodes some root leads to."""
    used = np.zeros(len(levels), dtype=bool)
    used[roots[roots >= 0]] = True
    for start, stop in reversed(level_runs(levels)):
        for array in (low, high):
            children = array[start:stop][used[start:stop]]
            used[children[children >= 0]] = True
    return used


Cube = tuple[tuple[int, bool], ...]
"""Pairs (proposition, truth), by proposition."""


def cubes_of(diagram: Diagram, root: int, numbers: Collection[int], free: Collection[int] = ()) -> list[Cube]:
    """Cubes of the letters that lead to some numbers, none superfluous (Minato, Morreale); short ones first.

    `free`: numbers whose letters may be covered or not, whichever is shorter.
    """
    work = _Irredundant(500_000)
    levels, low, high, roots = diagram.lists
    asking = sorted(node for node in diagram.below(root, set()) if node >= 0)

    def where(wanted: set[int]) -> int:
        made: dict[int, int] = {}

        def below(child: int) -> int:
            return made[child] if child >= 0 else TRUE if -1 - child in wanted else FALSE

        for node in asking:
            made[node] = work.node(levels[node], below(low[node]), below(high[node]))
        return below(roots[root])

    found, _ = work.cover(where({*numbers}), where({*numbers, *free}))
    named = [tuple(sorted((diagram.order[level], true) for level, true in cube)) for cube in found]
    return sorted(named, key=lambda cube: (len(cube), cube))


class _Irredundant(Bdd):
    def __init__(self, max_nodes: int) -> None:
        super().__init__(max_nodes)
        self._negations: dict[int, int] = {}
        self._covers: dict[tuple[int, int], tuple[list[Cube], int]] = {}

    def without(self, f: int, g: int) -> int:
        return self.conjunction(f, self.map(g, lambda value: not value, self._negations))

    def cover(self, lower: int, upper: int) -> tuple[list[Cube], int]:
        """Cubes over levels that cover `lower` and stay inside `upper`, and the function that they cover."""
        if lower == FALSE:
            return [], FALSE
        if upper == TRUE:
            return [()], TRUE
        key = (lower, upper)
        if key not in self._covers:
            self._covers[key] = self._cover(lower, upper)
        return self._covers[key]

    def _cover(self, lower: int, upper: int) -> tuple[list[Cube], int]:
        top = min(self.var[lower], self.var[upper])
        (low_0, low_1), (up_0, up_1) = (
            (self.low[node], self.high[node]) if self.var[node] == top else (node, node) for node in (lower, upper)
        )
        cubes_0, covered_0 = self.cover(self.without(low_0, up_1), up_0)
        cubes_1, covered_1 = self.cover(self.without(low_1, up_0), up_1)
        rest = self.disjunction(self.without(low_0, covered_0), self.without(low_1, covered_1))
        cubes, covered = self.cover(rest, self.conjunction(up_0, up_1))
        if len(cubes) + len(cubes_0) + len(cubes_1) > 1 << 11:
            raise LimitError("a guard of this machine is too large to be written out; JSON files do without guards")
        found = [*cubes, *(((top, False), *cube) for cube in cubes_0), *(((top, True), *cube) for cube in cubes_1)]
        return found, self.node(top, self.disjunction(covered_0, covered), self.disjunction(covered_1, covered))
