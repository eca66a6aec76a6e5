"""Grounders that fit the observations of a world."""

from __future__ import annotations

from torch import nn

from nrm.envs.world import BatchedWorld, tasks_of
from nrm.errors import ConfigError
from nrm.neural.grounders import GROUNDERS, grounder_for


def grounder_on(world: BatchedWorld, name: str, symbols: int, independent: bool = False) -> nn.Module:
    """A fresh grounder of so many symbols, by its registered name; `auto` goes by the observations.

    `independent`: symbols are propositions, each with a probability of its own.
    """
    parts = getattr(world, "parts", None)
    if parts is not None:
        kind = GROUNDERS["parts" if name == "auto" else name]
        if not hasattr(kind, "from_parts"):
            raise ConfigError(f"the grounder '{name}' reads one array, but observations are a Dict: {parts}; use parts")
        together: nn.Module = kind.from_parts(parts, symbols, independent)
        return together
    if name == "auto":  # images without end are images of ever new layouts
        return grounder_for(
            world.shape,
            symbols,
            independent,
            endless=world.frames is None,
            one_place=getattr(world, "one_place", False),
            many=tasks_of(world) is not None,
            cells=getattr(world, "cells", False),
        )
    made: nn.Module = GROUNDERS[name].from_shape(world.shape, symbols, independent)
    return made
