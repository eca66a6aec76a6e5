"""Pictures of letters: 8x8 pixels a cell, 5x7 for a letter, drawn here."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from nrm.envs.grids import TilePainter
from nrm.envs.letter.config import LetterConfig

GROUND, EDGE, INK, HERE = (240, 236, 226), (222, 214, 198), (44, 52, 72), (255, 190, 92)

_FONT = np.array(files("nrm.envs.letter").joinpath("font.txt").read_text().split(), dtype=np.int64).reshape(26, 7)
"""(26, 7) the seven rows of each letter, the five pixels of each as a number."""


class LetterPainter:
    """Draws what agents see of grids of one configuration."""

    def __init__(self, config: LetterConfig, scale: int = 1) -> None:
        """`scale`: how many pixels a pixel becomes."""
        self._size = config.size
        letters = [*range(config.letters), None]
        self._here = len(letters)
        tiles = [_tile(letter, ground) for ground in (GROUND, HERE) for letter in letters]
        self._painter = TilePainter([tile.repeat(scale, axis=0).repeat(scale, axis=1) for tile in tiles])

    def paint(self, seen: NDArray[np.int64]) -> NDArray[np.uint8]:
        """(n, pixels, pixels, 3) pictures of what agents see around them: (n, cells), their own cell in the middle."""
        size = self._size
        numbers = seen.copy()
        numbers[:, (size // 2) * size + size // 2] += self._here
        return self._painter.paint(numbers, size, size)


def _tile(letter: int | None, ground: tuple[int, int, int]) -> NDArray[np.uint8]:
    """(8, 8, 3) one cell: a line above and on the left, and the letter."""
    tile = np.empty((8, 8, 3), dtype=np.uint8)
    tile[:] = EDGE
    tile[1:, 1:] = ground
    if letter is not None:
        rows = _FONT[letter][:, None] >> np.arange(4, -1, -1) & 1
        tile[1:8, 2:7][rows.astype(np.bool_)] = INK
    return tile
