"""A robot with lidar among coloured zones, which lie elsewhere in every episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.aliases import BoolArray, FloatArray, Symbol
from nrm.envs.batched import Dynamics, Places, Reader, SingleEnv
from nrm.envs.counter_rng import Words, chances, episode_keys, words
from nrm.envs.plane.config import Disc
from nrm.envs.plane.env import Painter, disc_labels, disc_reader, text
from nrm.envs.registry import ENVS, OwnEnvConfig, Spaces
from nrm.errors import EnvError
from nrm.machines import Alphabet
from nrm.observations import ObservationSpec

COLOURS = ("blue", "green", "magenta", "yellow")


@ENVS.register
@dataclass(frozen=True)
class ZonesConfig(OwnEnvConfig):
    """A robot with lidar among eight zones of four colours."""

    name = "zones"
    env_names = ("zones",)
    observations = ("lidar",)
    usual: ClassVar = {"steps": 1000, "observation": "lidar"}
    names = COLOURS

    each, radius, apart = 2, 0.4, 1.1
    """Zones of each colour, their radius, and the least distance of their centres, from the start, too."""
    edge, spawn = 3.3, 1.95
    """Half the side of the plane, and of the square that centres and starts lie in."""
    step, drag, force, turn, top_speed = 0.05, 0.08, 2.0, 3.0, 3.0
    """Seconds of a step, the share of speed that it costs, and what the robot can do at most."""
    bins, fading = 16, 0.5
    """Directions of the lidar, and how fast what it shows fades with the distance."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.empty is None:
            raise EnvError("at most one zone holds at a time; say what holds outside of zones: empty='empty'")

    @property
    def alphabet(self) -> Alphabet:
        return Alphabet.exclusive((*self.names, self.empty or "empty"))

    @property
    def zones(self) -> int:
        """How many there are."""
        return self.each * len(COLOURS)

    @classmethod
    def parse(cls, name: str) -> ZonesConfig | None:
        return cls() if name == "zones" else None

    def recipe(self) -> str:
        return "zones"

    def spaces(self) -> Spaces:
        found = self.dynamics()
        return Spaces(found.observation_space, found.action_space)

    def dynamics(self) -> Dynamics:
        return ZonesDynamics(self)


class Scene(NamedTuple):
    """One layout, to be drawn."""

    bounds: tuple[float, float, float, float]
    placed: tuple[Disc, ...]
    names: tuple[Symbol, ...] = COLOURS


class ZonesDynamics(Dynamics):
    """A point with a heading among zones.

    Places: `zones` (n, 8, 2) the centres, by colours; `robot` (n, 6) place, velocity, angle and turn rate. All float64.
    """

    saved = "robot"
    config: ZonesConfig
    ahead = 16
    action_names = ("force", "turn")

    def __init__(self, config: ZonesConfig) -> None:
        super().__init__(config)
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        most = np.ones(5 + len(COLOURS) * config.bins, dtype=np.float32)
        most[:5] = config.top_speed, config.top_speed, config.turn, 2 * config.edge, 2 * config.edge
        least = np.where(np.arange(len(most)) < 5, -most, 0.0).astype(np.float32)
        self.observation_space = spaces.Box(least, most, dtype=np.float32)
        self.spec = ObservationSpec(most.shape, torch.float32, sensor=(len(COLOURS), config.bins))

    def begin(self, keys: Words) -> Places:
        """Points that fit one after the other: the zones, then the start."""
        config = self.config
        points = points_apart(keys, config.zones + 1, config.spawn, config.apart)
        robot = np.zeros((len(keys), 6))
        robot[:, :2] = points[:, -1]
        robot[:, 4] = chances(keys, 0) * (2 * np.pi)
        return {"zones": points[:, :-1], "robot": robot}

    def move(
        self,
        places: Places,
        actions: NDArray[Any],
        keys: Words,  # noqa: ARG002
        times: NDArray[np.int64],  # noqa: ARG002
    ) -> tuple[Places, BoolArray | None]:
        """Push along the heading, move, then turn; actions (n, 2) are shares of the greatest force and turn rate."""
        config, robot, wanted = self.config, places["robot"], actions.astype(np.float64)
        pushed = robot[:, 2:4] + config.step * config.force * wanted[:, :1] * _heading(robot)
        speed = (1 - config.drag) * pushed
        speed = speed / np.maximum(np.sqrt((speed * speed).sum(1, keepdims=True)) / config.top_speed, 1.0)
        place = robot[:, :2] + config.step * speed
        turning = config.turn * wanted[:, 1:]
        angle = (robot[:, 4:5] + config.step * turning) % (2 * np.pi)
        moved = np.concatenate([place, speed, angle, turning], axis=1)
        return {"zones": places["zones"], "robot": moved}, (np.abs(place) > config.edge).any(1)

    def observe(self, places: Places) -> NDArray[Any]:
        """(n, 69) velocity, turn rate and the plane's middle, all as seen from the robot, then the lidar."""
        robot = places["robot"]
        heading = _heading(robot)
        own = (*_seen(robot[:, 2:4], heading), robot[:, 5], *_seen(-robot[:, :2], heading))
        return np.concatenate([np.stack(own, axis=1), self._lidar(places, heading)], axis=1).astype(np.float32)

    def _lidar(self, places: Places, heading: FloatArray) -> FloatArray:
        """(n, colours * bins) how near the nearest zone of each colour is, by its direction.

        What a zone shows stands in the bin of its direction. The bin after it shows the more of it, and the bin before
        it the less, the further the direction is from the beginning of its own.
        """
        config, bins = self.config, self.config.bins
        away = _away(places)
        ahead, left = _seen(away, heading[:, None])
        near = np.exp(-config.fading * np.sqrt((away * away).sum(2))).ravel()
        angles = np.arctan2(left, ahead).ravel() % (2 * np.pi)
        turns = angles * (bins / (2 * np.pi))
        whole = np.floor(turns)
        share, first = turns - whole, whole.astype(np.int64)
        shown, all_of = np.zeros((len(near), bins)), np.arange(len(near))
        shown[all_of, first % bins] = near
        shown[all_of, (first + 1) % bins] = near * share
        shown[all_of, (first - 1) % bins] = near * (1 - share)
        nearest: FloatArray = shown.reshape(len(away), len(COLOURS), -1, bins).max(2)
        return nearest.reshape(len(away), -1)

    def holds(self, places: Places) -> BoolArray:
        """(n, colours) of which colour the zone is that the robot is in."""
        away = _away(places)
        within = (away * away).sum(2) <= self.config.radius**2
        held: BoolArray = np.logical_or.reduce(within.reshape(-1, len(COLOURS), self.config.each), axis=2)
        return held

    def labels(self, places: Places) -> tuple[Symbol, ...]:
        return disc_labels(self.config, self.holds(places)[0])

    def reader(self, alphabet: Alphabet) -> Reader:
        return disc_reader(self.config, alphabet, self.holds)

    def scattered(self, count: int, seed: int) -> Places:
        """A layout each, and a robot anywhere among the zones, with any heading and speed."""
        places = self.begin(episode_keys(words([seed]), np.arange(count)))
        side = self.config.spawn + self.config.radius
        drawn = 2 * np.random.default_rng(seed).random((count, 6)) - 1
        places["robot"] = drawn * (side, side, 1.0, 1.0, np.pi, self.config.turn)
        return places

    def picture(self, way: Sequence[Places]) -> NDArray[np.uint8]:
        """The zones, where the robot was, and where it heads."""
        robots = np.concatenate([places["robot"] for places in way])
        robot, trail = robots[-1:, :2], robots[:-1, :2]
        nose = robot + 0.12 * _heading(robots[-1:])
        painter = Painter(self._scene(way[-1]), 512)
        return painter.paint(np.concatenate([trail, nose, robot]))

    def text(self, way: Sequence[Places]) -> str:
        return text(self._scene(way[-1]), way[-1]["robot"][0, :2])

    def _scene(self, places: Places) -> Scene:
        config, edge = self.config, self.config.edge
        names = np.repeat(COLOURS, config.each).tolist()
        zones = zip(names, places["zones"][0].tolist(), strict=True)
        discs = tuple(Disc(name, x, y, config.radius) for name, (x, y) in zones)
        return Scene((-edge, -edge, edge, edge), discs)


def _heading(robot: FloatArray) -> FloatArray:
    """(n, 2) where robots (n, 6) look."""
    angle = np.ascontiguousarray(robot[:, 4])  # computed alike, whatever lies beside it
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _away(places: Places) -> FloatArray:
    """(n, zones, 2) where the zones lie from the robot."""
    away: FloatArray = places["zones"] - places["robot"][:, None, :2]
    return away


def _seen(vectors: FloatArray, heading: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How far vectors (…, 2) point ahead and to the left of a heading (…, 2)."""
    (x, y), (ahead, aside) = np.moveaxis(vectors, -1, 0), np.moveaxis(heading, -1, 0)
    return ahead * x + aside * y, ahead * y - aside * x


def points_apart(keys: Words, needed: int, spawn: float, apart: float) -> FloatArray:
    """(n, needed, 2) points of a square with half a side `spawn`, each at least `apart` from those before it."""
    points, left = np.zeros((len(keys), needed, 2)), np.arange(len(keys))
    for attempt in count():
        points[left], fits = _layouts(keys[left], attempt, needed, spawn, apart)
        left = left[~fits]
        if not left.size:
            break
    return points


def _layouts(keys: Words, attempt: int, needed: int, spawn: float, apart: float) -> tuple[FloatArray, BoolArray]:
    """(n, needed, 2) points that are far enough from those before them, and where (n,) such were found."""
    tries, all_of = 16, np.arange(len(keys))
    size = needed * tries * 2
    drawn = 2 * chances(keys[:, None], 1 + attempt * size + np.arange(size)) - 1
    tried = spawn * drawn.reshape(len(keys), needed, tries, 2)
    free = np.ones((len(keys), needed, tries), dtype=np.bool_)
    points, fits = np.zeros((len(keys), needed, 2)), np.ones(len(keys), dtype=np.bool_)
    for number in range(needed):
        first = free[:, number].argmax(1)
        fits &= free[all_of, number, first]
        points[:, number] = tried[all_of, number, first]
        away = tried[:, number + 1 :] - points[:, number, None, None]
        free[:, number + 1 :] &= (away * away).sum(3) >= apart**2
    return points, fits


class ZonesEnv(SingleEnv):
    """A robot that drives among coloured zones, which it sees by lidar.

    The plane is a square with sides of 6.6. Two zones each are blue, green, magenta and yellow. They have a radius of
    0.4 and lie elsewhere in every episode. The environment itself has no goal: put a task on it with
    `nrm.TaskEnv(env, machine)`, which reads the colour of the zone that the robot is in.

    - Actions: `Box(-1, 1, (2,))`, the force along the heading and the turn rate, as shares of 2 and of 3 radians a
      second. A step is 0.05 seconds and costs 8 % of the speed, so the robot makes 0.06 a step at most.
    - Observations: `Box((69,)) float32`. Velocity ahead and to the left, the turn rate, where the middle of the plane
      lies, ahead and to the left, and for each colour 16 directions of the lidar, from straight ahead to the left and
      around. A zone whose centre is at a distance d shows exp(-d / 2) in its direction, and part of
      it in the two beside it.
    - Rewards: 0 at every step; a task pays.
    - Start: at a random point outside of all zones, at rest, with a random heading.
    - End: when the robot leaves the plane. Truncated after `steps` steps (1,000). A task may end the episode before.
    - Info: `labels`, the colour of the zone that the robot is in, or `empty` outside of zones.
    - Options: the fields of `ZonesConfig`, as in `gymnasium.make("nrm/Zones-v0", steps=200)`, and `render_mode`:
      `rgb_array` or `ansi`.
    """

    config_class = ZonesConfig
