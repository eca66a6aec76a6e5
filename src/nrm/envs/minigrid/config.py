"""Which of MiniGrid's environments, and how it is seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from nrm.aliases import Argument, Symbol
from nrm.errors import EnvError, listing, require, suggestion, unknown
from nrm.machines import Alphabet, alphabet_of

FAMILIES = ("MiniGrid-", "BabyAI-")
"""How the ids begin that MiniGrid registers."""

Actions = Literal["used", "all"]
View = Literal["grid", "agent"]


@dataclass(frozen=True)
class MiniGridConfig:
    """An environment of MiniGrid, seen as an RGB image."""

    id: str
    """The Gymnasium id, such as `MiniGrid-LavaGapS5-v0`."""
    actions: Actions = "used"
    """"used": the actions that matter, where we have a ready task for the environment; "all": the seven actions."""
    tile: int = 8
    """Pixels along the side of a tile: an 8x8 grid is seen as 64x64x3."""
    view: View = "grid"
    """"grid": the whole grid from above. "agent": what lies before the agent and walls do not hide."""
    view_size: int = 7
    """Tiles along the side of the agent's view: an odd number from 3."""
    label: str | None = None
    """What holds after a step, in place of our propositions: module:name of a function of (observation, info,
    environment), or info:KEY."""
    symbols: tuple[Symbol, ...] | None = None
    """With a label of your own: exactly one of these holds at each step."""
    propositions: tuple[Symbol, ...] | None = None
    """With a label of your own: any of these may hold. Those of the formula, when both are absent."""
    kwargs: dict[str, Argument] = field(default_factory=dict)
    """What MiniGrid makes the environment with: --env.kwargs.max_steps 200."""

    def __post_init__(self) -> None:
        if self.actions not in get_args(Actions):
            raise EnvError(f"actions is 'used' or 'all', not {self.actions!r}{suggestion(str(self.actions), ['used'])}")
        if isinstance(self.tile, bool) or not isinstance(self.tile, int) or not 4 <= self.tile <= 64:
            raise EnvError(f"a tile has 4 to 64 pixels along its side, not {self.tile!r}")
        if self.view not in get_args(View):
            raise EnvError(unknown("view", self.view, get_args(View)))
        if self.view_size < 3 or self.view_size % 2 == 0:
            raise EnvError(f"the agent's view has an odd number of tiles from 3, not {self.view_size}")
        if self.alphabet is not None and self.label is None:
            raise EnvError(
                f"symbols and propositions are for a label of your own; without one, what holds is named by us: "
                f"{listing(self.alphabet.symbols)}. Add --label module:name, or drop them"
            )

    @property
    def alphabet(self) -> Alphabet | None:
        """What can hold, if the configuration says so."""
        return alphabet_of(self.symbols, self.propositions)

    @classmethod
    def of(cls, env: MiniGridConfig | str) -> MiniGridConfig:
        """A configuration as it is, or that of an id."""
        return env if isinstance(env, MiniGridConfig) else cls(env)


def check_minigrid_id(name: str) -> None:
    """Raise unless MiniGrid is installed and registers an environment of that id."""
    import gymnasium

    require("minigrid", f"'{name}' needs MiniGrid", "minigrid")  # it registers its environments

    known = [known for known in gymnasium.registry if known.startswith(FAMILIES)]
    if name not in known:
        raise EnvError(
            f"MiniGrid has no environment '{name}'{suggestion(name, known)} ({len(known)} ids begin with "
            f"{' or '.join(FAMILIES)}; for example MiniGrid-LavaGapS5-v0)"
        )
