"""Letters that a machine treats alike are one symbol."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nrm.inference.hypothesis import IDLE
from nrm.inference.merging import UNSEEN


def alike(
    table: NDArray[np.int64], seen: NDArray[np.int64], letters: tuple[int, ...], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Symbols (count,) of all letters, and the complete table (states, count) that follows from them.

    `table`: (states, letters that count) with open transitions; `seen`: how often each was taken. Two letters are one
    symbol when no state tells them apart and some move is common to both. An open transition is that of a letter alike,
    else it does nothing; letters that do not count are idle.
    """
    states = len(table)
    stay = np.arange(states)
    classes: list[list[int]] = []
    columns: list[NDArray[np.int64]] = []
    # Letters with the most evidence first: they are told apart best.
    for place in sorted(range(len(letters)), key=lambda one: (-int(seen[:, one].sum()), one)):
        column = table[:, place]
        best, most = -1, 0
        for number, known in enumerate(columns):
            both = (known != UNSEEN) & (column != UNSEEN)
            if (known[both] != column[both]).any():
                continue
            common = int((both & (column != stay)).sum())
            if common > most:
                best, most = number, common
        if best < 0:
            classes.append([place])
            columns.append(column.copy())
        else:
            classes[best].append(place)
            columns[best] = np.where(columns[best] == UNSEEN, column, columns[best])
    symbols = np.full(count, IDLE, dtype=np.int64)
    whole = np.repeat(stay[:, None], count, 1)
    # Symbols are numbered by their first letter.
    order = sorted(range(len(classes)), key=lambda number: min(letters[place] for place in classes[number]))
    for symbol, number in enumerate(order, IDLE + 1):
        for place in classes[number]:
            symbols[letters[place]] = symbol
            whole[:, letters[place]] = np.where(columns[number] == UNSEEN, stay, columns[number])
    return symbols, whole
