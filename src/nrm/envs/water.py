"""Coloured balls that bounce in a box, and a ball that accelerates among them (Toro Icarte et al., 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

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
from nrm.envs.zones import Scene, points_apart
from nrm.errors import EnvError
from nrm.machines import Alphabet
from nrm.observations import ObservationSpec

COLOURS = ("red", "green", "blue", "yellow", "aqua", "magenta")
PUSHES = np.array([[0, 0], [0, 1], [1, 0], [0, -1], [-1, 0]], dtype=np.float64)
"""What each action adds to the velocity."""


@ENVS.register
@dataclass(frozen=True)
class WaterConfig(OwnEnvConfig):
    """A ball among twelve balls of six colours, which bounce in a box."""

    name = "water"
    env_names = ("water",)
    observations = ("state",)
    usual: ClassVar = {"steps": 600, "observation": "state"}
    names = COLOURS

    each, radius, edge = 2, 15.0, 200.0
    """Balls of each colour, the radius of every ball, and half the side of the box."""
    step, speed, top_speed = 0.1, 30.0, 90.0
    """Seconds of a step, the speed of the balls, which is also what a push adds, and the most along each axis."""

    def __post_init__(self) -> None:
        if self.empty not in (None, "empty"):
            raise EnvError(f"balls of several colours may be touched at once: say empty=None, not {self.empty!r}")
        object.__setattr__(self, "empty", None)
        super().__post_init__()

    @property
    def alphabet(self) -> Alphabet:
        return Alphabet.propositional(self.names)

    @classmethod
    def parse(cls, name: str) -> WaterConfig | None:
        return cls() if name == "water" else None

    def spaces(self) -> Spaces:
        found = self.dynamics()
        return Spaces(found.observation_space, found.action_space)

    def algorithm(self) -> str:
        """Observations do not come again."""
        return "ppo"

    def dynamics(self) -> Dynamics:
        return WaterDynamics(self)


class WaterDynamics(Dynamics):
    """Balls in a box. Places: `bodies` (n, 13, 4) positions and velocities, the agent's first, then by colours."""

    saved = "bodies"
    config: WaterConfig
    ahead = 16
    action_names = ("none", "up", "right", "down", "left")

    def __init__(self, config: WaterConfig) -> None:
        super().__init__(config)
        self.balls = config.each * len(COLOURS)
        self.action_space = spaces.Discrete(len(PUSHES))
        self.observation_space = spaces.Box(-1.0, 1.0, (4 + 4 * self.balls,), np.float32)
        self.spec = ObservationSpec((4 + 4 * self.balls,), torch.float32)
        # What divides the agent's state, and the difference of a ball's from it, so that all lies between -1 and 1.
        most = np.array([config.edge, config.edge, config.top_speed, config.top_speed])
        self._own = most
        self._apart = most + np.array([config.edge, config.edge, config.speed, config.speed])

    def begin(self, keys: Words) -> Places:
        """Balls start apart and with random directions, the agent at rest."""
        config = self.config
        bodies = np.zeros((len(keys), self.balls + 1, 4))
        bodies[..., :2] = points_apart(keys, self.balls + 1, config.edge - 2 * config.radius, 4 * config.radius)
        angles = chances(keys[:, None], (1 << 32) + np.arange(self.balls)) * (2 * np.pi)
        bodies[:, 1:, 2:] = config.speed * np.stack([np.cos(angles), np.sin(angles)], axis=2)
        return {"bodies": bodies}

    def move(
        self,
        places: Places,
        actions: NDArray[Any],
        keys: Words,  # noqa: ARG002
        times: NDArray[np.int64],  # noqa: ARG002
    ) -> tuple[Places, BoolArray | None]:
        """Push the agent, move everything, and turn around what meets a wall."""
        config = self.config
        place, speed = np.split(places["bodies"].copy(), 2, axis=2)
        pushed = speed[:, 0] + config.speed * PUSHES[actions]
        speed[:, 0] = np.clip(pushed, -config.top_speed, config.top_speed)
        most, ahead = config.edge - config.radius, place + config.step * speed
        speed = np.where(np.abs(ahead) > most, -speed, speed)
        return {"bodies": np.concatenate([np.clip(ahead, -most, most), speed], axis=2)}, None

    def observe(self, places: Places) -> NDArray[Any]:
        """(n, 52) the agent's place and velocity, then those of each ball as seen from it, all scaled."""
        bodies = places["bodies"]
        others = (bodies[:, 1:] - bodies[:, :1]) / self._apart
        parts = [bodies[:, 0] / self._own, others.reshape(len(bodies), -1)]
        return np.concatenate(parts, axis=1).astype(np.float32)

    def holds(self, places: Places) -> BoolArray:
        """(n, colours) of which colours the agent touches a ball."""
        bodies: FloatArray = places["bodies"]
        away = bodies[:, 1:, :2] - bodies[:, :1, :2]
        touched = (away * away).sum(2) <= (2 * self.config.radius) ** 2
        held: BoolArray = touched.reshape(len(bodies), len(COLOURS), -1).any(2)
        return held

    def labels(self, places: Places) -> tuple[Symbol, ...]:
        return disc_labels(self.config, self.holds(places)[0])

    def reader(self, alphabet: Alphabet) -> Reader:
        return disc_reader(self.config, alphabet, self.holds)

    def scattered(self, count: int, seed: int) -> Places:
        """A start each, but for the agent, which is anywhere."""
        places = self.begin(episode_keys(words([seed]), np.arange(count)))
        most = self.config.edge - self.config.radius
        drawn = 2 * np.random.default_rng(seed).random((count, 4)) - 1
        places["bodies"][:, 0] = drawn * (most, most, self.config.top_speed, self.config.top_speed)
        return places

    def picture(self, way: Sequence[Places]) -> NDArray[np.uint8]:
        """The balls, and where the agent came along."""
        trail = np.concatenate([places["bodies"][:, 0, :2] for places in way])
        return Painter(self._scene(way[-1]), 512).paint(trail)

    def text(self, way: Sequence[Places]) -> str:
        return text(self._scene(way[-1]), way[-1]["bodies"][0, 0, :2])

    def _scene(self, places: Places) -> Scene:
        config, edge = self.config, self.config.edge
        balls = zip(np.repeat(COLOURS, config.each).tolist(), places["bodies"][0, 1:].tolist(), strict=True)
        discs = tuple(Disc(name, x, y, config.radius) for name, (x, y, *_) in balls)
        return Scene((-edge, -edge, edge, edge), discs, COLOURS)


class WaterEnv(SingleEnv):
    """A ball that accelerates among coloured balls: "Reward Machines" (Toro Icarte et al., 2022), Water World.

    Twelve balls, two each of six colours, move in a box with sides of 400 and bounce off its walls, but not off each
    other. They have a radius of 15 and a speed of 30, and start elsewhere in every episode. The environment itself has
    no goal: put a task on it with `nrm.TaskEnv(env, machine)`, which reads the colours that the agent touches.

    - Actions: `Discrete(5)`, 0 nothing, or add 30 to the velocity: 1 up, 2 right, 3 down, 4 left. The agent makes 90
      along each axis at most, and bounces off walls as well. A step is 0.1 seconds.
    - Observations: `Box(-1, 1, (52,)) float32`. The agent's position and velocity, as shares of 200 and of 90; for each
      ball, its position and velocity as seen from the agent, as shares of 400 and of 120.
    - Rewards: 0 at every step; a task pays.
    - Start: at random, at rest; all balls are at least 60 apart.
    - End: never by itself; truncated after `steps` steps (600). A task may end the episode before.
    - Info: `labels`, the colours of the balls that the agent touches: none, one or several.
    - Options: the fields of `WaterConfig`, as in `gymnasium.make("nrm/Water-v0", steps=200)`, and `render_mode`:
      `rgb_array` or `ansi`.
    """

    config_class = WaterConfig
