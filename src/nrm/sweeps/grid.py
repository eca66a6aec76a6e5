"""The grid of an experiment: environments x tasks (or samplers of them) x methods x seeds x variants."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec

from nrm.errors import GridError, NrmError
from nrm.runs import RunOptions
from nrm.settings import USUAL

if TYPE_CHECKING:
    from nrm.sweeps.expansion import Cell

_AXES = ("tasks", "envs", "methods", "seeds", "variants")


@dataclass(frozen=True)
class Grid(RunOptions):
    """A sweep: each combination of the lists is a run. An invalid sweep is refused before anything is trained."""

    error: ClassVar[type[NrmError]] = GridError
    usual: ClassVar = {"tasks": (), "envs": ("map",), "seeds": (0,)}

    tasks: tuple[str, ...] = USUAL
    """Paper tasks (1 to 8, or names), formulas, task files (.toml), machine files, own (the ready task of each
    environment), or task samplers for runs on many tasks: a name, file:PATH or module:name."""
    envs: tuple[str, ...] = USUAL
    """Environments: map, image, image-episode, minigrid:ID, gym:ID, or module:name."""
    methods: tuple[str, ...] = ("rm", "nrm", "rnn")
    """Methods."""
    seeds: tuple[Annotated[int, msgspec.Meta(ge=0)], ...] = USUAL
    """Training seeds."""
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"": {}})
    """Named changes to compare, on top of `settings`. A variant may also change recipe, algorithm, total_episodes,
    total_timesteps, num_envs and end."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for axis in _AXES:
            values = list(getattr(self, axis))
            if not values:
                raise GridError(f"the grid is empty: {axis} lists nothing")
            for value in values:
                if values.count(value) > 1:
                    raise GridError(f"conflicting cells: {axis} lists {value!r} twice")
        for name in self.variants:
            if name and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
                raise GridError(f"the variant '{name}' cannot name a folder; use letters, digits, '.', '_' and '-'")

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The runs, seeds outermost, so that a part of the grid says something about all of it early."""
        from nrm.sweeps.expansion import grid_cells

        return grid_cells(self)


PAPER_LISTS: Mapping[str, Any] = {
    "tasks": ("1", "2", "3", "4", "5", "6", "7", "8"),
    "envs": ("map", "image"),
    "seeds": (0, 1, 2, 3, 4),
    "total_episodes": 10_000,
}
"""The paper's experiments: 8 tasks x 3 methods x 5 seeds x 10,000 episodes in both environments."""
