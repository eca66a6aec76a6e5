"""Numbers for equal things: first occurrences, codes as they arrive, partitions by fingerprints, letter classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import IntArray
from nrm.automata.diagram import NodeArrays
from nrm.automata.letters import MAX_LISTED, LetterClasses, LetterFunction, ListedLetters, in_columns
from nrm.automata.mtbdd import Limits, Mtbdd

Blocks = NDArray[np.int64]
"""For each state the number of its block in a partition."""


def by_first_occurrence(values: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each value its number in order of first occurrence, and where each distinct value occurs first."""
    _, first, ranks = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place[ranks], first[order]


class Numbers:
    """Numbers for codes in order of arrival: an array when the codes are few enough, else a sorted index."""

    _DENSE, _AT_A_TIME = 1 << 24, 1 << 20

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

    def explored(
        self,
        start: NDArray[np.int64],
        following: Callable[[NDArray[np.int64]], NDArray[np.int64]],
        check: Callable[[int], object],
    ) -> tuple[NDArray[np.int64], IntArray]:
        """All codes that are reached from some, in order of arrival, and (codes, moves) the numbers that follow each.

        `following`: from codes (n,) to those that follow (n, moves). `check` takes the number of known codes.
        """
        found, rows = [start], list[IntArray]()
        self.of(start)
        for frontier in found:
            check(self.count)
            step = max(1, self._AT_A_TIME // (rows[0].shape[1] if rows else 1))
            # In slices, so that no temporary array grows large.
            for begin in range(0, len(frontier), step):
                targets = following(frontier[begin : begin + step])
                fresh, row = self.of(targets.ravel())
                rows.append(row.reshape(targets.shape))
                if fresh.size:
                    found.append(fresh)
        return np.concatenate(found), np.concatenate(rows)

    def _look_up(self, codes: NDArray[np.int64]) -> IntArray:
        if self._place is not None:
            return self._place[codes]
        if not len(self._sorted):
            return np.full(codes.shape, -1, dtype=np.int32)
        at = np.minimum(np.searchsorted(self._sorted, codes), len(self._sorted) - 1)
        return np.where(self._sorted[at] == codes, self._ranks[at], np.int32(-1))


def split(blocks: Blocks, keys: NDArray[np.uint64]) -> tuple[Blocks, int]:
    """Split `blocks` by `keys`, exactly in both."""
    values, ranks = np.unique(keys, return_inverse=True)
    if len(values) == 1:
        return blocks, int(blocks.max()) + 1
    values, refined = np.unique(blocks * len(values) + ranks, return_inverse=True)
    return refined.astype(np.int64, copy=False), len(values)


def split_by_rows(rows: NDArray[np.integer], blocks: Blocks) -> tuple[Blocks, int]:
    """Split blocks by whole rows; a pass that finds nothing proves that each block has one kind of row."""
    _, representatives = np.unique(blocks, return_index=True)
    if (rows == rows[representatives[blocks]]).all():
        return blocks, len(representatives)
    groups: dict[tuple[int, bytes], int] = {}
    pairs = zip(blocks.tolist(), rows, strict=True)
    refined = [groups.setdefault((block, row.tobytes()), len(groups)) for block, row in pairs]
    return np.array(refined, dtype=np.int64), len(groups)


def scattered(values: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Spread integers over 64 bits (multiply and shift, wrapping)."""
    mixed = values.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    mixed ^= mixed >> np.uint64(32)
    return mixed


def letter_classes(
    diagram: Mtbdd[Any] | NodeArrays, roots: Sequence[int], variables: int, limits: Limits
) -> tuple[LetterClasses, list[list[int]]]:
    """The class of each of the 2^variables letters, and for each class the node that it leads to from each root.

    Walks all diagrams down together; what lies below the last variable is where a letter leads.
    """
    distinct, place = np.unique(np.array(roots, dtype=np.int32), return_inverse=True)
    tuples, edges = _levels(diagram, distinct, variables, limits)
    targets = tuples[:, place].tolist()
    # Where few letters share a class, an array is smaller than a diagram.
    if in_columns(variables) or (variables <= MAX_LISTED and len(tuples) * 16 >= 1 << variables):
        choice = np.zeros(1, dtype=np.int64)
        for below in edges:
            choice = np.concatenate([below[choice, 0], below[choice, 1]])
        return ListedLetters(choice.astype(np.int32)), targets
    return LetterFunction.of_levels(edges, np.arange(len(tuples)), tuple(range(variables))), targets


def _levels(
    diagram: Mtbdd[Any] | NodeArrays, distinct: IntArray, variables: int, limits: Limits
) -> tuple[IntArray, list[NDArray[np.int64]]]:
    """The tuples of nodes that letters lead to from some roots, and for each level (tuples, 2) where these lead."""
    var, low, high = (np.asarray(values, dtype=np.int32) for values in (diagram.var, diagram.low, diagram.high))
    tuples = distinct[None]
    edges = []
    for level in range(variables):
        # The tuples of nodes that some choice of the first variables leads to, and where each leads.
        asking = var[tuples] == level
        following: dict[bytes, int] = {}
        sides: list[list[int]] = []
        kept: list[IntArray] = []
        for children in (low, high):
            numbers = []
            for row in np.where(asking, children[tuples], tuples):
                numbers.append(following.setdefault(row.tobytes(), len(kept)))
                if numbers[-1] == len(kept):
                    kept.append(row)
            sides.append(numbers)
        edges.append(np.array(sides).T)
        tuples = np.stack(kept)
        limits.check(len(distinct), len(tuples))
    return tuples, edges
