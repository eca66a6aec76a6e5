"""Pictures of the plane: discs, the way so far, and the robot."""

from __future__ import annotations

import colorsys

import numpy as np
from numpy.typing import NDArray

from nrm.envs.grids import initials
from nrm.envs.plane.config import PlaneConfig

COLOURS = {
    "red": (214, 65, 58),
    "green": (52, 152, 83),
    "blue": (58, 98, 194),
    "yellow": (232, 193, 61),
    "orange": (231, 137, 47),
    "magenta": (190, 70, 165),
    "aqua": (63, 188, 192),
}
"""Names that are colours look like themselves; others get one each."""
FLOOR, TRAIL, ROBOT = (244, 241, 234), (90, 90, 90), (25, 25, 25)


def colour(config: PlaneConfig, name: str) -> tuple[int, int, int]:
    """How a disc of a name is drawn."""
    if name in COLOURS:
        return COLOURS[name]
    others = [other for other in config.names if other not in COLOURS]
    red, green, blue = colorsys.hls_to_rgb(others.index(name) / len(others), 0.55, 0.5)
    return round(255 * red), round(255 * green), round(255 * blue)


class Painter:
    """Draws episodes of one configuration at one size."""

    def __init__(self, config: PlaneConfig, pixels: int) -> None:
        """`pixels`: the longer side of a picture."""
        left, bottom, right, top = config.bounds
        self._scale = pixels / max(right - left, top - bottom)
        self._left, self._top = left, top
        width, height = (round(self._scale * extent) for extent in (right - left, top - bottom))
        self._x = left + (np.arange(width) + 0.5) / self._scale
        self._y = top - (np.arange(height) + 0.5) / self._scale
        self._ground = np.full((height, width, 3), FLOOR, dtype=np.float64)
        for disc in config.placed:
            # Discs let what they overlap shine through.
            self._dab(self._ground, disc.x, disc.y, disc.radius, colour(config, disc.name), 0.75)

    def paint(self, trail: NDArray[np.float32]) -> NDArray[np.uint8]:
        """(height, width, 3) the plane with a robot that came along `trail` (n, 2)."""
        picture = self._ground.copy()
        for x, y in trail[:-1]:
            self._dab(picture, float(x), float(y), 2.0 / self._scale, TRAIL, 0.7)
        self._dab(picture, float(trail[-1, 0]), float(trail[-1, 1]), 7.0 / self._scale, ROBOT, 1.0)
        return picture.round().astype(np.uint8)

    def _dab(
        self, picture: NDArray[np.float64], x: float, y: float, radius: float, paint: tuple[int, ...], share: float
    ) -> None:
        """Draw a disc with a soft edge of one pixel; what lies outside of the picture is left out."""
        reach = radius + 1 / self._scale
        columns = np.flatnonzero(np.abs(self._x - x) <= reach)
        rows = np.flatnonzero(np.abs(self._y - y) <= reach)
        if not columns.size or not rows.size:
            return
        part = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        away = np.hypot(self._x[part[1]][None, :] - x, self._y[part[0]][:, None] - y)
        cover = (share * np.clip((radius - away) * self._scale + 0.5, 0.0, 1.0))[..., None]
        picture[part] = (1 - cover) * picture[part] + cover * np.array(paint)


def text(config: PlaneConfig, place: NDArray[np.float32], width: int = 48) -> str:
    """The plane for a terminal: initials in the discs, `@` for the robot, and a legend."""
    left, bottom, right, top = config.bounds
    height = max(1, round(width * (top - bottom) / (right - left) / 2))  # characters are twice as high as wide
    x = left + (np.arange(width) + 0.5) * (right - left) / width
    y = top - (np.arange(height) + 0.5) * (top - bottom) / height
    marks = np.full((height, width), " ")
    letters = initials(config.names)
    for disc in config.placed:
        marks[np.hypot(x[None, :] - disc.x, y[:, None] - disc.y) <= disc.radius] = letters[disc.name]
    marks[np.abs(y - place[1]).argmin(), np.abs(x - place[0]).argmin()] = "@"
    line = "+" + "-" * width + "+"
    rows = ["|" + "".join(row) + "|" for row in marks]
    legend = "  ".join(["@ robot", *(f"{mark} {name}" for name, mark in letters.items())])
    return "\n".join([line, *rows, line, legend])
