"""Pictures of the grid: every cell is gathered from a small table of tiles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nrm.envs.minecraft.config import MinecraftConfig
from nrm.envs.minecraft.sprites import EDGE, Pixels, scaled, tiles


class Painter:
    """Draws grids of one configuration at one size."""

    def __init__(self, config: MinecraftConfig, pixels: int) -> None:
        """`pixels`: the side of a picture. What a whole number of pixels a cell leaves over becomes a margin."""
        self._shape = config.shape
        self._pixels = pixels
        self._side = pixels // max(config.shape)
        scaled_tiles = [scaled(tile, self._side) for pair in tiles(config.names) for tile in pair]
        # A row of a tile is one entry, so that a single gather puts rows of cells side by side.
        self._rows = np.stack(scaled_tiles).reshape(len(scaled_tiles) * self._side, self._side * 3)
        height, width = self._shape[1] * self._side, self._shape[0] * self._side
        self._top, self._left = (pixels - height) // 2, (pixels - width) // 2
        self._height, self._width = height, width

    def paint(self, contents: NDArray[np.int64], agents: NDArray[np.int64]) -> Pixels:
        """(n, pixels, pixels, 3) pictures. contents: (n, cells); agents: (n,) the number of the agent's cell."""
        count = len(agents)
        numbers = contents * 2
        numbers[np.arange(count), agents] += 1
        width, height = self._shape
        lines = numbers.reshape(count, height, 1, width) * self._side + np.arange(self._side)[:, None]
        pictures = self._rows.take(lines, axis=0).reshape(count, self._height, self._width, 3)
        if self._height == self._width == self._pixels:
            return pictures
        canvas = np.empty((count, self._pixels, self._pixels, 3), dtype=np.uint8)
        canvas[:] = EDGE
        canvas[:, self._top : self._top + self._height, self._left : self._left + self._width] = pictures
        return canvas


def text(config: MinecraftConfig, contents: NDArray[np.int64], agent: int) -> str:
    """The grid for a terminal: initials of the items, `@` before the place of the agent, and a legend."""
    width, height = config.shape
    marks = _marks(config)
    lines = ["+" + "--" * width + "-+"]
    for y in range(height):
        row = ""
        for x in range(width):
            cell = y * width + x
            mark = marks[int(contents[cell])]
            row += ("@" if cell == agent else " ") + mark
        lines.append(f"|{row} |")
    lines.append(lines[0])
    lines.append("  ".join(["@ agent", *(f"{marks[i + 1]} {name}" for i, name in enumerate(config.names))]))
    return "\n".join(lines)


def _marks(config: MinecraftConfig) -> list[str]:
    """A character for an empty cell, and one for each name: a letter of its own where one is free."""
    marks = ["."]
    for name in config.names:
        letters = [*name.upper(), *name.lower(), *"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "?"]
        marks.append(next(letter for letter in letters if letter == "?" or (letter.isalnum() and letter not in marks)))
    return marks
