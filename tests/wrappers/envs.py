"""What the tests of wrappers share."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

import nrm
from nrm.envs import MINECRAFT_SYMBOLS, MinecraftEnv, TaskEnv
from nrm.neural import NeuralRewardMachine
from nrm.wrappers import model_for

TASK = nrm.compile("F(pickaxe & F gem) & G !lava", MINECRAFT_SYMBOLS)


def task_env(steps: int = 12, **options: Any) -> TaskEnv[Any, Any]:
    return TaskEnv(MinecraftEnv(steps=steps, **options), TASK)


def untrained(seed: int = 0, **options: Any) -> NeuralRewardMachine:
    """A model that is sure of nothing, so that its beliefs tell everything that went wrong."""
    return model_for(task_env(**options).observation_space, TASK, seed=seed)


class Silent(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment that tells nobody anything but observations and rewards."""

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        return self.env.reset(**options)[0], {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        return (*self.env.step(action)[:4], {})


class InDict(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Observations as an entry of a Dict, beside another one."""

    def __init__(self, env: gymnasium.Env[Any, Any], other: str = "clock") -> None:
        super().__init__(env)
        self.other = other
        self.observation_space = spaces.Dict({"place": env.observation_space, other: spaces.Discrete(3)})

    def observation(self, observation: NDArray[Any]) -> dict[str, Any]:
        return {"place": observation, self.other: np.int64(1)}


class Broken(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Shows `value` from its n-th observation on, counting those of resets."""

    def __init__(self, env: gymnasium.Env[Any, Any], value: float, begins: int) -> None:
        super().__init__(env)
        self.value, self.left = value, begins

    def observation(self, observation: Any) -> Any:
        self.left -= 1
        return np.full_like(observation, self.value) if self.left < 1 else observation
