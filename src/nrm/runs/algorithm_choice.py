"""Which algorithm a run learns with, where nobody says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from nrm.envs import Spaces, find_env

AUTO = "auto"
FEW = 1024
"""Distinct observations up to which numbers are taken for a list, such as the cells of a grid."""


CONTINUOUS: Mapping[str, Any] = {"norm_adv": False, "ent_coef": 0.05, "final_ent_coef": 0.005}
"""Settings of PPO for continuous actions. Where nothing is paid yet, advantages that are scaled up are noise, and drown
the entropy that would lead an agent on to what the task asks for next; see `docs/how-to/observation-spaces.md`."""


class Choice(NamedTuple):
    """An algorithm, and what of its settings suits an environment."""

    name: str
    settings: Mapping[str, Any] = {}
    """Changes of the algorithm's defaults."""


def choose_algorithm(env: str, algorithm: str, tasks: str | None = None, place: Any = None) -> Choice:
    """The algorithm of that name as it is; `auto` is the one that suits the environment, and PPO for many tasks.

    `place`: the environment's configuration as it is set, which may be that of another name: image with layout
    episode is image-episode. As its name says, where it is absent.
    """
    if algorithm != AUTO:
        return Choice(algorithm)
    if tasks is not None:
        return Choice("ppo")
    set_as = find_env(env) if place is None else place
    spaces = set_as.spaces()
    return Choice(set_as.algorithm()) if spaces is None else suited(spaces)


def suited(found: Spaces) -> Choice:
    """PPO where actions are continuous or observations hardly come again; A2C, which is faster, where there are few."""
    if isinstance(found.action, spaces.Box):
        return Choice("ppo", CONTINUOUS)
    return Choice("a2c" if _values(found.observation) <= FEW else "ppo")


def _values(space: spaces.Space[Any]) -> float:
    """How many different observations a space has; of whatever is no list of choices, infinitely many.

    Counted in floats of Python, of which too large ones are infinite.
    """
    if isinstance(space, spaces.Dict):
        return math.prod(map(_values, space.spaces.values()))
    if isinstance(space, spaces.Discrete):
        return float(space.n)
    if isinstance(space, spaces.MultiBinary):
        return math.prod([2.0] * math.prod(space.shape))
    if isinstance(space, spaces.MultiDiscrete):
        return math.prod(map(float, space.nvec.flat))
    if isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.integer):
        counts: list[float] = (space.high.astype(float) - space.low.astype(float) + 1).flatten().tolist()
        return math.prod(counts)
    return math.inf
