"""Rules that choose a grounder by the shape of observations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nrm.errors import ConfigError, listing
from nrm.neural.grounders.cnn import AttendingGrounder, CnnGrounder, PooledGrounder
from nrm.neural.grounders.mlp import FourierGrounder, MlpGrounder, RowsGrounder
from nrm.neural.grounders.registry import GROUNDERS, Grounder
from nrm.neural.layers import OVERLAPPING, is_image
from nrm.observations import DETECTED, Parts


class ShapeRule(NamedTuple):
    """A rule as an entry of the registry."""

    name: str
    label: str
    from_shape: Callable[..., Grounder]


def grounder_for(
    shape: Sequence[int],
    symbols: int,
    independent: bool = False,
    continuous: bool = False,
    one_place: bool = False,
    many: bool = False,
    cells: bool = False,
    sensor: tuple[int, int] | None = None,
) -> Grounder:
    """A fitting grounder for observations of a shape: images get a convolutional one, all else the MLP.

    `continuous`: whether images are of ever new layouts, where only looks tell; `one_place`: whether one place of them
    shows what holds, where the agent is; `many`: whether there are many tasks, which need sharper symbols than one;
    `cells`: whether images are made of cells of 8x8 pixels; `sensor`: (rows, bins) of one that a vector ends with.
    """
    if sensor is not None:
        return RowsGrounder.from_shape(shape, symbols, independent, sensor)
    if continuous and many and len(shape) == 1:
        return FourierGrounder.from_shape(shape, symbols, independent)
    if continuous and one_place and len(shape) == 3:
        return AttendingGrounder.from_shape(shape, symbols, independent, side=2 if cells else OVERLAPPING)
    images = PooledGrounder if continuous else CnnGrounder
    return (images if is_image(shape) else MlpGrounder).from_shape(shape, symbols, independent)


def named_grounder(
    name: str, observed: Sequence[int] | Parts, symbols: int, independent: bool = False, **about: Any
) -> Any:
    """A fresh grounder by its registered name, of observations of a shape or of rows of `Dict` entries.

    `about`: what is known of observations, as in `grounder_for`.
    """
    if not isinstance(observed, Parts):
        if name == "auto":
            return grounder_for(observed, symbols, independent, **about)
        return GROUNDERS[name].from_shape(observed, symbols, independent)
    entries = "detector" if DETECTED in (part.name for part in observed.parts) else "parts"
    kind = GROUNDERS[entries if name == "auto" else name]
    if not hasattr(kind, "from_parts"):
        able = [other for other in GROUNDERS if hasattr(GROUNDERS[other], "from_parts")]
        raise ConfigError(
            f"the grounder '{name}' reads one array, not several entries ({observed}); say with reads=… which one, or "
            f"take another (grounders: {listing(able)})"
        )
    return kind.from_parts(observed, symbols, independent)


def paper_grounder(shape: Sequence[int], symbols: int, independent: bool = False) -> Grounder:
    """The network of the paper's appendix for observations of a shape."""
    if len(shape) == 3:
        return CnnGrounder.from_shape(shape, symbols, independent)
    return MlpGrounder.paper(math.prod(shape), symbols, independent=independent)


GROUNDERS.register(ShapeRule("auto", "convolutional for images, else an MLP", grounder_for))
GROUNDERS.register(ShapeRule("paper", "the paper's appendix", paper_grounder))
