"""Which of MiniGrid's environments, and how it is seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from nrm.errors import WorldError, require, suggestion

FAMILIES = ("MiniGrid-", "BabyAI-")
"""How the ids begin that MiniGrid registers."""

Actions = Literal["used", "all"]


@dataclass(frozen=True)
class MiniGridConfig:
    """An environment of MiniGrid, seen whole from above as an RGB image."""

    id: str
    """The Gymnasium id, such as `MiniGrid-LavaGapS5-v0`."""
    actions: Actions = "used"
    """"used": the actions that MiniGrid's page of the environment does not call unused, where we have a ready task for
    it; "all": the seven actions."""
    tile: int = 8
    """Pixels along the side of a tile: an 8x8 grid is seen as 64x64x3."""

    def __post_init__(self) -> None:
        if self.actions not in get_args(Actions):
            raise WorldError(
                f"actions is 'used' or 'all', not {self.actions!r}{suggestion(str(self.actions), ['used'])}"
            )
        if isinstance(self.tile, bool) or not isinstance(self.tile, int) or not 4 <= self.tile <= 64:
            raise WorldError(f"a tile has 4 to 64 pixels along its side, not {self.tile!r}")

    @classmethod
    def of(cls, world: MiniGridConfig | str) -> MiniGridConfig:
        """A configuration as it is, or that of an id."""
        return world if isinstance(world, MiniGridConfig) else cls(world)


def check_minigrid_id(name: str) -> None:
    """Raise unless MiniGrid is installed and registers an environment of that id."""
    import gymnasium

    require("minigrid", f"'{name}' needs MiniGrid", "minigrid")  # it registers its environments

    known = [known for known in gymnasium.registry if known.startswith(FAMILIES)]
    if name not in known:
        raise WorldError(
            f"MiniGrid has no environment '{name}'{suggestion(name, known)} ({len(known)} ids begin with "
            f"{' or '.join(FAMILIES)}; for example MiniGrid-LavaGapS5-v0)"
        )
