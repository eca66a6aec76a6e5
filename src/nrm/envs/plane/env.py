"""The environment of discs as a Gymnasium environment."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.envs.counter_rng import check_seed, episode_keys, words
from nrm.envs.plane.config import PlaneConfig
from nrm.envs.plane.geometry import DIRECTIONS, Geometry
from nrm.envs.plane.painter import Painter, text
from nrm.errors import EnvError, unknown

RENDER_PIXELS = 512
"""The longer side of what `render` shows."""


class PlaneEnv(gymnasium.Env[NDArray[Any], Any]):
    """A point that moves in a plane with coloured discs.

    ## Description
    A robot, one point, moves in a rectangle among discs of several colours. The environment itself has no goal: put a
    task on it with `nrm.TaskEnv(env, machine)`, which reads the discs that the robot is in.

    ## Actions
    `actions="discrete"`: `Discrete(8)`, a step of 0.1 to the right (0) and on against the clock by 45 degrees; with
    `directions=9` the last is to stay. `actions="continuous"`: `Box(-1, 1, (2,))`, how many steps to move along each
    axis. With `noise`, every coordinate of a move is disturbed.

    ## Observations
    `observation="position"`: `Box(2,) float32`, x and y. `observation="lidar"`: `Box(0, 1, (names * rays,)) float32`,
    for each name and ray the distance to the nearest disc of that name, as a share of `reach`: 1 where there is none.
    Within a disc all its rays are 0, so that what holds can be told from one observation.

    ## Rewards
    None (0 at every step): a task pays.

    ## Start
    At a point, in a disc, in a box, or anywhere outside of all discs.

    ## End
    `edge="stop"`: never by itself, moves stop at the bounds. `edge="end"`: terminated when a move leaves them.
    Truncated after `steps` steps (100). A task may end the episode before.

    ## Info
    `labels`: the names of the discs that the robot is in, or `empty` where it is in none; where a move leaves the
    bounds and the environment has a name for that (`outside`), this name too (or alone, unless `empty` is None).

    ## Options
    The fields of `PlaneConfig`, as in `gymnasium.make("nrm/Plane-v0", observation="lidar")`, and `render_mode`:
    `rgb_array` or `ansi`.
    """

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 10}  # noqa: RUF012 - as the base class has it

    def __init__(self, config: PlaneConfig | None = None, *, render_mode: str | None = None, **options: Any) -> None:
        """`config`: the environment, `robot` if none; `options`: fields of the configuration to change."""
        known = [field.name for field in fields(PlaneConfig)]
        for option in options:
            if option not in known:
                raise EnvError(unknown("option", option, known))
        modes = self.metadata["render_modes"]
        if render_mode is not None and render_mode not in modes:
            raise EnvError(unknown("render_mode", render_mode, modes))
        self.config = replace(config or PlaneConfig(), **options)
        self.render_mode = render_mode
        self._geometry = Geometry(self.config)
        low, high = self._geometry.limits()
        self.observation_space = spaces.Box(low, high, dtype=np.float32)
        self.action_space: spaces.Space[Any] = (
            spaces.Discrete(self.config.size)
            if self.config.actions == "discrete"
            else spaces.Box(-1.0, 1.0, (2,), np.float32)
        )
        self._painter: Painter | None = None
        self._seed: int | None = None
        self._episode = -1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin an episode: the first one of `seed`, or the next one."""
        super().reset(seed=seed, options=options)
        if seed is not None or self._seed is None:
            self._seed = int(self.np_random.integers(1 << 62)) if seed is None else int(seed)
            check_seed(self._seed)
            self._episode = -1
        self._episode += 1
        self._key = episode_keys(words([self._seed]), [self._episode])
        self._place = self._geometry.begin(self._key)
        self._trail = [self._place[0]]
        self._left = False
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Move."""
        if self._seed is None:
            raise EnvError("call reset() before the first step")
        time = len(self._trail) - 1
        taken = np.asarray([action])
        self._check_action(action)
        self._place, left = self._geometry.moved(self._place, taken, self._key, np.array([time]))
        self._left = bool(left[0])
        self._trail.append(self._place[0])
        return self._observation(), 0.0, self._left, time + 1 >= self.config.steps, self._info()

    def render(self) -> Any:
        """The picture (rgb_array) or the text (ansi)."""
        if self.render_mode is None:
            raise EnvError("this environment was made without a render_mode; make it with render_mode='rgb_array'")
        if self._seed is None:
            raise EnvError("call reset() before render()")
        if self.render_mode == "ansi":
            return text(self.config, self._place[0])
        if self._painter is None:
            self._painter = Painter(self.config, RENDER_PIXELS)
        return self._painter.paint(np.array(self._trail))

    def _check_action(self, action: Any) -> None:
        if isinstance(self.action_space, spaces.Box):
            action = np.asarray(action, dtype=np.float32)
        if not self.action_space.contains(action):
            moves = ", ".join(f"{number} {name}" for number, name in enumerate(DIRECTIONS[: self.config.size]))
            known = moves if self.config.actions == "discrete" else "two numbers from -1 to 1"
            raise EnvError(f"unknown action {action!r} at step {len(self._trail)}; the actions are {known}")

    def _observation(self) -> NDArray[Any]:
        seen: NDArray[np.float32] = self._geometry.seen(self._place)[0]
        return seen

    def _info(self) -> dict[str, Any]:
        config = self.config
        if self._left and config.outside is not None and config.empty is not None:
            return {"labels": (config.outside,)}
        inside = self._geometry.holds(self._place)[0]
        names = tuple(name for name, holds in zip(config.names, inside, strict=True) if holds)
        if self._left and config.outside is not None:
            names += (config.outside,)
        return {"labels": names or (() if config.empty is None else (config.empty,))}
