"""Partition refinement: which states, and which letters, a transition table treats alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import IntArray
from nrm.automata.letter_diagram import LetterDiagram
from nrm.automata.tables import Letters, Table, bfs_order, by_first_occurrence, renumber

Blocks = NDArray[np.int64]
"""For each state the number of its block in a partition."""

_FEW = 1_500
"""Table entries up to which plain Python is faster than arrays."""
_CHUNK = 64
"""Columns that are fingerprinted at once: most partitions are settled by few of them."""


def coarsest_congruence(columns: IntArray, labels: NDArray[np.generic]) -> Blocks:
    """Moore's partition refinement: the coarsest partition that respects `labels` and every column.

    Blocks are split by a 64-bit fingerprint of each row, some columns at a time. Different fingerprints mean
    different rows, so no split is ever wrong; equal ones are checked exactly at the end, and the rows themselves are
    compared if the check fails.
    """
    states, width = columns.shape
    if columns.size <= _FEW:
        return _refined(columns, labels)
    blocks: Blocks = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    count = int(blocks.max()) + 1
    weights = scattered(np.arange(1, width + 1)) | np.uint64(1)
    while count < states:
        before = count
        for start in range(0, width, _CHUNK):
            part = slice(start, start + _CHUNK)
            prints = (scattered(blocks + 1)[columns[:, part]] * weights[part]).sum(axis=1, dtype=np.uint64)
            blocks, count = split(blocks, prints)
            if count == states:
                return blocks
        if count == before:
            blocks, count = _exact_split(blocks[columns], blocks)
            if count == before:
                break
    return blocks


def _refined(columns: IntArray, labels: NDArray[np.generic]) -> Blocks:
    """As `coarsest_congruence`, row by row."""
    rows = columns.tolist()
    numbers: dict[object, int] = {}
    blocks = [numbers.setdefault(label, len(numbers)) for label in labels.tolist()]
    count = len(numbers)
    while count < len(rows):
        numbers = {}
        blocks = [
            numbers.setdefault((block, *map(blocks.__getitem__, row)), len(numbers))
            for block, row in zip(blocks, rows, strict=True)
        ]
        if len(numbers) == count:
            break
        count = len(numbers)
    return np.array(blocks, dtype=np.int64)


def quotient(columns: IntArray, blocks: Blocks) -> tuple[IntArray, IntArray]:
    """The table over blocks, and for each block one state that stands for it."""
    _, representatives = np.unique(blocks, return_index=True)
    narrow = blocks.astype(np.int32)
    return narrow[columns[representatives]], representatives.astype(np.int32)


def merge_columns(columns: IntArray, letter_class: Letters) -> tuple[IntArray, Letters]:
    """Merge equal columns, drop unused ones, and number classes by their first letter."""
    if isinstance(letter_class, LetterDiagram):
        return _merge_in_diagram(columns, letter_class)
    numbers, first = by_first_occurrence(_equal_columns(columns)[letter_class])
    kept = letter_class[first]
    unchanged = len(kept) == columns.shape[1] and (kept[1:] > kept[:-1]).all()
    return columns if unchanged else np.ascontiguousarray(columns[:, kept]), numbers.astype(np.int32)


def _merge_in_diagram(columns: IntArray, letters: LetterDiagram) -> tuple[IntArray, LetterDiagram]:
    groups = _equal_columns(columns).tolist()
    # By their smallest letter, of those classes that have any.
    kept: dict[int, int] = {}
    for number, _ in sorted(letters.first_letters().items(), key=lambda item: item[1]):
        kept.setdefault(groups[number], number)
    rank = {group: place for place, group in enumerate(kept)}
    merged = letters.mapped([rank.get(group, -1) for group in groups])
    return np.ascontiguousarray(columns[:, list(kept.values())]), merged


def canonical(table: Table) -> tuple[Table, IntArray]:
    """The reachable part with equal columns merged, in breadth-first order, and the old number of each state.

    Isomorphic tables become equal.
    """
    letter_class, columns, initial = table
    if isinstance(letter_class, LetterDiagram):
        numbers = sorted(letter_class.first_letters())
        if len(numbers) < columns.shape[1]:
            place = {number: index for index, number in enumerate(numbers)}
            columns = columns[:, numbers]
            letter_class = letter_class.mapped([place.get(number, -1) for number in range(max(numbers) + 1)])
    else:
        used = np.bincount(letter_class, minlength=columns.shape[1]) > 0
        if not used.all():
            columns, letter_class = columns[:, used], (np.cumsum(used) - 1)[letter_class].astype(np.int32)
    reachable = np.sort(bfs_order(columns, initial))
    columns, letter_class = merge_columns(renumber(columns, reachable), letter_class)
    # Merging sorts the columns by their first letter, which fixes the order of states.
    order = bfs_order(columns, int(np.searchsorted(reachable, initial)))
    return Table(letter_class, renumber(columns, order)), reachable[order]


def _equal_columns(columns: IntArray) -> Blocks:
    """A number for each column, equal for equal columns; by fingerprints, checked as in `coarsest_congruence`."""
    states, width = columns.shape
    if columns.size <= _FEW:
        numbers: dict[tuple[int, ...], int] = {}
        return np.array([numbers.setdefault(column, len(numbers)) for column in zip(*columns.tolist(), strict=True)])
    groups = np.zeros(width, dtype=np.int64)
    weights = scattered(np.arange(1, states + 1)) | np.uint64(1)
    for start in range(0, states, _CHUNK):
        part = slice(start, start + _CHUNK)
        prints = (scattered(columns[part] + 1) * weights[part, None]).sum(axis=0, dtype=np.uint64)
        groups, count = split(groups, prints)
        if count == width:
            return groups
    return _exact_split(columns.T, groups)[0]


def split(blocks: Blocks, keys: NDArray[np.uint64]) -> tuple[Blocks, int]:
    """Split `blocks` by `keys`, exactly in both."""
    values, ranks = np.unique(keys, return_inverse=True)
    if len(values) == 1:
        return blocks, int(blocks.max()) + 1
    values, refined = np.unique(blocks * len(values) + ranks, return_inverse=True)
    return refined.astype(np.int64, copy=False), len(values)


def _exact_split(rows: NDArray[np.integer], blocks: Blocks) -> tuple[Blocks, int]:
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
