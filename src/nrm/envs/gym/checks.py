"""Environments that others wrote: errors with their place, and first steps before training."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.wrappers import TimeLimit

from nrm.errors import EnvError, NrmError, NrmWarning, describe

AnyEnv = gymnasium.Env[Any, Any]
Lived = list[tuple[str, Any]]
"""What was seen, with its place."""
MAX_STEPS = 1_000
"""Steps after which an episode is cut off where nobody set a limit: it may have no end, and so would training."""


class GuardedEnv(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """An environment whose own errors become `EnvError`s that name it and the step, and whose episodes end.

    Where no `TimeLimit` is around it, episodes are cut off after `MAX_STEPS`, with a warning.
    """

    def __init__(self, env: AnyEnv, name: str) -> None:
        RecordConstructorArgs.__init__(self, name=name)
        gymnasium.Wrapper.__init__(self, env)
        self.name = name
        self._most = None if _has_limit(env) else MAX_STEPS
        self._episode = 0
        self._time = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begin an episode."""
        self._episode += 1
        self._time = 0
        try:
            return self.env.reset(seed=seed, options=options)
        except NrmError:
            raise
        except Exception as error:
            keywords = ". It must take the keywords seed and options" if isinstance(error, TypeError) else ""
            raise EnvError(
                f"{self.name}: reset() of episode {self._episode} failed: {describe(error)}{keywords}"
            ) from error

    def step(self, action: Any) -> Any:
        """Step the environment; the last step that an episode without a limit may have is truncated."""
        self._time += 1
        try:
            stepped: Any = self.env.step(action)
        except NrmError:
            raise
        except Exception as error:
            place = f"step {self._time} of episode {self._episode}"
            raise EnvError(f"{self.name}, {place}, action {action}: {describe(error)}") from error
        if self._most is None or self._time < self._most:
            return stepped
        observation, reward, terminated, truncated, info = stepped
        if not (terminated or truncated):
            warnings.warn(
                f"{self.name} has no TimeLimit, and an episode had not ended after {self._most:,} steps; such episodes "
                "are cut off there. Set a limit that suits your task: --env.steps 200, for example",
                NrmWarning,
                stacklevel=2,
            )
        return observation, reward, terminated, truncated or not terminated, info


def _has_limit(env: AnyEnv) -> bool:
    """Whether a `TimeLimit` is among the wrappers; what an environment counts by itself nobody can see."""
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, TimeLimit):
            return True
        env = env.env
    return False


def rehearse(make: Callable[[], AnyEnv]) -> str:
    """Live through first steps before training: where two lives of one episode part, in words; empty if nowhere.

    The second life is the first episode of another environment: so what one episode leaves for the next shows too.
    """
    first, second = make(), make()
    try:
        _check_bounds(first.observation_space, _live(first, seed=11))
        one, other = _live(first, seed=12), _live(second, seed=12)
    finally:
        first.close()
        second.close()
    for (place, mine), (_, theirs) in zip(one, other, strict=False):
        if not data_equivalence(mine, theirs, exact=True):
            return place
    return "" if len(one) == len(other) else "the length of the episode"


def _live(env: AnyEnv, seed: int) -> Lived:
    """Live the first 24 steps of an episode with random actions that depend on the seed alone."""
    env.action_space.seed(seed)
    # Copies, because environments may write into what they gave.
    lived: Lived = [("the first observation", copy.deepcopy(env.reset(seed=seed)[0]))]
    for step in range(1, 25):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        seen = (("observation", copy.deepcopy(observation)), ("label", info.get("label")), ("reward", reward))
        lived += [(f"the {what} of step {step}", value) for what, value in seen]
        lived.append((f"the end at step {step}", (terminated, truncated)))
        if terminated or truncated:
            break
    return lived


def _check_bounds(space: gymnasium.Space[Any], lived: Lived) -> None:
    """Raise where an observation is no finite number, warn of the first one that lies outside of its space."""
    if not isinstance(space, gymnasium.spaces.Box):
        return
    for what, observation in lived:
        if "observation" not in what or space.contains(np.asarray(observation, dtype=space.dtype)):
            continue
        given = np.asarray(observation, dtype=np.float64)
        if not np.isfinite(given).all():
            raise EnvError(f"{what} is not finite: {given}")
        away = given[(given < space.low) | (given > space.high)]
        if away.size:
            warnings.warn(
                f"{what} lies outside of observation_space {space}: {away[0]:g}; networks scale by these bounds",
                NrmWarning,
                stacklevel=3,
            )
            return
