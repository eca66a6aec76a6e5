"""The pictures of items and of the agent: 16x16 pixels each."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nrm.envs.grids import Pixels, TilePainter

if TYPE_CHECKING:
    from nrm.envs.minecraft.env import MinecraftConfig

SIDE = 16
GROUND = (222, 214, 190)
EDGE = (198, 188, 160)
"""The colours of an empty cell and of the lines between cells."""

_COLOURS = {
    "#": (45, 42, 50),
    "g": (110, 118, 130),
    "w": (208, 216, 226),
    "b": (140, 88, 44),
    "B": (96, 58, 28),
    "c": (64, 200, 230),
    "C": (20, 130, 190),
    "h": (215, 248, 255),
    "y": (250, 205, 60),
    "r": (208, 48, 28),
    "o": (246, 128, 32),
    "s": (240, 190, 150),
    "p": (98, 50, 170),
    "P": (142, 92, 214),
}


_ART = dict(
    part.strip().split("\n", 1)
    for part in files("nrm.envs.minecraft").joinpath("sprites.txt").read_text(encoding="utf-8").split("\n\n")
)
"""Pictures of items and of the agent, a character a pixel."""
_KNOWN = ("pickaxe", "gem", "door", "lava")


def tiles(names: Sequence[str]) -> list[tuple[Pixels, Pixels]]:
    """For an empty cell and for each name its tile, without and with the agent; unknown names get shapes."""
    others = [name for name in names if name not in _KNOWN]
    numbers = {name: others.index(name) if name in others else 0 for name in names}
    contents = [(None, 0), *numbers.items()]
    return [(_tile(name, number, False), _tile(name, number, True)) for name, number in contents]


def _tile(content: str | None, other: int = 0, agent: bool = False) -> Pixels:
    """(16, 16, 3) a cell: empty or with an item, with or without the agent, who leaves most of the item in sight.

    Items that have no picture here get a shape and a colour by their number among such items, `other`.
    """
    pixels = np.full((SIDE, SIDE, 3), GROUND, dtype=np.uint8)
    if content in _KNOWN:
        _paste(pixels, _ART[content], (0, 0))
    elif content is not None:
        inside, rim = _shape(other)
        pixels[rim] = _COLOURS["#"]
        pixels[inside] = _colour(other)
    pixels[-1, :] = pixels[:, -1] = EDGE
    if agent:
        # In the middle of an empty cell, in the corner beside an item.
        _paste(pixels, _ART["agent"], (2, 4) if content is None else (5, 8))
    return pixels


def scaled(pixels: Pixels, side: int) -> Pixels:
    """A tile with another side: each new pixel is the mean of the area under it."""
    # How much of each old row lies under each new one, as shares that sum to 1.
    edges = np.arange(side + 1) * SIDE / side
    old = np.arange(SIDE)
    overlap = np.minimum(edges[1:, None], old + 1) - np.maximum(edges[:-1, None], old)
    shares = np.clip(overlap, 0, None) * side / SIDE
    means: NDArray[np.float64] = np.einsum("ri,cj,ijk->rck", shares, shares, pixels, optimize=True)
    return np.rint(means).astype(np.uint8)


def _paste(pixels: Pixels, art: str, corner: tuple[int, int]) -> None:
    for row, line in enumerate(art.split(), start=corner[0]):
        for column, mark in enumerate(line, start=corner[1]):
            if mark != ".":
                pixels[row, column] = _COLOURS[mark]


def _shape(number: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(16, 16) the inside and the rim of a shape: disc, square, triangle, diamond, cross, ring or bars."""
    rows, columns = np.mgrid[:SIDE, :SIDE] - (SIDE - 2) / 2
    far = np.maximum(abs(rows), abs(columns))
    round_ = np.hypot(rows, columns)
    distance = (
        round_ - 4.6,
        far - 4.2,
        np.maximum(rows - 4.2, abs(columns) * 1.8 - rows - 5.0),
        abs(rows) + abs(columns) - 5.6,
        np.maximum(np.minimum(abs(rows), abs(columns)) - 1.6, far - 5.2),
        abs(round_ - 4.0) - 1.6,
        np.maximum(far - 5.2, 1.6 - abs(rows)),
    )[number % 7]
    return distance <= 0, distance <= 1.2


def _colour(number: int) -> tuple[int, int, int]:
    """Colours that stay apart however many are asked for: hues a golden angle from one another."""
    red, green, blue = colorsys.hsv_to_rgb((0.33 + number * 0.618034) % 1.0, 0.75, 0.85 - 0.25 * (number % 2))
    return round(red * 255), round(green * 255), round(blue * 255)


class Painter:
    """Draws grids of one configuration at one size."""

    def __init__(self, config: MinecraftConfig, pixels: int) -> None:
        """`pixels`: the side of a picture. What a whole number of pixels a cell leaves over becomes a margin."""
        self._width, self._height = config.shape
        self._side = pixels // max(config.shape)
        self._painter = TilePainter([scaled(tile, self._side) for pair in tiles(config.names) for tile in pair])
        self._pixels = pixels

    def paint(self, contents: NDArray[np.int64], agents: NDArray[np.int64]) -> Pixels:
        """(n, pixels, pixels, 3) pictures. contents: (n, cells); agents: (n,) the number of the agent's cell."""
        numbers = contents * 2
        numbers[np.arange(len(agents)), agents] += 1
        pictures = self._painter.paint(numbers, self._width, self._height)
        if pictures.shape[1:3] == (self._pixels, self._pixels):
            return pictures
        canvas = np.empty((len(agents), self._pixels, self._pixels, 3), dtype=np.uint8)
        canvas[:] = EDGE
        high, wide = pictures.shape[1:3]
        top, left = (self._pixels - high) // 2, (self._pixels - wide) // 2
        canvas[:, top : top + high, left : left + wide] = pictures
        return canvas
