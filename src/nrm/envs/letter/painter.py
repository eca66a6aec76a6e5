"""Pictures of letters: 8x8 pixels a cell, 5x7 for a letter, drawn here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nrm.envs.grids import TilePainter
from nrm.envs.letter.config import LetterConfig

GROUND, EDGE, INK, HERE = (240, 236, 226), (222, 214, 198), (44, 52, 72), (255, 190, 92)

# Seven rows for each letter from a on, each of five pixels as a number.
_ROWS = (
    (14, 17, 17, 31, 17, 17, 17),
    (30, 17, 17, 30, 17, 17, 30),
    (14, 17, 16, 16, 16, 17, 14),
    (30, 17, 17, 17, 17, 17, 30),
    (31, 16, 16, 30, 16, 16, 31),
    (31, 16, 16, 30, 16, 16, 16),
    (14, 17, 16, 23, 17, 17, 14),
    (17, 17, 17, 31, 17, 17, 17),
    (31, 4, 4, 4, 4, 4, 31),
    (15, 2, 2, 2, 2, 18, 12),
    (17, 18, 20, 24, 20, 18, 17),
    (16, 16, 16, 16, 16, 16, 31),
    (17, 27, 21, 21, 17, 17, 17),
    (17, 25, 21, 19, 17, 17, 17),
    (14, 17, 17, 17, 17, 17, 14),
    (30, 17, 17, 30, 16, 16, 16),
    (14, 17, 17, 17, 21, 18, 13),
    (30, 17, 17, 30, 20, 18, 17),
    (15, 16, 16, 14, 1, 1, 30),
    (31, 4, 4, 4, 4, 4, 4),
    (17, 17, 17, 17, 17, 17, 14),
    (17, 17, 17, 17, 17, 10, 4),
    (17, 17, 17, 21, 21, 27, 17),
    (17, 17, 10, 4, 10, 17, 17),
    (17, 17, 10, 4, 4, 4, 4),
    (31, 1, 2, 4, 8, 16, 31),
)


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
        rows = np.array(_ROWS[letter])[:, None] >> np.arange(4, -1, -1) & 1
        tile[1:8, 2:7][rows.astype(np.bool_)] = INK
    return tile
