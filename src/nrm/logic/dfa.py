"""Deterministic automata over the atoms that a formula names, with letters grouped into classes."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import BoolArray, IntArray
from nrm.errors import LimitError
from nrm.logic import tables


@dataclass(frozen=True)
class Limits:
    """How much work a translation may do before it stops with a `LimitError`."""

    states: int = 100_000
    """Most states of any automaton on the way."""
    cells: int = 50_000_000
    """Most entries of any transition table on the way (states times letter classes)."""
    nodes: int = 2_000_000
    """Most nodes of a decision diagram."""

    def check(self, states: int, classes: int) -> None:
        """Raise `LimitError` when an automaton of this size is too large."""
        if states > self.states or states * classes > self.cells:
            raise LimitError(
                f"the automaton passes the limit at {states:,} states and {classes:,} letter classes "
                f"(limits: {self.states:,} states, {self.cells:,} table entries); simplify the formula, split it "
                "into several tasks, or raise the limit (--max-states, Limits(...))"
            )


@dataclass(frozen=True, eq=False)
class Dfa:
    """An automaton over `atoms`; state 0 is initial.

    Exclusive: the letters are the atoms in order, then one more for "none of these". Otherwise the letters are all
    2^n subsets, and bit i of a letter's number says whether atom i holds.
    """

    atoms: tuple[str, ...]
    exclusive: bool
    letter_class: IntArray
    """(letters,) the class of each letter."""
    columns: IntArray
    """(states, classes) the next state."""
    accepting: BoolArray
    """(states,) whether a trace may end here. For the initial state: see `minimal`."""

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.columns)

    def complement(self) -> Dfa:
        """Accepts exactly the non-empty traces that this one rejects."""
        return Dfa(self.atoms, self.exclusive, self.letter_class, self.columns, ~self.accepting)

    def lifted(self, atoms: tuple[str, ...]) -> IntArray:
        """The class of each letter over a larger set of atoms."""
        if atoms == self.atoms:
            return self.letter_class
        place = {name: index for index, name in enumerate(self.atoms)}
        if self.exclusive:
            outside = len(self.atoms)
            letters = [place.get(name, outside) for name in atoms]
            return self.letter_class[[*letters, outside]]
        larger = np.arange(1 << len(atoms), dtype=np.int64)
        letters_here = np.zeros_like(larger)
        for bit, name in enumerate(atoms):
            if name in place:
                letters_here |= ((larger >> bit) & 1) << place[name]
        return self.letter_class[letters_here]

    def minimal(self) -> Dfa:
        """The least automaton with the same non-empty traces, numbered canonically.

        LTLf speaks of non-empty traces only, so whether the initial state accepts is free as long as no step leads
        back to it. It is then identified with a state of the same future, if there is one, and rejects otherwise.
        Every state must be reachable, which all the constructions here see to.
        """
        columns, accepting, initial = self.columns, self.accepting, 0
        if not tables.reachable_by_a_step(columns, initial):
            accepting = accepting.copy()
            accepting[initial] = False
        blocks = tables.coarsest_congruence(columns, accepting)
        if int(blocks.max()) + 1 < len(columns):
            columns, kept = tables.quotient(columns, blocks)
            accepting, initial = accepting[kept], int(blocks[initial])
        if not tables.reachable_by_a_step(columns, initial):
            twins = np.flatnonzero((columns == columns[initial]).all(axis=1))
            initial = next((int(twin) for twin in twins if twin != initial), initial)
        return Dfa(self.atoms, self.exclusive, self.letter_class, columns, accepting).trimmed(initial)

    def trimmed(self, initial: int = 0) -> Dfa:
        """What is reachable from `initial`, with equal columns merged, numbered in breadth-first order."""
        columns, accepting = self.columns, self.accepting
        order = tables.bfs_order(columns, initial)
        if len(order) < len(columns):
            columns, accepting, initial = tables.renumber(columns, order), accepting[order], 0
        columns, letter_class = tables.merge_columns(columns, self.letter_class)
        # Merging sorts the columns by their first letter, which fixes the canonical order of states.
        order = tables.bfs_order(columns, initial)
        return Dfa(self.atoms, self.exclusive, letter_class, tables.renumber(columns, order), accepting[order])


_SLICE = 1 << 20
"""Table entries that a product computes at a time."""

Combine = Callable[[BoolArray, BoolArray], BoolArray]


def product(left: Dfa, right: Dfa, combine: Combine, limits: Limits) -> Dfa:
    """The reachable product, accepting where `combine` of the two acceptances says so."""
    atoms = left.atoms + tuple(name for name in right.atoms if name not in left.atoms)
    classes = left.lifted(atoms).astype(np.int64) * right.columns.shape[1] + right.lifted(atoms)
    letter_class, pairs = _by_first_occurrence(classes)
    left_class, right_class = np.divmod(pairs, right.columns.shape[1])
    width = right.states
    numbers = _Numbers(left.states * width)
    numbers.of(np.zeros(1, dtype=np.int64))
    codes, rows = [np.zeros(1, dtype=np.int64)], []
    for frontier in codes:
        limits.check(numbers.count, len(pairs))
        # In slices, so that no temporary array grows large.
        for start in range(0, len(frontier), max(1, _SLICE // len(pairs))):
            a, b = np.divmod(frontier[start : start + max(1, _SLICE // len(pairs))], width)
            targets = np.take(left.columns[a].astype(np.int64), left_class, axis=1) * width
            targets += np.take(right.columns[b], right_class, axis=1)
            fresh, row = numbers.of(targets.ravel())
            rows.append(row.reshape(targets.shape))
            if fresh.size:
                codes.append(fresh)
    a, b = np.divmod(np.concatenate(codes), width)
    accepting = combine(left.accepting[a], right.accepting[b])
    return Dfa(atoms, left.exclusive, letter_class.astype(np.int32), np.concatenate(rows), accepting)


def _by_first_occurrence(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each value its number, and the distinct values, both in order of first occurrence."""
    distinct, first, ranks = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place[ranks], distinct[order]


class _Numbers:
    """Numbers for codes in order of arrival: an array when the codes are few enough, else a sorted index."""

    _DENSE = 1 << 24

    def __init__(self, codes: int) -> None:
        self.count = 0
        self._place = np.full(codes, -1, dtype=np.int32) if codes <= self._DENSE else None
        self._sorted = np.zeros(0, dtype=np.int64)
        self._ranks = np.zeros(0, dtype=np.int32)

    def of(self, codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], IntArray]:
        """The codes that are new, in order of first occurrence, and the numbers of all; new ones get the next ones."""
        known = self._look_up(codes)
        missing = known < 0
        ranks, fresh = _by_first_occurrence(codes[missing])
        numbers = np.arange(self.count, self.count + len(fresh), dtype=np.int32)
        if self._place is not None:
            self._place[fresh] = numbers
        else:
            merged = np.concatenate([self._sorted, fresh])
            order = np.argsort(merged, kind="stable")
            self._sorted, self._ranks = merged[order], np.concatenate([self._ranks, numbers])[order]
        known[missing] = self.count + ranks
        self.count += len(fresh)
        return fresh, known

    def _look_up(self, codes: NDArray[np.int64]) -> IntArray:
        if self._place is not None:
            return self._place[codes]
        if not len(self._sorted):
            return np.full(codes.shape, -1, dtype=np.int32)
        at = np.minimum(np.searchsorted(self._sorted, codes), len(self._sorted) - 1)
        return np.where(self._sorted[at] == codes, self._ranks[at], np.int32(-1))


def product_of_all(parts: Iterable[Dfa], combine: Combine, limits: Limits) -> Dfa:
    """Combine many automata, always the two smallest first, and minimise after each product."""
    heap = [(part.states, index, part) for index, part in enumerate(parts)]
    heapq.heapify(heap)
    ticket = len(heap)
    while len(heap) > 1:
        _, _, left = heapq.heappop(heap)
        _, _, right = heapq.heappop(heap)
        joined = product(left, right, combine, limits).minimal()
        heapq.heappush(heap, (joined.states, ticket, joined))
        ticket += 1
    return heap[0][2]


def after_one_step(dfa: Dfa, weak: bool) -> Dfa:
    """The automaton of `X f` (or `WX f`, when `weak`) from that of f."""
    # State 0 reads any letter; state 1 is f's initial state, where a trace of one step ends.
    shifted = dfa.columns + 2
    columns = np.concatenate([np.ones((1, dfa.columns.shape[1]), dtype=np.int32), shifted[:1], shifted])
    accepting = np.concatenate([np.array([False, weak]), dfa.accepting])
    return Dfa(dfa.atoms, dfa.exclusive, dfa.letter_class, columns.astype(np.int32), accepting).trimmed()
