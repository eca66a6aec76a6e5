"""The plane as arrays: where a move leads, what holds there, what is seen, and where episodes start."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nrm.envs.counter_rng import Words, draws
from nrm.envs.plane.config import Disc, PlaneConfig
from nrm.errors import EnvError, UnknownSymbolError
from nrm.machines import Alphabet

Places = NDArray[np.float32]
"""(n, 2) points. They are what agents see to the last bit, so an observation tells its letter."""

RAYS, REACH = 16, 2.0
"""Rays of the lidar, evenly around the point, and how far it sees."""

DIRECTIONS = ("right", "up right", "up", "up left", "left", "down left", "down", "down right", "stay")
"""The discrete actions, by number; of eight the last is left out."""


class Geometry:
    """The arithmetic of one configuration, for any number of points at once.

    Only operations that treat every point alike are used, so one point and a batch of them agree to the last bit.
    """

    def __init__(self, config: PlaneConfig) -> None:
        self.config = config
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

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one observation."""
        config = self.config
        return (2,) if config.observation == "position" else (len(config.names) * RAYS,)

    def limits(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The lowest and the highest observation; one that leaves the bounds does so by one move."""
        if self.config.observation == "lidar":
            return np.zeros(self.shape, dtype=np.float32), np.ones(self.shape, dtype=np.float32)
        beyond = 0.0 if self.config.edge == "stop" else self.config.step
        return (self._low - beyond).astype(np.float32), (self._high + beyond).astype(np.float32)

    def begin(self, keys: Words) -> Places:
        """(n, 2) where the episodes with these keys start."""
        start = self.config.start
        if start == "outside":
            return self._begin_outside(keys)
        return np.repeat(np.array([start], dtype=np.float32), len(keys), axis=0)

    def _begin_outside(self, keys: Words) -> Places:
        places = np.zeros((len(keys), 2), dtype=np.float32)
        left = np.arange(len(keys))
        for attempt in range(1_000):
            places[left] = self.scattered(_chances(draws(keys[left, None], 2 * attempt + np.arange(2))))
            left = left[self.holds(places[left]).any(1)]
            if not left.size:
                return places
        raise EnvError("the discs leave no room to start outside of them; make them smaller, or name a start")

    def scattered(self, chances: NDArray[np.float64]) -> Places:
        """(n, 2) points within the bounds, from numbers (n, 2) between 0 and 1."""
        points: NDArray[np.float64] = self._low + chances * (self._high - self._low)
        return points.astype(np.float32)

    def moved(self, places: Places, actions: NDArray[Any]) -> tuple[Places, NDArray[np.bool_]]:
        """Where actions lead, and which of them leave.

        actions: (n,) directions, or (n, 2) how far to move along each axis, from -1 to 1.
        """
        config = self.config
        ahead = places + (self._moves[actions] if actions.ndim == 1 else config.step * actions.astype(np.float64))
        if config.edge == "stop":
            return np.clip(ahead, self._low, self._high).astype(np.float32), np.zeros(len(places), dtype=np.bool_)
        return ahead.astype(np.float32), np.any((ahead < self._low) | (ahead > self._high), axis=1)

    def holds(self, places: Places) -> NDArray[np.bool_]:
        """(n, names) which discs the points are in."""
        inside = self._away(places) <= 0
        if self._one_each:
            return inside
        return np.stack([inside[:, which].any(1) for which in self._of_name], axis=1)

    def occurring(self) -> tuple[tuple[str, ...], ...]:
        """The sets of names that hold together somewhere in the plane, the empty one first.

        Every region between circles touches a point where two circles meet, or is bounded by circles that meet no
        other one: so it is enough to look there, on either side of each circle.
        """
        discs, names = self.config.placed, self.config.names
        touching = 1e-9  # points this near to a circle lie on it
        found: set[tuple[str, ...]] = {()}
        for number, one in enumerate(discs):
            points = [(one.x + one.radius, one.y)]
            for other in discs[:number] + discs[number + 1 :]:
                points += _meetings(one, other)
            for x, y in points:
                away = [math.hypot(disc.x - x, disc.y - y) - disc.radius for disc in discs]
                inside = {disc.name for disc, apart in zip(discs, away, strict=True) if apart < -touching}
                near = [disc.name for disc, apart in zip(discs, away, strict=True) if abs(apart) <= touching]
                for chosen in range(1 << len(near)):
                    held = inside | {name for bit, name in enumerate(near) if chosen >> bit & 1}
                    found.add(tuple(name for name in names if name in held))
        return tuple(sorted(found, key=lambda held: (len(held), [names.index(name) for name in held])))

    def to_border(self, places: Places) -> NDArray[np.float64]:
        """(n,) the distance to the nearest circle."""
        distance: NDArray[np.float64] = np.abs(self._away(places)).min(1)
        return distance

    def _away(self, places: Places) -> NDArray[np.float64]:
        """(n, discs) the distance to the border of each disc, negative within it."""
        across, up = self._x - places[:, :1], self._y - places[:, 1:]
        away: NDArray[np.float64] = np.sqrt(across * across + up * up) - self._radius
        return away

    def seen(self, places: Places) -> NDArray[np.float32]:
        """(n, *shape) the observations at some points."""
        return places.copy() if self.config.observation == "position" else self._lidar(places)

    def _lidar(self, places: Places) -> NDArray[np.float32]:
        across, up = (self._x - places[:, :1])[..., None], (self._y - places[:, 1:])[..., None]
        along = across * self._rays[0] + up * self._rays[1]
        half = self._radius[:, None] ** 2 - (across * across + up * up - along * along)
        reach = np.sqrt(np.maximum(half, 0.0))
        # A ray hits a disc unless it passes by, or the whole of the disc lies behind.
        met = (half >= 0) & (along + reach >= 0)
        distance = np.where(met, np.maximum(along - reach, 0.0), np.inf) / REACH
        near = distance if self._one_each else np.stack([distance[:, which].min(1) for which in self._of_name], axis=1)
        return np.minimum(near, 1.0).astype(np.float32).reshape(len(places), -1)


class Reading:
    """What a task's machine reads in the plane: letters from what holds."""

    def __init__(self, config: PlaneConfig, alphabet: Alphabet) -> None:
        """Raise `UnknownSymbolError` where the environment and the task do not speak of the same things."""
        config.check_alphabet(alphabet)
        if not alphabet.is_exclusive and config.empty is not None:
            raise UnknownSymbolError(f"with propositions, say empty=None: nothing holds in no disc, not {config.empty}")
        self._nothing = 0 if config.empty is None else alphabet.places[config.empty]
        # At most one disc holds, or every one of them is a bit: either way what holds is a sum.
        places = (alphabet.places[name] for name in config.names)
        added = [place if alphabet.is_exclusive else 1 << place for place in places]
        self._added = np.array(added, dtype=np.int64) - self._nothing
        self._alphabet = alphabet
        self._occurring = None if alphabet.occurring is None else np.array(alphabet.occurring, dtype=np.int64)

    def letters(self, holds: NDArray[np.bool_]) -> NDArray[np.int64]:
        """(n,) what is read, from which discs hold (n, names)."""
        letters: NDArray[np.int64] = self._nothing + (holds * self._added).sum(1)
        if self._occurring is None:
            return letters
        numbers = np.searchsorted(self._occurring, letters)
        if (self._occurring[np.minimum(numbers, len(self._occurring) - 1)] != letters).any():
            wrong = int(np.flatnonzero(~np.isin(letters, self._occurring))[0])
            names = [name for name, bit in self._alphabet.places.items() if letters[wrong] >> bit & 1]
            self._alphabet.letter(tuple(names), f"a point of the environment (environment {wrong})")
        return numbers


def _meetings(one: Disc, other: Disc) -> list[tuple[float, float]]:
    """The points where two circles meet or touch: none, one or two."""
    across, up = other.x - one.x, other.y - one.y
    apart = math.hypot(across, up)
    if apart == 0 or apart > one.radius + other.radius or apart < abs(one.radius - other.radius):
        return []
    along = (apart**2 + one.radius**2 - other.radius**2) / (2 * apart)
    aside = math.sqrt(max(one.radius**2 - along**2, 0.0))
    x, y = one.x + along * across / apart, one.y + along * up / apart
    return [(x - side * up / apart, y + side * across / apart) for side in {aside, -aside}]


def _chances(words: Words) -> NDArray[np.float64]:
    """Numbers from 0 up to 1."""
    return (words >> np.uint64(11)).astype(np.float64) / (1 << 53)
