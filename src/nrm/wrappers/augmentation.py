"""Observations with a belief beside them: the space, and how the two are put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.errors import EnvError, listing, suggestion, unknown
from nrm.observations import Parts

BeliefLayout = Literal["dict", "flat"]
"""`dict`: a `Dict` with the entries `observation` and `belief` (`task`, where there are many); the entries of an
observation that is a `Dict` itself stay as they are. `flat`: one `Box` with the belief behind the numbers."""

Reads: TypeAlias = str | Sequence[str] | None
"""What a grounder reads of `Dict` observations: one entry, several together, or all of them."""

BELIEF = "belief"
TASK = "task"
"""The entry in place of the belief where there are many tasks: the view of the one that an episode has."""
OBSERVATION = "observation"
_ONE_ARRAY = (spaces.Box, spaces.Discrete, spaces.MultiBinary, spaces.MultiDiscrete)


@dataclass(frozen=True, eq=False)
class Augmentation:
    """How observations of a space carry a belief over some states."""

    space: spaces.Space[Any]
    """The space of observations with beliefs."""
    grounded: spaces.Space[Any]
    """The space of the part of an observation that the grounder reads."""
    layout: BeliefLayout
    key: str | None
    """The one entry of a `Dict` observation that the grounder reads; None where it reads several, or all there is."""
    parts: Parts | None = None
    """The entries that it reads together, as rows of numbers, where they are several."""
    entry: str = BELIEF
    """The entry that the belief has, or the view of a task."""

    @classmethod
    def of(
        cls,
        space: spaces.Space[Any],
        states: int,
        layout: BeliefLayout = "dict",
        reads: Reads = None,
        entry: str = BELIEF,
    ) -> Augmentation:
        """For a space of single observations; `reads`: what the grounder reads of `Dict` observations.

        `states`: how many numbers are put beside them; `entry`: what they are.
        """
        if layout not in get_args(BeliefLayout):
            raise EnvError(unknown("layout", layout, get_args(BeliefLayout)))
        key, parts = _read(space, reads)
        if parts is not None:
            grounded: spaces.Space[Any] = spaces.Box(-np.inf, np.inf, (parts.width,), parts.dtype.type)
            if parts.dtype == np.uint8:
                grounded = spaces.Box(0, 255, (parts.width,), np.uint8)
        else:
            grounded = space if key is None else space[key]  # type: ignore[index]
        if not isinstance(grounded, _ONE_ARRAY):
            part = "observations" if key is None else f"the entry '{key}' of observations"
            raise EnvError(f"{part} cannot be read by a grounder: {grounded} is no array of numbers; flatten it")
        belief = spaces.Box(0.0 if entry == BELIEF else -1.0, 1.0, (states,), np.float32)
        whole = _flat(space, belief) if layout == "flat" else _dict(space, belief, entry)
        return cls(whole, grounded, layout, key, parts, entry)

    def read(self, observation: Any) -> NDArray[Any]:
        """The part that the grounder reads, of one observation or of a batch."""
        if self.parts is not None:
            return self.parts.join(observation)
        return np.asarray(observation if self.key is None else observation[self.key])

    def join(self, observation: Any, belief: NDArray[np.float32]) -> Any:
        """An observation with its belief (states,), or a batch of them with theirs (n, states)."""
        if self.layout == "flat":
            return np.concatenate([np.asarray(observation), belief], axis=-1, dtype=self.space.dtype)
        if isinstance(observation, dict):
            return {**observation, self.entry: belief}
        return {OBSERVATION: observation, self.entry: belief}


def _read(space: spaces.Space[Any], reads: Reads) -> tuple[str | None, Parts | None]:
    """The one entry that is read, or the several; neither where the observation is no Dict."""
    if not isinstance(space, spaces.Dict):
        if reads is not None:
            raise EnvError(f"reads={reads!r} names entries of Dict observations, but these are {space}")
        return None, None
    known = list(space)
    names = known if reads is None else [reads] if isinstance(reads, str) else list(reads)
    for name in names:
        if name not in known:
            raise EnvError(f"observations have no entry '{name}'{suggestion(name, known)} (entries: {listing(known)})")
    if len(names) == 1:
        return names[0], None
    return None, Parts.of(space, names)


def _dict(space: spaces.Space[Any], belief: spaces.Box, entry: str) -> spaces.Dict:
    if not isinstance(space, spaces.Dict):
        return spaces.Dict({OBSERVATION: space, entry: belief})
    if entry in space.spaces:
        raise EnvError(f"observations have an entry '{entry}' already ({space[entry]}); rename it, or wrap only once")
    return spaces.Dict({**space.spaces, entry: belief})


def _flat(space: spaces.Space[Any], belief: spaces.Box) -> spaces.Box:
    if not isinstance(space, spaces.Box) or len(space.shape) != 1:
        raise EnvError(f"layout='flat' needs observations that are a Box with one axis, not {space}; use layout='dict'")
    dtype = np.dtype(np.float64 if space.dtype == np.float64 else np.float32)
    low, high = (
        np.concatenate([ends[0], ends[1]], dtype=dtype) for ends in ((space.low, belief.low), (space.high, belief.high))
    )
    return spaces.Box(low, high, dtype=dtype.type)
