"""What observations are: one description for environments, networks and grounders; Dicts as rows of numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, ClassVar, Literal, TypeVar

import msgspec
import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor

from nrm.aliases import Json
from nrm.errors import EnvError, listing, suggestion

DETECTED = "detected"
"""The entry of an observation that says how probable a detector calls each letter."""
Kind = Literal["image", "numbers", "categories"]
Rows = TypeVar("Rows", NDArray[Any], Tensor)
Choice = TypeVar("Choice")
Other = TypeVar("Other")


@dataclass(frozen=True)
class Part:
    """One entry of a Dict observation."""

    name: str
    shape: tuple[int, ...]
    kind: Kind
    """`image`: (height, width, channels); `numbers`: an array of numbers; `categories`: of choices, each one-hot."""
    whole: bool = False
    """Whether an image holds whole numbers 0 to 255."""
    categories: tuple[int, ...] = ()
    """How many choices each number of a part of categories has."""
    first: tuple[int, ...] = ()
    """The least number of each of these."""
    centre: tuple[float, ...] = ()
    """Of numbers: the middle between their bounds, and 0 where there are none."""
    spread: tuple[float, ...] = ()
    """Half the distance of their bounds, and 1 where there are none."""

    @property
    def width(self) -> int:
        """How many numbers of a row it takes."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Parts:
    """The entries of a Dict observation that are read together, in the order in which they stand in a row."""

    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise EnvError("there is no entry to read")

    @classmethod
    def of(cls, space: spaces.Dict, reads: Sequence[str] | None = None) -> Parts:
        """The entries of a space of single observations; `reads`: which, all when absent."""
        names = list(space) if reads is None else list(reads)
        for name in names:
            if name not in space.spaces:
                known = list(space)
                raise EnvError(
                    f"observations have no entry '{name}'{suggestion(name, known)} (entries: {listing(known)})"
                )
        if len(set(names)) < len(names):
            raise EnvError(f"each entry is read once; reads names {listing(names)}")
        return cls(tuple(_part(name, space[name]) for name in names))

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return sum(part.width for part in self.parts)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of rows: small whole numbers where there is nothing else, so that images stay small."""
        return np.dtype(np.uint8 if all(part.whole for part in self.parts) else np.float32)

    def join(self, observation: Mapping[str, Any]) -> NDArray[Any]:
        """(width,) one observation as a row, or (…, width) a batch of them, whose entries are (…, *shape)."""
        flat = []
        for part in self.parts:
            values = np.asarray(observation[part.name])
            leading = values.shape[: values.ndim - len(part.shape)]
            if values.shape[len(leading) :] != part.shape:
                raise EnvError(f"the entry '{part.name}' has shape {values.shape}; {part.shape} is needed")
            flat.append(values.reshape(*leading, part.width).astype(self.dtype))
        return np.concatenate(flat, -1)

    def split(self, rows: Rows) -> dict[str, Rows]:
        """The entries (…, *shape) by name, of rows (…, width)."""
        leading = tuple(rows.shape[:-1])
        ends = list(accumulate(part.width for part in self.parts))
        return {
            part.name: rows[..., end - part.width : end].reshape(leading + part.shape)
            for part, end in zip(self.parts, ends, strict=True)
        }

    def fits(self, other: Parts) -> bool:
        """Whether rows of one can be read as rows of the other; bounds may differ."""
        plain, others = ([replace(part, first=(), centre=(), spread=()) for part in one.parts] for one in (self, other))
        return plain == others

    def to_config(self) -> list[Json]:
        """Plain numbers, names and lists, for files."""
        plain: list[Json] = msgspec.json.decode(msgspec.json.encode(self.parts))
        return plain

    @classmethod
    def from_config(cls, config: Sequence[Json]) -> Parts:
        """What `to_config` wrote."""
        return cls(msgspec.convert(config, tuple[Part, ...]))

    def __str__(self) -> str:
        return listing(f"{part.name} {'x'.join(map(str, part.shape)) or '1'}" for part in self.parts)


@dataclass(frozen=True, eq=False)
class ObservationSpec:
    """What is known of an environment's observations before anything is done."""

    shape: tuple[int, ...]
    """Of one observation."""
    dtype: torch.dtype
    """The type of its numbers."""
    entries: Parts | None = None
    """What rows hold, where observations are a `Dict`, or choices, which are read one-hot like its entries."""
    tiled: bool = False
    """Whether images are made of tiles of 8x8 pixels."""
    toroidal: bool = False
    """Whether opposite edges of an image meet."""
    egocentric: bool = False
    """Whether the agent is in the middle of all that it sees."""
    local: bool = False
    """Whether what holds is shown at one place of an image."""
    sensor: tuple[int, int] | None = None
    """(rows, bins) of a lidar, if a vector ends with one: a row for each kind of thing, a bin for each direction."""

    continuous: ClassVar[bool] = True
    """Whether observations cannot be enumerated."""

    @property
    def table(self) -> Tensor | None:
        """(K, *shape) all distinct observations, where they can be enumerated."""
        return None

    @property
    def kind(self) -> Literal["entries", "listed", "image", "numbers"]:
        """What networks and grounders have to read."""
        if self.entries is not None:
            return "entries"
        return "image" if len(self.shape) == 3 else "numbers"

    def either(self, listed: Choice, shown: Other) -> Choice | Other:  # noqa: ARG002 - see `ListedSpec`
        """What suits observations that are listed, or these, which are shown."""
        return shown

    def shown(self, observation: Tensor) -> Tensor:
        """(…, *shape) observations as they look, also where they are row numbers (…)."""
        return observation

    def blank(self, count: int) -> Tensor:
        """(0, count, …) what so many environments have shown before the first step."""
        return torch.empty(0, count, *self.shape, dtype=self.dtype)

    def to(self, device: torch.device) -> ObservationSpec:  # noqa: ARG002 - there is no table
        """The same with its table on a device."""
        return self


@dataclass(frozen=True, eq=False, kw_only=True)
class ListedSpec(ObservationSpec):
    """The same where observations can be enumerated: environments show row numbers."""

    rows: Tensor

    continuous: ClassVar[bool] = False

    @property
    def table(self) -> Tensor:
        """(K, *shape) all of them."""
        return self.rows

    @property
    def kind(self) -> Literal["entries", "listed", "image", "numbers"]:
        """Rows of a table."""
        return "listed"

    def either(self, listed: Choice, shown: Other) -> Choice | Other:  # noqa: ARG002
        """What suits these."""
        return listed

    def shown(self, observation: Tensor) -> Tensor:
        """By row number."""
        return self.rows[observation]

    def blank(self, count: int) -> Tensor:
        """Row numbers."""
        return torch.empty(0, count, dtype=torch.int64)

    def to(self, device: torch.device) -> ListedSpec:
        """With its table there."""
        return replace(self, rows=self.rows.to(device))


def _part(name: str, space: spaces.Space[Any]) -> Part:
    if isinstance(space, spaces.Discrete):
        return Part(name, (), "categories", categories=(int(space.n),), first=(int(space.start),))
    if isinstance(space, spaces.MultiDiscrete):
        counts, first = (tuple(int(number) for number in values.flatten()) for values in (space.nvec, space.start))
        return Part(name, space.shape, "categories", categories=counts, first=first)
    if isinstance(space, spaces.MultiBinary):
        return _bounded(name, space.shape, np.zeros(space.shape), np.ones(space.shape))
    if isinstance(space, spaces.Box):
        if len(space.shape) == 3 and min(space.shape[:2]) >= 8:  # pixels
            return Part(name, space.shape, "image", whole=space.dtype == np.uint8)
        return _bounded(name, space.shape, np.asarray(space.low, float), np.asarray(space.high, float))
    kinds = [kind.__name__ for kind in (spaces.Box, spaces.Discrete, spaces.MultiBinary, spaces.MultiDiscrete)]
    raise EnvError(
        f"the entry '{name}' of observations cannot be read: {space} is no array of numbers "
        f"({listing(kinds)}). Name entries that are with reads=(…), or turn observations into one Box with "
        "gymnasium.wrappers.FlattenObservation"
    )


def _bounded(name: str, shape: tuple[int, ...], low: NDArray[Any], high: NDArray[Any]) -> Part:
    spread = (high.flatten() - low.flatten()) / 2
    # Bounds that are further apart are a type's range, and say nothing about the numbers.
    known = np.isfinite(spread) & (spread > 0) & (spread < 1e6)
    middle = np.where(known, np.where(known, low.flatten(), 0) + spread, 0.0)
    return Part(
        name, shape, "numbers", centre=tuple(middle.tolist()), spread=tuple(np.where(known, spread, 1.0).tolist())
    )
