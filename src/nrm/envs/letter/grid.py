"""Grids of letters, from a file or sampled such that every cell can be reached without stepping on a letter."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nrm.envs.counter_rng import Words, draws
from nrm.errors import EnvError, unknown
from nrm.files import read_json

if TYPE_CHECKING:
    from nrm.envs.letter.env import LetterConfig

Rows = NDArray[np.uint32]
"""(size, …) cells of grids, the columns of each row as the bits of one word."""


def grids(config: LetterConfig) -> Callable[[Words], NDArray[np.int64]]:
    """What gives the grids of the episodes with some keys, (n, cells): sampled ones, or those of the file `maps`."""
    if config.maps is not None:
        maps = read_maps(config.maps, config)
        return lambda keys: maps[_chosen(keys, len(maps))]
    if _share_of_good(config.size, 2 * config.letters) < 0.004:  # good ones are not waited for
        raise EnvError(
            f"hardly any grid of {config.size}x{config.size} cells with {config.letters} letters can be walked "
            "through; take fewer letters, or a larger grid"
        )
    return partial(begin, config)


def read_maps(path: str, config: LetterConfig) -> NDArray[np.int64]:
    """(maps, cells) the grids of a file."""
    found = read_json(path)
    if not isinstance(found, list) or not found:
        raise EnvError(f'{path} holds no list of maps; write [["..a", "b..", ".a."], …]')
    contents = [_contents(rows, config, f"{path}, map {number}") for number, rows in enumerate(found, 1)]
    return np.array(contents, dtype=np.int64)


def _contents(rows: Any, config: LetterConfig, place: str) -> list[int]:
    """What stands in each cell of one map."""
    size, known = config.size, "".join((*config.names, "."))
    if not isinstance(rows, list) or len(rows) != size:
        raise EnvError(f"{place} is no list of {size} rows, which an environment of size {size} has: {rows!r}")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, str) or len(row) != size:
            raise EnvError(f"{place}, row {number} is no text of {size} characters: {row!r}")
        for column, sign in enumerate(row, 1):
            if sign not in known:
                raise EnvError(unknown("cell", sign, known, f" at {place}, row {number}, column {column}"))
    if rows[0][0] != ".":
        raise EnvError(f"{place}, row 1, column 1 holds '{rows[0][0]}'; the agent begins there, so leave it empty: .")
    return [known.index(sign) for row in rows for sign in row]


def begin(config: LetterConfig, keys: Words) -> NDArray[np.int64]:
    """(n, cells) what stands in each cell at the start of the episodes with these keys; the agent is in cell 0.

    The number of a letter, or `letters` for none. Grids are sampled until every cell can be reached from cell 0 over
    cells without letters, as in DeepLTL.
    """
    # So few at once that their random numbers stay in the processor's cache.
    chunks = [_sampled(config, keys[start : start + 256]) for start in range(0, len(keys), 256)]
    return np.concatenate(chunks)


def _sampled(config: LetterConfig, keys: Words) -> NDArray[np.int64]:
    contents = np.full((len(keys), config.cells), config.letters, dtype=np.int64)
    pieces = np.repeat(np.arange(config.letters), 2)
    waiting = np.arange(len(keys))
    # In blocks of 32 grids: about one in seventy of the usual size is good.
    for first in range(0, 12_800, 32):
        numbers = np.arange(first, first + 32, dtype=np.uint64)
        counters = numbers[:, None] * np.uint64(config.cells) + np.arange(1, config.cells, dtype=np.uint64)
        drawn = draws(keys[waiting, None, None], counters)
        good = all_reached(_free(drawn, config.size, len(pieces)))
        found = np.flatnonzero(good.any(1))
        places = np.argsort(drawn[found, good[found].argmax(1)], axis=-1)[:, : len(pieces)] + 1
        contents[waiting[found, None], places] = pieces
        waiting = np.delete(waiting, found)
        if not len(waiting):
            return contents
    raise EnvError(
        f"no good grid of {config.size}x{config.size} cells with {config.letters} letters was found; take fewer"
    )


@lru_cache
def _share_of_good(size: int, letters: int) -> float:
    """The share of grids on which all cells can be reached, among some thousands."""
    drawn = draws(np.zeros(1, dtype=np.uint64), np.arange(4096 * (size * size - 1))).reshape(4096, -1)
    return float(all_reached(_free(drawn, size, letters)).mean())


def _chosen(keys: Words, count: int) -> NDArray[np.int64]:
    """One of so many things for each key."""
    return (draws(keys, 0) % np.uint64(count)).astype(np.int64)


def _free(drawn: Words, size: int, letters: int) -> Rows:
    """(size, …) the cells without a letter: the first, and those whose numbers (…, cells - 1) are not the least."""
    free = np.ones((*drawn.shape[:-1], size * size), dtype=np.bool_)
    np.greater(drawn, np.partition(drawn, letters - 1)[..., letters - 1, None], out=free[..., 1:])
    return as_rows(free, size)


def as_rows(cells: NDArray[np.bool_], size: int) -> Rows:
    """(size, …) cells (…, cells) as bits."""
    rows = cells.reshape(*cells.shape[:-1], size, size) @ 2.0 ** np.arange(size)
    words: Rows = np.moveaxis(rows, -1, 0).astype(np.uint32)
    return words


def all_reached(free: Rows) -> NDArray[np.bool_]:
    """(…) whether from cell 0 of a torus every cell can be reached over free ones."""
    everything = np.uint32((1 << len(free)) - 1)
    # Most grids have a cell without a free one beside it, which is seen at once.
    good: NDArray[np.bool_] = (_beside(free) == everything).all(0)
    free = free[:, good]
    reached = np.zeros_like(free)
    reached[0] = 1
    while True:
        near = _beside(reached)
        grown = reached | (near & free)
        if (grown == reached).all():
            good[good] = ((reached | near) == everything).all(0)
            return good
        reached = grown


def _beside(cells: Rows) -> Rows:
    """The cells that one move leads to from some."""
    one, last = np.uint32(1), np.uint32(len(cells) - 1)
    right_and_left = cells << one | cells >> last | cells >> one | cells << last
    beside: Rows = (right_and_left | np.roll(cells, 1, 0) | np.roll(cells, -1, 0)) & np.uint32((1 << len(cells)) - 1)
    return beside


def around(size: int) -> NDArray[np.int64]:
    """(cells, cells) for an agent in each cell, the cells around it, row by row, with its own in the middle."""
    row, column = np.divmod(np.arange(size * size), size)
    half = size // 2
    rows = (row[:, None] + row[None] - half) % size
    columns = (column[:, None] + column[None] - half) % size
    cells: NDArray[np.int64] = rows * size + columns
    return cells
