"""One environment of ours for Gymnasium: a batch of one, without a task."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.envs.batched import Dynamics, Places
from nrm.envs.counter_rng import check_seed, episode_keys, words
from nrm.errors import EnvError, unknown


class SingleEnv(gymnasium.Env[NDArray[Any], Any]):
    """An environment of ours by its configuration. Subclasses name the usual one, for `gymnasium.make`."""

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 4}  # noqa: RUF012 - as the base class has it
    config_class: ClassVar[Any]

    def __init__(self, config: Any = None, *, render_mode: str | None = None, **options: Any) -> None:
        """`config`: the environment, the usual one if none; `options`: fields of the configuration to change."""
        usual = config or self.config_class()
        known = [field.name for field in fields(usual)]
        for option in options:
            if option not in known:
                raise EnvError(unknown("option", option, known))
        modes = self.metadata["render_modes"]
        if render_mode is not None and render_mode not in modes:
            raise EnvError(unknown("render_mode", render_mode, modes))
        self.config = replace(usual, **options)
        self.render_mode = render_mode
        self._dynamics: Dynamics = self.config.dynamics()
        self.action_space = self._dynamics.action_space
        self.observation_space = self._dynamics.observation_space
        self.action_names = self._dynamics.action_names
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
        self._way = [self._dynamics.begin(self._key)]
        return self._shown()

    def step(self, action: Any) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Move."""
        if self._seed is None:
            raise EnvError("call reset() before the first step")
        time = len(self._way) - 1
        self._check_action(action, time)
        places, left = self._dynamics.move(self._way[-1], np.asarray([action]), self._key, np.array([time]))
        self._way.append(places)
        observation, info = self._shown()
        return observation, 0.0, left is not None and bool(left[0]), time + 1 >= self.config.steps, info

    def render(self) -> Any:
        """The picture (rgb_array), or the text (ansi)."""
        if self.render_mode is None:
            raise EnvError("this environment was made without a render_mode; make it with render_mode='rgb_array'")
        if self._seed is None:
            raise EnvError("call reset() before render()")
        drawn = self._dynamics.text if self.render_mode == "ansi" else self._dynamics.picture
        return drawn(self._way)

    def _shown(self) -> tuple[NDArray[Any], dict[str, Any]]:
        """The observation and the info at the end of the way."""
        here: Places = self._way[-1]
        observation: NDArray[Any] = self._dynamics.observe(here)[0]
        return observation, {"labels": self._dynamics.labels(here)}

    def _check_action(self, action: Any, time: int) -> None:
        discrete = isinstance(self.action_space, spaces.Discrete)
        if not self.action_space.contains(action if discrete else np.asarray(action, dtype=np.float32)):
            numbered = ", ".join(f"{number} {name}" for number, name in enumerate(self.action_names))
            known = numbered if discrete else "two numbers from -1 to 1"
            raise EnvError(f"unknown action {action!r} at step {time + 1}; the actions are {known}")
