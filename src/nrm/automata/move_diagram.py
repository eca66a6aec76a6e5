"""Moves over many propositions: one shared decision diagram that leads every letter, from each state, to the next.

A letter class is a column for *all* states at once, and their number can be 3^n where each state's own diagram is
small. So transition functions are kept state by state, and classes are made only where somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import BoolArray, IntArray, Json, Letter, State
from nrm.automata.diagram import Cube, Diagram, Numbers, cubes_of
from nrm.automata.letters import Classes, LetterFunction
from nrm.automata.mtbdd import LEAF, Limits, spend
from nrm.automata.partition import Blocks, letter_classes, scattered, split
from nrm.automata.partition import Numbers as Numbering
from nrm.automata.search import Differ, Pair, Reaching, first_path
from nrm.automata.table import Table, merged_classes
from nrm.errors import LimitError, MachineError, counted

PARTS = ("order", "levels", "low", "high", "roots")
"""What a file holds of a diagram."""
MAX_CELLS = 4_000_000
"""States times letter classes up to which the classes of a diagram are made."""


@dataclass(frozen=True, eq=False)
class MoveDiagram(Diagram, Reaching):
    """The next state by state and letter: a root for each state, and states at the leaves."""

    @classmethod
    def of_classes(cls, letters: LetterFunction, columns: IntArray) -> MoveDiagram:
        """The moves (states, classes) of letter classes, state by state."""
        states, made, tables = len(columns), list[Numbers](), list[tuple[Numbers, ...]]()
        spend(1_500 * states * len(letters.lists[0]))

        def below(child: int) -> Numbers:
            return made[child] if child >= 0 else -1 - columns[:, -1 - child].astype(np.int64)

        for level, one, two in zip(*letters.lists[:3], strict=True):
            tables.append((np.full(states, level), below(one), below(two)))
            made.append(np.arange(len(made) * states, (len(made) + 1) * states))
        empty = [np.zeros(0, dtype=np.int64)] * 3
        levels, low, high = [np.concatenate(parts) for parts in zip(*tables, strict=True)] or empty
        roots = below(letters.root)
        return cls.sorted_by_level((levels, low, high, roots), letters.order, letters.propositions)

    @property
    def states(self) -> int:
        return len(self.roots)

    @property
    def extent(self) -> str:
        return f"diagrams of {counted(self.nodes, 'node')}"

    @property
    def key(self) -> tuple[object, bytes]:
        own = self.ascending()
        arrays = (array.astype(np.int32).tobytes() for array in (own.levels, own.low, own.high, own.roots))
        return (own.order, *arrays), b""

    def check(self, letters: int, propositions: int | None, name: Callable[[Letter], str]) -> None:  # noqa: ARG002
        if propositions != self.propositions:
            raise MachineError(
                f"the moves are over {self.propositions} propositions, and the alphabet has {letters} letters"
                + ("" if propositions is None else f" of {propositions} propositions")
            )
        reached = -1 - min(int(array.min(initial=-1)) for array in (self.low, self.high, self.roots))
        if reached >= self.states:
            raise MachineError(f"{reached} is not a state (0 to {self.states - 1})")

    def check_size(self, limits: Limits) -> None:
        limits.check(self.states, 1)

    def merged(self) -> MoveDiagram:
        return self

    def classes(self) -> Classes:
        """Numbered by their first letter."""
        states = self.states
        try:
            limits = Limits(states=states, cells=max(MAX_CELLS, states))
            found = letter_classes(self.arrays, self.arrays.low[:states].tolist(), len(self.order), limits)
        except LimitError:
            raise LimitError(
                f"the letters of this machine, {states:,} states over {self.propositions} propositions, are of too "
                f"many classes (more than {MAX_CELLS:,} moves) for neural machines and shortcuts; split the task"
            ) from None
        letters, targets = found
        columns = np.ascontiguousarray(np.array(targets, dtype=np.int32).T)
        if isinstance(letters, LetterFunction) or self.order != tuple(range(self.propositions)):
            letters = letters.function(len(self.order)).placed(self.order, self.propositions)
        return Classes(*merged_classes(letters, columns))

    def next_state(self, state: State, letter: Letter) -> State:
        return self.leaf(state, letter)

    def take(self, states: NDArray[np.int64], letters: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.leaves(states, letters)

    def targets(self, state: State) -> list[State]:
        """In the order of the letters, the topmost proposition counting most."""
        return [-1 - node for node in self.below(state, set()) if node < 0]

    def edges(self) -> IntArray:
        pairs = [(state, target) for state in range(self.states) for target in sorted(self.targets(state))]
        return np.array(pairs, dtype=np.int32)

    def plainest(self, state: State, _: Callable[[], Iterable[Letter]]) -> Iterable[tuple[State, Letter]]:
        many = 1 << self.propositions
        return ((target, sums % many) for target, sums in self.least(state, lambda bit: many + (1 << bit)).items())

    def guards(self, state: State, most: int | None, _: object) -> list[tuple[State, Sequence[Cube]]]:
        return [(target, cubes_of(self, state, [target])) for target in self.targets(state)[:most]]

    def nearest(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        own = self.ascending()
        low, high, roots = own.places
        best = np.empty((own.states + own.nodes, 2 * own.propositions, *values.shape[1:]), dtype=np.int64)
        best[: own.states] = values[:, None]
        for level, part in own.by_level:
            ends = best[low[part]], best[high[part]]
            here = best[own.states + part.start : own.states + part.stop]
            np.minimum(*ends, out=here)
            with_it = 2 * own.order[level]
            here[:, with_it], here[:, with_it + 1] = ends[1][:, with_it], ends[0][:, with_it + 1]
        return best[roots]

    def leaving(self) -> tuple[IntArray, BoolArray]:
        away = 1 - np.eye(self.states, dtype=np.int64)
        by = self.nearest(away) == 0  # (states, literals, states)
        pairs = np.argwhere(by.any(1) & (away == 1))
        return pairs.astype(np.int32), by[pairs[:, 0], :, pairs[:, 1]]

    def absorbing(self) -> BoolArray:
        result: BoolArray = self.roots == -1 - np.arange(self.states)
        return result

    def entered(self, state: State) -> bool:
        return any(bool((array == -1 - state).any()) for array in (self.low, self.high, self.roots))

    def alike(self, state: State) -> IntArray:
        return np.flatnonzero(self.roots == self.roots[state]).astype(np.int32)

    def reaching(self, goals: BoolArray) -> BoolArray:
        low, high, roots = self.places
        values = np.zeros(self.states + self.nodes, dtype=bool)
        values[: self.states] = goals
        for _, part in self.by_level:
            values[self.states + part.start : self.states + part.stop] = values[low[part]] | values[high[part]]
        return values[roots]

    def congruence(self, labels: NDArray[np.generic]) -> Blocks:
        """Partition refinement: states are alike whose diagrams are equal once leaves are blocks.

        Blocks are split by a fingerprint of each state's diagram with blocks at its leaves. Different fingerprints
        mean different moves, so no split is ever wrong; where no more are found, the diagrams themselves are compared.
        """
        blocks: Blocks = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        count = int(blocks.max()) + 1
        while count < self.states:
            before = count
            blocks, count = split(blocks, self._prints(blocks))
            if count == before:
                tops = self.relabelled(blocks).roots
                blocks, count = split(blocks, (tops.astype(np.int64) - tops.min()).astype(np.uint64))
                if count == before:
                    break
        return blocks

    def _prints(self, blocks: Blocks) -> NDArray[np.uint64]:
        """(states,) a fingerprint of each state's diagram over blocks."""
        low, high, roots = self.places
        values = np.empty(self.states + self.nodes, dtype=np.uint64)
        values[: self.states] = scattered(blocks + 1)
        weights = scattered(2 * np.arange(len(self.order)) + 3) | np.uint64(1)
        for level, part in self.by_level:
            a, b = values[low[part]], values[high[part]]
            mixed = scattered(a * weights[level] + (b ^ (b >> np.uint64(31))))
            values[self.states + part.start : self.states + part.stop] = np.where(a == b, a, mixed)
        return values[roots]

    def quotient(self, blocks: Blocks) -> tuple[MoveDiagram, IntArray]:
        _, representatives = np.unique(blocks, return_index=True)
        return self.relabelled(blocks, representatives), representatives.astype(np.int32)

    def halted(self, states: IntArray) -> MoveDiagram:
        roots = self.roots.copy()
        roots[states] = -1 - states
        return replace(self, roots=roots).relabelled(np.arange(self.states))

    def canonical(self, initial: State) -> tuple[MoveDiagram, IntArray]:
        """In breadth-first order by letter, the topmost proposition counting most."""
        own = self.ascending()
        found, seen = [initial], {-1 - initial}
        for state in found:
            # What was seen from an earlier state leads to no new ones.
            found += [-1 - node for node in own.below(state, seen) if node < 0]
        kept = np.array(found, dtype=np.int32)
        if np.array_equal(kept, np.arange(self.states)):
            return own, kept
        place = np.zeros(self.states, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        return own.relabelled(place, kept), kept

    def product(self, other: object, limits: Limits, starts: Pair = (0, 0)) -> tuple[MoveDiagram, IntArray, IntArray]:
        assert isinstance(other, MoveDiagram)
        return _product(self, other, limits, starts)

    def beside(self, others: Sequence[object]) -> MoveDiagram:
        parts = self._with(others)
        order = tuple(sorted({proposition for part in parts for proposition in part.order}))
        arrays: list[list[Numbers]] = [[], [], [], []]
        states = nodes = 0
        for part in parts:
            own = part.reordered(order)
            arrays[0].append(own.levels.astype(np.int64))
            for place, array in enumerate((own.low, own.high, own.roots), 1):
                arrays[place].append(np.where(array < 0, array - states, array + nodes).astype(np.int64))
            states, nodes = states + own.states, nodes + own.nodes
        joined = [np.concatenate(parts) for parts in arrays]
        return MoveDiagram.sorted_by_level((joined[0], joined[1], joined[2], joined[3]), order, self.propositions)

    def _with(self, others: Sequence[object]) -> list[MoveDiagram]:
        return [each.ascending() for each in (self, *others) if isinstance(each, MoveDiagram)]

    def difference(self, other: object, start: Pair, differ: Differ) -> tuple[list[Letter], Pair] | None:
        assert isinstance(other, MoveDiagram)
        both, a, b = self.product(other, Limits(states=5_000_000), start)
        found = first_path(0, lambda pair: both.plainest(pair, tuple), lambda pair: differ(int(a[pair]), int(b[pair])))
        return None if found is None else (found[0], (int(a[found[1]]), int(b[found[1]])))

    def relettered(self, letters: Sequence[Letter]) -> Table:
        rows = [[self.leaf(state, letter) for letter in letters] for state in range(self.states)]
        return Table(np.arange(len(letters), dtype=np.int32), np.array(rows, dtype=np.int32)).merged()

    def described(self) -> Json:
        own = self.ascending()
        return {"diagram": {name: np.array(getattr(own, name)).tolist() for name in PARTS}}

    def packed(self, others: Sequence[object]) -> dict[str, NDArray[Any]]:
        parts = self._with(others)
        return {
            "nodes": np.array([part.nodes for part in parts]),
            "depths": np.array([len(part.order) for part in parts]),
            **{
                name: np.concatenate([np.array(getattr(part, name), dtype=np.int32) for part in parts])
                for name in PARTS
            },
        }


def unpacked_diagrams(
    sizes: NDArray[np.int64], arrays: dict[str, NDArray[Any]], propositions: int
) -> Sequence[MoveDiagram]:
    """The diagrams of a file, of which each has so many states; `ValueError` where they do not fit."""
    nodes, depths = (np.cumsum(arrays[name].astype(np.int64)) for name in ("nodes", "depths"))
    ends = {"order": depths, "levels": nodes, "low": nodes, "high": nodes, "roots": np.cumsum(sizes)}
    for name, end in ends.items():
        if int(end[-1]) != len(arrays[name]):
            raise ValueError(f"{len(arrays[name])} entries of '{name}' for {int(end[-1])}")
    parts = [np.split(arrays[name].astype(np.int32), end[:-1]) for name, end in ends.items()]
    return [MoveDiagram.read(propositions, *map(np.ndarray.tolist, own)) for own in zip(*parts, strict=True)]


def _product(
    left: MoveDiagram, right: MoveDiagram, limits: Limits, starts: Pair
) -> tuple[MoveDiagram, IntArray, IntArray]:
    """The reachable pairs of states as a diagram, the pair of both starts first, and both states of each pair.

    All pairs of places that are found at a time are followed, until none is new.
    """
    order = tuple(sorted({*left.order, *right.order}))
    left, right = left.reordered(order), right.reordered(order)
    one, two = left.arrays, right.arrays
    width = len(two.var)
    states = [0]

    def following(codes: Numbers) -> Numbers:
        f, g = np.divmod(codes, width)
        u, v = one.var[f], two.var[g]
        states[0] += int((np.minimum(u, v) == LEAF).sum())
        limits.check(states[0], 1)
        spend(3_000 * len(codes))
        lows, highs = (
            np.where(u <= v, a[f], f) * width + np.where(v <= u, b[g], g)
            for a, b in ((one.low, two.low), (one.high, two.high))
        )
        return np.stack([lows, highs], axis=1)

    first = np.array([starts[0] * width + starts[1]], dtype=np.int64)
    codes, places = Numbering(len(one.var) * width).explored(first, following, limits.check_nodes)
    f, g = np.divmod(codes, width)
    top, below = np.minimum(one.var[f], two.var[g]), places.astype(np.int64)
    states_at = np.flatnonzero(top == LEAF)
    nodes_at = np.flatnonzero(top != LEAF)
    nodes_at = nodes_at[np.argsort(-top[nodes_at], kind="stable")]
    reference = np.empty(len(codes), dtype=np.int64)
    reference[states_at] = -1 - np.arange(len(states_at))
    reference[nodes_at] = np.arange(len(nodes_at))
    low, high = reference[below[nodes_at]].T
    parts = (top[nodes_at], low, high, reference[below[states_at, 0]])
    diagram = MoveDiagram.reduced(parts, order, left.propositions)
    a, b = np.divmod(codes[states_at], width)
    return diagram, a.astype(np.int32), b.astype(np.int32)
