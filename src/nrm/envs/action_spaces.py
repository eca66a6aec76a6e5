"""The kinds of actions that environments may have."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces

from nrm.errors import EnvError

ActionSpace: TypeAlias = int | spaces.MultiDiscrete | spaces.MultiBinary | spaces.Box
"""How many actions there are, numbered from 0; or a space of Gymnasium's, where an action is a row of numbers."""


def action_space(space: Any) -> ActionSpace:
    """A space of Gymnasium's as an environment says it, or an error that names what helps."""
    if isinstance(space, spaces.Discrete):
        return int(space.n)
    if isinstance(space, (int, np.integer)) and not isinstance(space, bool) and space > 0:
        return int(space)
    if isinstance(space, (spaces.MultiDiscrete, spaces.MultiBinary)):
        return space
    if not isinstance(space, spaces.Box):
        raise EnvError(
            f"actions must be Discrete, MultiDiscrete, MultiBinary or Box, not {space}; turn them into one of these "
            "with gymnasium.wrappers.TransformAction"
        )
    if space.dtype.kind != "f":
        raise EnvError(f"actions of a Box must be floating, not {space.dtype}; MultiDiscrete has whole ones")
    if not space.is_bounded("both") or not bool((space.low < space.high).all()):
        raise EnvError(
            f"actions have no finite bounds: {space}; give them some with gymnasium.wrappers.TransformAction, "
            "each low one below its high one"
        )
    return space


def action_size(actions: ActionSpace) -> int | None:
    """How many numbers one action is; None where it is a single number and no row."""
    return None if isinstance(actions, int) else int(np.prod(actions.shape))
