"""Grids whose cells hold things: what environments on them share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.aliases import BoolArray, Symbol
from nrm.envs.batched import Dynamics, Places, Reader
from nrm.envs.counter_rng import Words
from nrm.machines import Alphabet

Pixels = NDArray[np.uint8]
ACTIONS = ("up", "right", "down", "left")
"""The moves, by number."""
MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""The change of (x, y) by each move."""


def next_cells(width: int, height: int, toroidal: bool = False) -> NDArray[np.int64]:
    """(cells, 4) the cell that each move leads to: beyond the edge on the other side, or nowhere."""
    y, x = np.divmod(np.arange(width * height), width)
    columns = []
    for right, down in MOVES:
        to_x, to_y = x + right, y + down
        if toroidal:
            columns.append(to_y % height * width + to_x % width)
        else:
            columns.append(np.clip(to_y, 0, height - 1) * width + np.clip(to_x, 0, width - 1))
    return np.stack(columns, axis=1).astype(np.int64)


class GridDynamics(Dynamics):
    """An agent that moves by one cell, and reads what lies in the cell that it enters.

    Contents of cells are numbers; `names` has what holds at each, `nothing` is that of an empty cell.
    """

    saved = "cell"
    action_names = ACTIONS
    contents: NDArray[np.int64] | None = None
    """(1, cells) what lies where, if that is the same in every episode."""

    def __init__(self, config: Any, moves: NDArray[np.int64], names: Sequence[Symbol | None], nothing: int) -> None:
        super().__init__(config)
        self.action_space = spaces.Discrete(len(ACTIONS))
        self._moves = moves.ravel()  # to take from one row is the fastest lookup there is
        self._cells = len(moves)
        self._names = names
        self._nothing = nothing

    def move(
        self,
        places: Places,
        actions: NDArray[Any],
        keys: Words,  # noqa: ARG002
        times: NDArray[np.int64],  # noqa: ARG002
    ) -> tuple[Places, BoolArray | None]:
        return {**places, "cell": self._moves.take(places["cell"] * len(ACTIONS) + actions)}, None

    def content(self, places: Places) -> NDArray[np.int64]:
        """(n,) what lies where the agents are."""
        cell = places["cell"]
        if self.contents is not None:
            return self.contents.take(cell)
        here: NDArray[np.int64] = places["contents"].take(cell + np.arange(len(cell)) * self._cells)
        return here

    def all_contents(self, places: Places) -> NDArray[np.int64]:
        """(n, cells) what lies where."""
        shared = self.contents
        return places["contents"] if shared is None else shared.repeat(len(places["cell"]), axis=0)

    def labels(self, places: Places) -> tuple[Symbol, ...]:
        name = self._names[int(self.content(places)[0])]
        return () if name is None else (name,)

    @abstractmethod
    def contents_letters(self, alphabet: Alphabet) -> NDArray[np.int64]:
        """(contents,) the letter that is read on each content."""

    def reader(self, alphabet: Alphabet) -> Reader:
        letters = self.contents_letters(alphabet)
        return lambda places: letters.take(self.content(places))

    def scattered(self, count: int, seed: int) -> Places:
        """All cells of the only grid, or some of drawn ones: half with something, all of these equally probable."""
        if self.contents is not None:
            return {"cell": np.arange(self._cells)}
        generator = np.random.default_rng(seed)
        begun = self.begin(generator.integers(0, 1 << 62, count, dtype=np.uint64))
        contents = self.all_contents(begun)
        wanted = (np.arange(count) % 2 == 0)[:, None] == (contents != self._nothing)
        cells = np.where(wanted, generator.random(contents.shape), -1.0).argmax(1)
        return {**begun, "cell": cells}

    def text(self, way: Sequence[Places]) -> str:
        """Initials of what lies there, `@` before the place of the agent, and a legend."""
        contents, agent = self.all_contents(way[-1])[0], int(way[-1]["cell"][0])
        width, height = self.config.shape
        letters = initials(self.config.names)
        marks = {self._names.index(name): mark for name, mark in letters.items()}
        line = "+" + "--" * width + "-+"
        cells = [("@" if cell == agent else " ") + marks.get(content, ".") for cell, content in enumerate(contents)]
        rows = [f"|{''.join(cells[y * width : (y + 1) * width])} |" for y in range(height)]
        legend = "  ".join(["@ agent", *(f"{mark} {name}" for name, mark in letters.items())])
        return "\n".join([line, *rows, line, legend])


class TilePainter:
    """Puts pictures together from square tiles."""

    def __init__(self, tiles: Sequence[Pixels]) -> None:
        """`tiles`: (side, side, 3) each."""
        self._side = len(tiles[0])
        # A row of a tile is one entry, so that a single gather puts rows of cells side by side.
        self._rows = np.stack(tiles).reshape(len(tiles) * self._side, self._side * 3)

    def paint(self, numbers: NDArray[np.int64], width: int, height: int) -> Pixels:
        """(n, height * side, width * side, 3) pictures of grids (n, cells) of the numbers of tiles."""
        side, count = self._side, len(numbers)
        lines = numbers.reshape(count, height, 1, width) * side + np.arange(side)[:, None]
        pictures: Pixels = self._rows.take(lines, axis=0).reshape(count, height * side, width * side, 3)
        return pictures


def initials(names: Sequence[Symbol]) -> dict[Symbol, str]:
    """A character for each name: a letter of its own where one is free."""
    marks: dict[Symbol, str] = {}
    for name in names:
        letters = [*name.upper(), *name.lower(), *"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "?"]
        marks[name] = next(mark for mark in letters if mark == "?" or (mark.isalnum() and mark not in marks.values()))
    return marks
