"""Numbers for equal things: order of first occurrence, codes in order of arrival, partitions split by fingerprints."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import IntArray

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
