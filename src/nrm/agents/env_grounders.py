"""Grounders that fit the observations of an environment."""

from __future__ import annotations

from torch import nn

from nrm.envs.base import BatchedEnv, tasks_of
from nrm.errors import ConfigError
from nrm.neural import GROUNDERS, grounder_for


def grounder_on(env: BatchedEnv, name: str, symbols: int, independent: bool = False) -> nn.Module:
    """A fresh grounder of so many symbols, by its registered name; `auto` goes by the observations.

    `independent`: symbols are propositions, each with a probability of its own.
    """
    spec = env.spec
    parts = spec.entries
    if parts is not None:
        kind = GROUNDERS["parts" if name == "auto" else name]
        if not hasattr(kind, "from_parts"):
            raise ConfigError(f"the grounder '{name}' reads one array, but observations are a Dict: {parts}; use parts")
        together: nn.Module = kind.from_parts(parts, symbols, independent)
        return together
    if name == "auto":  # images without end are images of ever new layouts
        return grounder_for(
            env.shape,
            symbols,
            independent,
            endless=spec.table is None,
            one_place=spec.local,
            many=tasks_of(env) is not None,
            cells=spec.tiled,
        )
    made: nn.Module = GROUNDERS[name].from_shape(env.shape, symbols, independent)
    return made
