"""Observations with a belief beside them: the space, and how the two are put together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.errors import WorldError, listing, suggestion, unknown

BeliefLayout = Literal["dict", "flat"]
"""`dict`: a `Dict` with the entries `observation` and `belief`; the entries of an observation that is a `Dict` itself
stay as they are. `flat`: one `Box` with the belief behind the observation's numbers."""

BELIEF = "belief"
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
    """The entry of a `Dict` observation that the grounder reads; None where the observation is one array."""

    @classmethod
    def of(
        cls, space: spaces.Space[Any], states: int, layout: BeliefLayout = "dict", reads: str | None = None
    ) -> Augmentation:
        """For a space of single observations. `reads`: the entry that the grounder reads, of `Dict` observations."""
        if layout not in get_args(BeliefLayout):
            raise WorldError(unknown("layout", layout, get_args(BeliefLayout)))
        key = _key(space, reads)
        grounded = space if key is None else space[key]  # type: ignore[index]
        if not isinstance(grounded, _ONE_ARRAY):
            part = "observations" if key is None else f"the entry '{key}' of observations"
            raise WorldError(
                f"{part} cannot be read by a grounder: {grounded} is no array of numbers. Turn it into a Box with a "
                "wrapper, such as gymnasium.wrappers.FlattenObservation"
            )
        belief = spaces.Box(0.0, 1.0, (states,), np.float32)
        return cls(_flat(space, belief) if layout == "flat" else _dict(space, belief), grounded, layout, key)

    def read(self, observation: Any) -> NDArray[Any]:
        """The part that the grounder reads, of one observation or of a batch."""
        return np.asarray(observation if self.key is None else observation[self.key])

    def join(self, observation: Any, belief: NDArray[np.float32]) -> Any:
        """An observation with its belief (states,), or a batch of them with theirs (n, states)."""
        if self.layout == "flat":
            return np.concatenate([np.asarray(observation), belief], axis=-1, dtype=self.space.dtype)
        if isinstance(observation, dict):
            return {**observation, BELIEF: belief}
        return {OBSERVATION: observation, BELIEF: belief}


def _key(space: spaces.Space[Any], reads: str | None) -> str | None:
    if not isinstance(space, spaces.Dict):
        if reads is not None:
            raise WorldError(f"reads='{reads}' names an entry of Dict observations, but these are {space}")
        return None
    names = list(space)
    if reads is None:
        if len(names) != 1:
            raise WorldError(
                f"observations are a Dict with the entries {listing(names)}; say with reads=… which one the grounder "
                "reads"
            )
        return str(names[0])
    if reads not in names:
        raise WorldError(f"observations have no entry '{reads}'{suggestion(reads, names)} (entries: {listing(names)})")
    return reads


def _dict(space: spaces.Space[Any], belief: spaces.Box) -> spaces.Dict:
    if not isinstance(space, spaces.Dict):
        return spaces.Dict({OBSERVATION: space, BELIEF: belief})
    if BELIEF in space.spaces:
        raise WorldError(
            f"observations have an entry '{BELIEF}' already ({space[BELIEF]}); rename it with a wrapper, or make sure "
            "that the environment is not wrapped twice"
        )
    return spaces.Dict({**space.spaces, BELIEF: belief})


def _flat(space: spaces.Space[Any], belief: spaces.Box) -> spaces.Box:
    if not isinstance(space, spaces.Box) or len(space.shape) != 1:
        image = isinstance(space, spaces.Box) and len(space.shape) == 3
        way_out = "images stay images" if image else "flatten them with gymnasium.wrappers.FlattenObservation"
        raise WorldError(
            f"layout='flat' puts the belief behind the numbers of a Box with one axis, but observations are {space}; "
            f"use layout='dict' ({way_out})"
        )
    dtype = np.dtype(np.float64 if space.dtype == np.float64 else np.float32)
    low, high = (
        np.concatenate([ends[0], ends[1]], dtype=dtype) for ends in ((space.low, belief.low), (space.high, belief.high))
    )
    return spaces.Box(low, high, dtype=dtype.type)
