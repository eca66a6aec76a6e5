"""The environment of discs: how it moves and looks."""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, Protocol, TypeAlias

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.aliases import BoolArray, Symbol
from nrm.envs.batched import Dynamics, Places, Reader, SingleEnv
from nrm.envs.counter_rng import Words, draws
from nrm.envs.grids import initials
from nrm.envs.plane.config import Disc, PlaneConfig
from nrm.envs.registry import OwnEnvConfig
from nrm.errors import EnvError, UnknownSymbolError
from nrm.machines import Alphabet
from nrm.observations import ObservationSpec

Points: TypeAlias = NDArray[np.float32]
RAYS, REACH = 16, 2.0
"""Rays of the lidar, evenly around the point, and how far it sees."""
DIRECTIONS = ("right", "up right", "up", "up left", "left", "down left", "down", "down right", "stay")
"""The discrete actions, by number; of eight the last is left out."""
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


class Scene(Protocol):
    """What a picture needs to know of a plane."""

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Left, bottom, right and top."""

    @property
    def placed(self) -> tuple[Disc, ...]:
        """The discs."""

    @property
    def names(self) -> tuple[Symbol, ...]:
        """What they are called."""


def colour(scene: Scene, name: str) -> tuple[int, int, int]:
    """How a disc of a name is drawn."""
    if name in COLOURS:
        return COLOURS[name]
    others = [other for other in scene.names if other not in COLOURS]
    red, green, blue = colorsys.hls_to_rgb(others.index(name) / len(others), 0.55, 0.5)
    return round(255 * red), round(255 * green), round(255 * blue)


class Painter:
    """Draws what happens in one plane at one size."""

    def __init__(self, scene: Scene, pixels: int) -> None:
        """`pixels`: the longer side of a picture."""
        left, bottom, right, top = scene.bounds
        self._scale = pixels / max(right - left, top - bottom)
        self._left, self._top = left, top
        width, height = (round(self._scale * extent) for extent in (right - left, top - bottom))
        self._x = left + (np.arange(width) + 0.5) / self._scale
        self._y = top - (np.arange(height) + 0.5) / self._scale
        self._ground = np.full((height, width, 3), FLOOR, dtype=np.float64)
        for disc in scene.placed:
            # Discs let what they overlap shine through.
            self._dab(self._ground, disc.x, disc.y, disc.radius, colour(scene, disc.name), 0.75)

    def paint(self, trail: NDArray[Any]) -> NDArray[np.uint8]:
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


def text(scene: Scene, place: NDArray[Any], width: int = 48) -> str:
    """The plane for a terminal: initials in the discs, `@` for the robot, and a legend."""
    left, bottom, right, top = scene.bounds
    height = max(1, round(width * (top - bottom) / (right - left) / 2))  # characters are twice as high as wide
    x = left + (np.arange(width) + 0.5) * (right - left) / width
    y = top - (np.arange(height) + 0.5) * (top - bottom) / height
    marks = np.full((height, width), " ")
    letters = initials(scene.names)
    for disc in scene.placed:
        marks[np.hypot(x[None, :] - disc.x, y[:, None] - disc.y) <= disc.radius] = letters[disc.name]
    marks[np.abs(y - place[1]).argmin(), np.abs(x - place[0]).argmin()] = "@"
    line = "+" + "-" * width + "+"
    rows = ["|" + "".join(row) + "|" for row in marks]
    legend = "  ".join(["@ robot", *(f"{mark} {name}" for name, mark in letters.items())])
    return "\n".join([line, *rows, line, legend])


class PlaneDynamics(Dynamics):
    """A point among discs.

    Only operations that treat every point alike are used, so one point and a batch of them agree to the last bit.
    Points (n, 2) float32 are what agents see to the last bit, so an observation tells its letter.
    """

    saved = "place"
    config: PlaneConfig

    def __init__(self, config: PlaneConfig) -> None:
        super().__init__(config)
        discs = config.placed
        self._x, self._y, self._radius = (np.array([disc[part] for disc in discs]) for part in (1, 2, 3))
        self._of_name = [[place for place, disc in enumerate(discs) if disc.name == name] for name in config.names]
        self._one_each = len(discs) == len(config.names)
        angles = np.arange(8) * (np.pi / 4)
        circle = np.round(np.stack([np.cos(angles), np.sin(angles)], axis=1), 12)
        self._moves = np.concatenate([circle, np.zeros((1, 2))])[: config.directions] * config.step
        turns = np.arange(RAYS) * (2 * np.pi / RAYS)
        self._rays = np.cos(turns), np.sin(turns)
        self._low, self._high = (np.array(config.bounds[part : part + 2]) for part in (0, 2))
        self.action_names = DIRECTIONS[: config.directions]
        self.action_space = spaces.Discrete(config.directions)
        if config.actions == "continuous":
            self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        beyond = 0.0 if config.edge == "stop" else config.step  # one that leaves the bounds does so by one move
        low, high = (self._low - beyond).astype(np.float32), (self._high + beyond).astype(np.float32)
        self.observation_space = spaces.Box(low, high, dtype=np.float32)
        if config.observation == "lidar":
            self.observation_space = spaces.Box(0.0, 1.0, (len(config.names) * RAYS,), np.float32)
        self.spec = ObservationSpec(self.observation_space.shape or (), torch.float32)

    def begin(self, keys: Words) -> Places:
        if self.config.start == "outside":
            return {"place": self._outside(keys)}
        return {"place": np.repeat(np.array([self.config.start], dtype=np.float32), len(keys), axis=0)}

    def _outside(self, keys: Words) -> Points:
        places = np.zeros((len(keys), 2), dtype=np.float32)
        left = np.arange(len(keys))
        for attempt in range(1_000):
            drawn = draws(keys[left, None], 2 * attempt + np.arange(2))
            places[left] = self._within((drawn >> np.uint64(11)).astype(np.float64) / (1 << 53))
            left = left[self.holds(places[left]).any(1)]
            if not left.size:
                return places
        raise EnvError("the discs leave no room to start outside of them; make them smaller, or name a start")

    def _within(self, chances: NDArray[np.float64]) -> Points:
        """Points within the bounds, from numbers (n, 2) between 0 and 1."""
        points: NDArray[np.float64] = self._low + chances * (self._high - self._low)
        return points.astype(np.float32)

    def move(
        self,
        places: Places,
        actions: NDArray[Any],
        keys: Words,  # noqa: ARG002
        times: NDArray[np.int64],  # noqa: ARG002
    ) -> tuple[Places, BoolArray | None]:
        """One step on, by directions (n,) or by how far to move along each axis (n, 2), from -1 to 1."""
        config = self.config
        step = self._moves[actions] if actions.ndim == 1 else config.step * actions.astype(np.float64)
        ahead = places["place"] + step
        if config.edge == "stop":
            return {"place": np.clip(ahead, self._low, self._high).astype(np.float32)}, None
        return {"place": ahead.astype(np.float32)}, np.any((ahead < self._low) | (ahead > self._high), axis=1)

    def observe(self, places: Places) -> NDArray[Any]:
        points: Points = places["place"]
        if self.config.observation == "position":
            return points.copy()
        across, up = (self._x - points[:, :1])[..., None], (self._y - points[:, 1:])[..., None]
        along = across * self._rays[0] + up * self._rays[1]
        half = self._radius[:, None] ** 2 - (across * across + up * up - along * along)
        reach = np.sqrt(np.maximum(half, 0.0))
        # A ray hits a disc unless it passes by, or the whole of the disc lies behind.
        met = (half >= 0) & (along + reach >= 0)
        distance = np.where(met, np.maximum(along - reach, 0.0), np.inf) / REACH
        near = distance if self._one_each else np.stack([distance[:, which].min(1) for which in self._of_name], axis=1)
        return np.minimum(near, 1.0).astype(np.float32).reshape(len(points), -1)

    def holds(self, points: Points) -> BoolArray:
        """(n, names) which discs the points are in."""
        inside = self.away(points) <= 0
        if self._one_each:
            return inside
        return np.stack([inside[:, which].any(1) for which in self._of_name], axis=1)

    def away(self, points: Points) -> NDArray[np.float64]:
        """(n, discs) the distance to the border of each disc, negative within it."""
        across, up = self._x - points[:, :1], self._y - points[:, 1:]
        away: NDArray[np.float64] = np.sqrt(across * across + up * up) - self._radius
        return away

    def labels(self, places: Places) -> tuple[Symbol, ...]:
        return disc_labels(self.config, self.holds(places["place"])[0])

    def reader(self, alphabet: Alphabet) -> Reader:
        return disc_reader(self.config, alphabet, lambda places: self.holds(places["place"]))

    def scattered(self, count: int, seed: int) -> Places:
        """Points drawn evenly from within the bounds."""
        return {"place": self._within(np.random.default_rng(seed).random((count, 2)))}

    def picture(self, way: Sequence[Places]) -> NDArray[np.uint8]:
        return self._painter.paint(np.concatenate([places["place"] for places in way]))

    def text(self, way: Sequence[Places]) -> str:
        return text(self.config, way[-1]["place"][0])

    @cached_property
    def _painter(self) -> Painter:
        return Painter(self.config, 512)


def disc_labels(config: OwnEnvConfig, inside: BoolArray) -> tuple[Symbol, ...]:
    """What holds in the discs `inside` (names,) which the robot is."""
    names = tuple(name for name, holds in zip(config.names, inside, strict=True) if holds)
    return names or (() if config.empty is None else (config.empty,))


def disc_reader(config: OwnEnvConfig, alphabet: Alphabet, holds: Callable[[Places], BoolArray]) -> Reader:
    """What a task over an alphabet reads; `holds`: (n, names) which discs the robot is in.

    At most one disc holds, or every one of them is a bit: either way what holds is a sum.
    """
    config.check_alphabet(alphabet)
    empty = alphabet.nothing(config.empty)
    if config.empty is not None and config.empty not in empty:
        raise UnknownSymbolError(f"with propositions, say empty=None: nothing holds in no disc, not {config.empty}")
    nothing = sum(map(alphabet.weight, empty))
    added = np.array([alphabet.weight(name) for name in config.names]) - nothing

    def letters(places: Places) -> NDArray[np.int64]:
        sums: NDArray[np.int64] = nothing + (holds(places) * added).sum(1)
        return sums

    if alphabet.occurring is None:
        return letters
    return partial(_numbered, alphabet, np.array(alphabet.occurring, dtype=np.int64), letters)


def _numbered(alphabet: Alphabet, occurring: NDArray[np.int64], read: Reader, places: Places) -> NDArray[np.int64]:
    """(n,) the letters of an alphabet of the sets that occur, from bits."""
    letters = read(places)
    numbers = np.searchsorted(occurring, letters)
    if (occurring[np.minimum(numbers, len(occurring) - 1)] != letters).any():
        wrong = int(np.flatnonzero(~np.isin(letters, occurring))[0])
        names = [name for name, bit in alphabet.places.items() if letters[wrong] >> bit & 1]
        alphabet.letter(tuple(names), f"a point of the environment (environment {wrong})")
    return numbers


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
