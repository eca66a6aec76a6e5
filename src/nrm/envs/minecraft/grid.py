"""The grid as tables: where a move leads, what lies where, and how places are drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import IntArray
from nrm.envs.counter_rng import Words, draws, words
from nrm.envs.minecraft.config import MinecraftConfig
from nrm.errors import UnknownSymbolError, listing, suggestion
from nrm.machines import Alphabet

_SLIP_COUNTER = np.uint64(1 << 32)
"""Draws of places count from 0, one for each cell; draws of slips count from here, one for each step."""


class Episodes(NamedTuple):
    """The beginnings of n episodes."""

    start: NDArray[np.int64]
    """(n,) the number of the cell where the agent starts."""
    contents: NDArray[np.int64]
    """(n, cells) what lies in each cell: 0 for nothing, i for the i-th name of the configuration."""


def coordinates(config: MinecraftConfig) -> NDArray[np.float32]:
    """(cells, 2) the x and y of each cell, from 0 and not scaled: the map observation."""
    y, x = np.divmod(np.arange(config.cells), config.shape[0])
    return np.stack([x, y], axis=1).astype(np.float32)


def begin(config: MinecraftConfig, keys: Words) -> Episodes:
    """Draw where everything is at the start of the episodes with these keys.

    One order of the cells is drawn for each episode; the agent takes the first, the items to be drawn the next ones.
    """
    contents = np.zeros((len(keys), config.cells), dtype=np.int64)
    order_by = (draws(keys[:, None], np.arange(config.cells)) >> np.uint64(1)).astype(np.int64)
    waiting = []
    for name, cell in config.placements:
        content = config.names.index(name) + 1
        if cell is None:
            waiting.append(content)
        else:
            contents[:, config.number(cell)] = content
            order_by[:, config.number(cell)] = np.iinfo(np.int64).max
    if config.start_cell is not None:
        order_by[:, config.number(config.start_cell)] = -1
    order = np.argsort(order_by, axis=1, kind="stable")
    if waiting:
        np.put_along_axis(contents, order[:, 1 : 1 + len(waiting)], np.array(waiting), axis=1)
    return Episodes(order[:, 0].astype(np.int64), contents)


def settled(config: MinecraftConfig, seed: int) -> MinecraftConfig:
    """The configuration with its items put where this seed draws them."""
    contents = begin(config, words([seed])).contents[0]
    width = config.shape[0]
    cells = sorted(np.flatnonzero(contents).tolist(), key=lambda cell: contents[cell])
    items = tuple(f"{config.names[contents[cell] - 1]}@{cell % width},{cell // width}" for cell in cells)
    return replace(config, items=items, layout="fixed")


def slipped(
    config: MinecraftConfig, keys: Words, steps: NDArray[np.int64], actions: NDArray[np.int64]
) -> NDArray[np.int64]:
    """(n,) the moves that happen at these steps (from 0) of the episodes with these keys, when `actions` are chosen."""
    drawn = draws(keys, steps.astype(np.uint64) + _SLIP_COUNTER)
    chance = (drawn >> np.uint64(11)).astype(np.float64) / (1 << 53)
    return np.where(chance < config.slip, (drawn & np.uint64(3)).astype(np.int64), actions)


def letters_of_contents(config: MinecraftConfig, alphabet: Alphabet) -> IntArray:
    """(1 + names,) the letter that is read on an empty cell, and on each item."""
    for name in config.names:
        if name not in alphabet.symbols:
            raise UnknownSymbolError(
                f"item '{name}' of the environment is no symbol of the task{suggestion(name, alphabet.symbols)} "
                f"(symbols: {listing(alphabet.symbols)}). Compile the task over all items, or rename the item"
            )
    if config.empty is None:
        if alphabet.is_exclusive:
            raise UnknownSymbolError(
                "in an exclusive alphabet one symbol holds at every step, also on an empty cell: name it with "
                f"empty=… (symbols: {listing(alphabet.symbols)})"
            )
        nothing = alphabet.letter(())
    elif config.empty not in alphabet.symbols:
        advice = (
            "compile the task with that symbol, or say which one means 'nothing here' with empty=…"
            if alphabet.is_exclusive
            else "with propositions, say empty=None: nothing holds on an empty cell"
        )
        raise UnknownSymbolError(
            f"an empty cell reads '{config.empty}', which is no symbol of the task "
            f"(symbols: {listing(alphabet.symbols)}); {advice}"
        )
    else:
        nothing = alphabet.letter(config.empty)
    return np.array([nothing, *(alphabet.letter(name) for name in config.names)], dtype=np.int32)
