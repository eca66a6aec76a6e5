"""The product of two transition tables: both read the same letters side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import IntArray
from nrm.automata.tables import Limits, Table, by_first_occurrence, listed

_SLICE = 1 << 20
"""Table entries that a product computes at a time."""


def product(left: Table, right: Table, limits: Limits) -> tuple[Table, IntArray, IntArray]:
    """The reachable pairs of states as a table, in breadth-first order by letter, and both states of each pair."""
    both = listed(left.letters).astype(np.int64) * right.columns.shape[1] + listed(right.letters)
    letters, first = by_first_occurrence(both)
    pairs = both[first]
    left_class, right_class = np.divmod(pairs, right.columns.shape[1])
    width = len(right.columns)
    numbers = Numbers(len(left.columns) * width)
    codes, rows = [np.array([left.initial * width + right.initial], dtype=np.int64)], []
    numbers.of(codes[0])
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
    return Table(letters.astype(np.int32), np.concatenate(rows)), a, b


class Numbers:
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
        unknown = codes[missing]
        ranks, first = by_first_occurrence(unknown)
        fresh = unknown[first]
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
