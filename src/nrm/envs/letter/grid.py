"""Grids of letters: drawn by keys, such that every letter can be reached without stepping on another one."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nrm.envs.counter_rng import Words, draws
from nrm.envs.letter.config import LetterConfig
from nrm.errors import WorldError

ACTIONS = ("up", "right", "down", "left")
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))
"""The change of (row, column) by each move."""
_BLOCK = 32
"""Grids that are drawn at once for an episode: about one in thirty of the usual size is connected."""
_MOST_BLOCKS = 400


def begin(config: LetterConfig, keys: Words) -> NDArray[np.int64]:
    """(n, cells) what stands in each cell at the start of the episodes with these keys; the agent is in cell 0.

    The number of a letter, or `letters` for none. Grids are drawn until from cell 0 every letter can be reached over
    cells without letters.
    """
    contents = np.full((len(keys), config.cells), config.letters, dtype=np.int64)
    pieces = np.repeat(np.arange(config.letters), config.copies)
    waiting = np.arange(len(keys))
    for block in range(_MOST_BLOCKS):
        numbers = np.arange(block * _BLOCK, (block + 1) * _BLOCK, dtype=np.uint64)
        counters = numbers[:, None] * np.uint64(config.cells) + np.arange(1, config.cells, dtype=np.uint64)
        drawn = draws(keys[waiting, None, None], counters)
        places = np.argsort(drawn, axis=-1)[..., : len(pieces)] + 1
        good = connected(config.size, _taken(places))
        found = np.flatnonzero(good.any(1))
        np.put_along_axis(rows := contents[waiting[found]], places[found, good[found].argmax(1)], pieces[None], axis=1)
        contents[waiting[found]] = rows
        waiting = np.delete(waiting, found)
        if not len(waiting):
            return contents
    raise WorldError(
        f"no grid of {config.size}x{config.size} cells with {config.letters} letters on {config.copies} cells each was "
        f"found in {_MOST_BLOCKS * _BLOCK:,} draws on which all letters can be reached; take fewer letters or copies"
    )


def _taken(places: NDArray[np.int64]) -> Words:
    """(…,) the cells (…, k) as bits of one word."""
    bits: Words = (np.uint64(1) << places.astype(np.uint64)).sum(-1, dtype=np.uint64)
    return bits


def connected(size: int, taken: Words) -> NDArray[np.bool_]:
    """(…,) whether from cell 0 every taken cell of a torus can be reached over cells that are not."""
    full, first_column, last_column = _masks(size)
    free = full & ~taken
    reached = np.ones_like(taken)
    one, side, last = np.uint64(1), np.uint64(size), np.uint64(size * (size - 1))
    while True:
        right = ((reached << one) & ~first_column) | ((reached >> (side - one)) & first_column)
        left = ((reached >> one) & ~last_column) | ((reached << (side - one)) & last_column)
        near = reached | right | left | (reached << side) | (reached >> last) | (reached >> side) | (reached << last)
        near &= full
        grown = reached | (near & free)
        if (grown == reached).all():
            result: NDArray[np.bool_] = (near & taken) == taken
            return result
        reached = grown


@lru_cache
def _masks(size: int) -> tuple[np.uint64, np.uint64, np.uint64]:
    """All cells, the first column and the last one, as bits."""
    column = sum(1 << (row * size) for row in range(size))
    return np.uint64((1 << size * size) - 1), np.uint64(column), np.uint64(column << (size - 1))


def next_cells(size: int) -> NDArray[np.int64]:
    """(cells, 4) the cell that each move leads to, around the torus."""
    row, column = np.divmod(np.arange(size * size), size)
    return np.stack([((row + down) % size) * size + (column + right) % size for down, right in MOVES], axis=1)


def around(size: int) -> NDArray[np.int64]:
    """(cells, cells) for an agent in each cell, the cells around it, row by row, with its own in the middle."""
    row, column = np.divmod(np.arange(size * size), size)
    half = size // 2
    rows = (row[:, None] + row[None] - half) % size
    columns = (column[:, None] + column[None] - half) % size
    cells: NDArray[np.int64] = rows * size + columns
    return cells
