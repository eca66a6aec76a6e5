"""The rules of Gymnasium that everything here relies on: what `reset` and `step` give back."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.errors import EnvError, shorten


def reset_result(given: Any, env: gymnasium.Env[Any, Any]) -> tuple[Any, dict[str, Any]]:
    """What `reset` gave: (observation, info), or `EnvError`."""
    if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[1], dict):
        raise EnvError(f"{_name(env)}: reset() must return (observation, info), not {_shape(given)}")
    _check_observation(given[0], env, "reset()")
    return given


def step_result(given: Any, env: gymnasium.Env[Any, Any], place: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
    """What `step` gave, as plain numbers and truth values, or a `EnvError` with the place: `step 3 of episode 1`."""
    if not isinstance(given, tuple) or len(given) != 5 or not isinstance(given[4], dict):
        way_out = " (an environment of the old gym package, before version 0.26)" if _is_old(given) else ""
        raise EnvError(
            f"{_name(env)}, {place}: step() must return (observation, reward, terminated, truncated, info), not "
            f"{_shape(given)}{way_out}"
        )
    observation, reward, terminated, truncated, info = given
    _check_observation(observation, env, place)
    try:
        paid = float(reward)
    except (TypeError, ValueError):
        raise EnvError(f"{_name(env)}, {place}: the reward must be a number, not {reward!r}") from None
    if not math.isfinite(paid):
        raise EnvError(f"{_name(env)}, {place}: the reward is {paid}")
    for name, flag in (("terminated", terminated), ("truncated", truncated)):
        if not isinstance(flag, (bool, np.bool_, int)):
            raise EnvError(f"{_name(env)}, {place}: {name} must be True or False, not {shorten(repr(flag))}")
    return observation, paid, bool(terminated), bool(truncated), info


def _check_observation(observation: Any, env: gymnasium.Env[Any, Any], place: str) -> None:
    """Raise unless an observation has the shape that the space says; its bounds are the environment's business."""
    space = env.observation_space
    if isinstance(space, spaces.Box) and np.shape(observation) != space.shape:
        raise EnvError(
            f"{_name(env)}, {place}: the observation has shape {np.shape(observation)}, but observation_space is "
            f"{space}"
        )


def check_actions(actions: NDArray[Any], space: spaces.Space[Any]) -> None:
    """Raise unless actions (N,) or (N, parts), numbered from 0, are among those of a discrete space."""
    if isinstance(space, (spaces.Discrete, spaces.MultiDiscrete)):
        most = space.n if isinstance(space, spaces.Discrete) else space.nvec
        wrong = np.argwhere((actions < 0) | (actions >= most))
        if len(wrong):
            where = int(wrong[0][0])
            raise EnvError(f"action {actions[where]} in environment {where} is outside of {space}, numbered from 0")


def wrapper_for(space: spaces.Space[Any]) -> str:
    """Which wrapper makes of a space one that agents can use, as the end of a sentence."""
    if isinstance(space, (spaces.Dict, spaces.Tuple, spaces.MultiDiscrete, spaces.MultiBinary)):
        return (
            "gymnasium.wrappers.FlattenObservation makes one Box of observations "
            "(--env.wrappers gymnasium.wrappers:FlattenObservation); of actions, a wrapper of yours can list those "
            "that are of use (gymnasium.ActionWrapper)"
        )
    if isinstance(space, spaces.Box):
        return "gymnasium.wrappers.DiscretizeAction(env, bins) makes actions Discrete, in the function that makes it"
    return "a wrapper of yours has to turn it into numbers (gymnasium.ObservationWrapper, gymnasium.ActionWrapper)"


def _is_old(given: Any) -> bool:
    return isinstance(given, tuple) and len(given) == 4 and isinstance(given[3], dict)


def _shape(given: Any) -> str:
    if isinstance(given, tuple):
        return f"{len(given)} values ({', '.join(type(part).__name__ for part in given)})"
    return f"a single {type(given).__name__}"


def _name(env: gymnasium.Env[Any, Any]) -> str:
    """What an environment is called: its id, or the name of its class."""
    spec = env.unwrapped.spec
    return spec.id if spec is not None else type(env.unwrapped).__name__
