"""Living the first steps of an environment before training in it: whether it follows the rules, and can be seeded."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from nrm.errors import EnvError, NrmWarning

STEPS = 24
"""Steps of an episode that are lived through."""
SEEDS = (11, 12)
"""Of the two episodes."""

AnyEnv = gymnasium.Env[Any, Any]
Lived = list[tuple[str, Any]]
"""What was seen, with its place."""


def rehearse(make: Callable[[], AnyEnv]) -> str:
    """Where two lives of one episode part, in words; empty where they are the same, as a seed promises.

    The second life is the first episode of another environment: so what one episode leaves for the next shows too.
    """
    first, second = make(), make()
    try:
        _check_bounds(first.observation_space, _live(first, SEEDS[0]))
        parted = _difference(_live(first, SEEDS[1]), _live(second, SEEDS[1]))
    finally:
        first.close()
        second.close()
    return parted


def live(env: AnyEnv) -> None:
    """Live through the same first steps, for who looks on."""
    for seed in SEEDS:
        _live(env, seed)


def _live(env: AnyEnv, seed: int) -> Lived:
    """Live the first steps of an episode with random actions that depend on the seed alone."""
    env.action_space.seed(seed)
    observation, _ = env.reset(seed=seed)
    lived: Lived = [("the first observation", _copied(observation))]
    for step in range(1, STEPS + 1):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        seen = (("observation", _copied(observation)), ("label", info.get("label")), ("reward", reward))
        lived += [(f"the {what} of step {step}", value) for what, value in seen]
        lived.append((f"the end at step {step}", (terminated, truncated)))
        if terminated or truncated:
            break
    return lived


def _difference(one: Lived, other: Lived) -> str:
    for (place, mine), (_, theirs) in zip(one, other, strict=False):
        if not _equal(mine, theirs):
            return place
    return "" if len(one) == len(other) else "the length of the episode"


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(_equal, one, other))
    return np.array_equal(one, other, equal_nan=isinstance(one, np.ndarray) and one.dtype.kind == "f")


def _copied(observation: Any) -> Any:
    """A copy, because environments may write into what they gave."""
    if isinstance(observation, dict):
        return {key: _copied(value) for key, value in observation.items()}
    if isinstance(observation, tuple):
        return tuple(map(_copied, observation))
    return np.array(observation)


def _check_bounds(space: gymnasium.Space[Any], lived: Lived) -> None:
    """Raise where an observation is no finite number, warn of the first one that lies outside of its space."""
    if not isinstance(space, gymnasium.spaces.Box):
        return
    for what, observation in lived:
        if "observation" not in what or space.contains(np.asarray(observation, dtype=space.dtype)):
            continue
        given = np.asarray(observation, dtype=np.float64)
        if (place := _first(~np.isfinite(given))) is not None:
            given_by = "reset()" if what == lived[0][0] else "step()"
            raise EnvError(
                f"{what}, which {given_by} gives, is {given[place]} at {place}; observations must be finite numbers"
            )
        if (place := _first((given < space.low) | (given > space.high))) is not None:
            warnings.warn(
                f"{what} lies outside of observation_space {space}: {given[place]:g} at {place}; networks scale by "
                "these bounds",
                NrmWarning,
                stacklevel=3,
            )
            return


def _first(where: NDArray[np.bool_]) -> tuple[int, ...] | None:
    """The first place that is so, if any is."""
    places = np.argwhere(where)
    return tuple(int(index) for index in places[0]) if len(places) else None
