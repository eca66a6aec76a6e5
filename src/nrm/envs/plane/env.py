"""The environment of discs: how it moves and looks."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.aliases import BoolArray, Symbol
from nrm.envs.batched import Dynamics, Places, Reader
from nrm.envs.counter_rng import Words
from nrm.envs.grids import initials
from nrm.envs.plane.config import PlaneConfig
from nrm.envs.plane.geometry import DIRECTIONS, Geometry, Reading
from nrm.envs.single import SingleEnv
from nrm.machines import Alphabet
from nrm.observations import ObservationSpec

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


class PlaneDynamics(Dynamics):
    """A point among discs."""

    saved = "place"
    config: PlaneConfig

    def __init__(self, config: PlaneConfig) -> None:
        super().__init__(config)
        self.geometry = Geometry(config)
        low, high = self.geometry.limits()
        self.observation_space = spaces.Box(low, high, dtype=np.float32)
        self.action_names = DIRECTIONS[: config.directions]
        self.action_space = spaces.Discrete(config.directions)
        if config.actions == "continuous":
            self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)

    @cached_property
    def spec(self) -> ObservationSpec:  # type: ignore[override]
        """Numbers."""
        return ObservationSpec(self.geometry.shape, torch.float32)

    def begin(self, keys: Words) -> Places:
        """Points."""
        return {"place": self.geometry.begin(keys)}

    def move(
        self,
        places: Places,
        actions: NDArray[Any],
        keys: Words,  # noqa: ARG002
        times: NDArray[np.int64],  # noqa: ARG002
    ) -> tuple[Places, BoolArray | None]:
        """One step on."""
        place, left = self.geometry.moved(places["place"], actions)
        return {"place": place}, left

    def observe(self, places: Places) -> NDArray[Any]:
        """Positions, or what the lidar sees."""
        return self.geometry.seen(places["place"])

    def labels(self, places: Places) -> tuple[Symbol, ...]:
        """The names of the discs that the first point is in, or of no disc."""
        inside = self.geometry.holds(places["place"])[0]
        names = tuple(name for name, holds in zip(self.config.names, inside, strict=True) if holds)
        return names or (() if self.config.empty is None else (self.config.empty,))

    def reader(self, alphabet: Alphabet) -> Reader:
        """Letters from the discs that hold."""
        reading = Reading(self.config, alphabet)
        return lambda places: reading.letters(self.geometry.holds(places["place"]))

    def scattered(self, count: int, seed: int) -> tuple[Places, NDArray[np.float64], float]:
        """Points drawn evenly from within the bounds, and how far the nearest circle is."""
        place = self.geometry.scattered(np.random.default_rng(seed).random((count, 2)))
        return {"place": place}, self.geometry.to_border(place), self.config.step / 2

    def picture(self, way: Sequence[Places]) -> NDArray[np.uint8]:
        """The plane and the way so far, its longer side 512 pixels."""
        return self._painter.paint(np.concatenate([places["place"] for places in way]))

    def text(self, way: Sequence[Places]) -> str:
        """Initials in the discs, and a legend."""
        return text(self.config, way[-1]["place"][0])

    @cached_property
    def _painter(self) -> Painter:
        return Painter(self.config, 512)


class PlaneEnv(SingleEnv):
    """A point that moves in a plane with coloured discs.

    A robot, one point, moves in a rectangle among discs of several colours. The environment itself has no goal: put a
    task on it with `nrm.TaskEnv(env, machine)`, which reads the discs that the robot is in.

    - Actions: `"discrete"`, `Discrete(8)`, a step of 0.1 to the right (0) and on against the clock by 45 degrees; with
      `directions=9` the last is to stay. `"continuous"`, how many steps to move along each axis, `Box(-1, 1, (2,))`.
    - Observations: `"position"`, x and y, `Box(2,) float32`. `"lidar"`, for each name and ray the distance to the
      nearest disc of that name, up to 2, as a share of that, `Box(0, 1, (names * 16,)) float32`: 1 where there is none.
      Within a disc all its rays are 0, so that one observation tells what holds.
    - Rewards: 0 at every step; a task pays.
    - Start: at a point, or anywhere outside of all discs.
    - End: with `edge="stop"` never by itself, moves stop at the bounds; with `edge="end"` when a move leaves them.
      Truncated after `steps` steps (100). A task may end the episode before.
    - Info: `labels`, the names of the discs that the robot is in, or `empty` where it is in none.
    - Options: the fields of `PlaneConfig`, as in `gymnasium.make("nrm/Plane-v0", observation="lidar")`, and
      `render_mode`: `rgb_array` or `ansi`.
    """

    config_class = PlaneConfig
