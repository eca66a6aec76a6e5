"""Transition tables as integer arrays: what a DFA and a Moore machine have in common.

A table `columns` has a row per state and a column per letter *class*: letters that move every state alike share a
column, so a thousand symbols of which a formula names two cost three columns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import BoolArray, IntArray

Blocks = NDArray[np.int64]
"""For each state the number of its block in a partition."""

_CHUNK = 64
"""Columns that are fingerprinted at once: most partitions are settled by few of them."""


def bfs_order(columns: IntArray, initial: int) -> IntArray:
    """The states reachable from `initial`, in breadth-first order (by parent, then by column)."""
    seen = np.zeros(len(columns), dtype=bool)
    seen[initial] = True
    first = np.empty(len(columns), dtype=np.int64)
    frontier = np.array([initial], dtype=np.int32)
    levels = [frontier]
    while frontier.size:
        targets = columns[frontier].ravel()
        targets = targets[~seen[targets]]
        # Written back to front, so that the first occurrence of each target is what stays.
        first[targets[::-1]] = np.arange(len(targets) - 1, -1, -1)
        seen[targets] = True
        found = targets[first[targets] == np.arange(len(targets))]
        levels.append(found)
        frontier = found
    return np.concatenate(levels)


def renumber(columns: IntArray, order: IntArray) -> IntArray:
    """The table restricted to the states in `order` (closed under transitions), numbered by their place in it."""
    if len(order) == len(columns) and (order[1:] > order[:-1]).all():
        return columns
    place = np.full(len(columns), -1, dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    renumbered: IntArray = place[columns[order]]
    return renumbered


def coarsest_congruence(columns: IntArray, labels: NDArray[np.generic]) -> Blocks:
    """Moore's partition refinement: the coarsest partition that respects `labels` and every column.

    Blocks are split by a 64-bit fingerprint of each row, some columns at a time. Different fingerprints mean
    different rows, so no split is ever wrong; equal ones are checked exactly at the end, and the rows themselves are
    compared if the check fails.
    """
    states, width = columns.shape
    blocks: Blocks = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    count = int(blocks.max()) + 1
    weights = _scatter(np.arange(1, width + 1)) | np.uint64(1)
    while count < states:
        before = count
        for start in range(0, width, _CHUNK):
            part = slice(start, start + _CHUNK)
            prints = (_scatter(blocks + 1)[columns[:, part]] * weights[part]).sum(axis=1, dtype=np.uint64)
            blocks, count = _split(blocks, prints)
            if count == states:
                return blocks
        if count == before:
            blocks, count = _exact_split(columns, blocks)
            if count == before:
                break
    return blocks


def quotient(columns: IntArray, blocks: Blocks) -> tuple[IntArray, IntArray]:
    """The table over blocks, and for each block one state that stands for it."""
    _, representatives = np.unique(blocks, return_index=True)
    narrow = blocks.astype(np.int32)
    return narrow[columns[representatives]], representatives.astype(np.int32)


def merge_columns(columns: IntArray, letter_class: IntArray) -> tuple[IntArray, IntArray]:
    """Merge equal columns, drop unused ones, and number classes by their first letter."""
    used, first = np.unique(letter_class, return_index=True)
    used = used[np.argsort(first, kind="stable")]
    prints = (_scatter(np.arange(1, len(columns) + 1)).view(np.int64) @ columns).tolist()
    # Equal fingerprints nominate columns that may be equal; the comparison of the columns decides.
    groups: dict[int, list[int]] = {}
    kept: list[int] = []
    merged = np.empty(columns.shape[1], dtype=np.int32)
    for number in used.tolist():
        nominees = groups.setdefault(prints[number], [])
        twin = next((place for place in nominees if (columns[:, kept[place]] == columns[:, number]).all()), len(kept))
        if twin == len(kept):
            nominees.append(twin)
            kept.append(number)
        merged[number] = twin
    unchanged = kept == list(range(columns.shape[1]))
    return columns if unchanged else np.ascontiguousarray(columns[:, kept]), merged[letter_class]


def reachable_by_a_step(columns: IntArray, state: int) -> bool:
    """Whether any state of the table moves to `state`."""
    return bool((columns == state).any())


def absorbing_states(columns: IntArray) -> BoolArray:
    """The states that no letter leaves."""
    result: BoolArray = (columns == np.arange(len(columns), dtype=np.int32)[:, None]).all(axis=1)
    return result


def distances(columns: IntArray, goals: BoolArray) -> IntArray:
    """For each state the least number of steps to a goal state, and -1 where none can be reached."""
    result = np.where(goals, 0, -1).astype(np.int32)
    steps = 0
    while True:
        steps += 1
        arriving = (result < 0) & (result[columns] == steps - 1).any(axis=1)
        if not arriving.any():
            return result
        result[arriving] = steps


def _split(blocks: Blocks, keys: NDArray[np.uint64]) -> tuple[Blocks, int]:
    """Split `blocks` by `keys`, exactly in both."""
    values, ranks = np.unique(keys, return_inverse=True)
    if len(values) == 1:
        return blocks, int(blocks.max()) + 1
    values, refined = np.unique(blocks * len(values) + ranks, return_inverse=True)
    return refined.astype(np.int64, copy=False), len(values)


def _exact_split(columns: IntArray, blocks: Blocks) -> tuple[Blocks, int]:
    """Split by whole rows; a pass that finds nothing proves the partition stable."""
    successors = blocks[columns]
    _, representatives = np.unique(blocks, return_index=True)
    if (successors == successors[representatives[blocks]]).all():
        return blocks, len(representatives)
    groups: dict[tuple[int, bytes], int] = {}
    rows = zip(blocks.tolist(), successors, strict=True)
    refined = [groups.setdefault((block, row.tobytes()), len(groups)) for block, row in rows]
    return np.array(refined, dtype=np.int64), len(groups)


def _scatter(values: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Spread integers over 64 bits (multiply and shift, wrapping)."""
    mixed = values.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    mixed ^= mixed >> np.uint64(32)
    return mixed
