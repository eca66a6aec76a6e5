"""What holds in a MiniGrid environment, read from its state: for the task's reward and for evaluation only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nrm.aliases import Symbol
from nrm.errors import UnknownSymbolError, suggestion

COLOURS = ("red", "green", "blue", "purple", "yellow", "grey")
STOOD_ON = ("goal", "lava")
ENDS = {"match": "success_pos", "mismatch": "failure_pos"}
"""Of Memory: where its hallway ends beside the object that was seen at the start, and beside the other one."""
CARRIED = ("key", "ball", "box")
EMPTY = "empty"
"""The symbol of an exclusive alphabet that holds when nothing else does."""

_COLOURED = ("door", *CARRIED)
PROPOSITIONS: tuple[Symbol, ...] = (
    *STOOD_ON,
    *ENDS,
    *_COLOURED,
    *(f"{colour}_{thing}" for thing in _COLOURED for colour in COLOURS),
)
"""All that can be said of any grid. `goal`, `lava`: the agent stands on one. `match`, `mismatch`: it stands at the
right or at the wrong end of Memory's hallway. `door`, `red_door`, …: such a door is open. `key`, `ball`, `box`,
`red_key`, …: the agent *carries* such a thing.

In an image of the whole grid all but the last kind are drawn. A carried thing is not: it is missing where it lay, which
tells it where every episode begins with as many of these things, as in DoorKey. In the agent's view a carried thing is
drawn, but a door only while it is in sight, and of `match` nothing but the end of a hallway."""


def what_holds(env: Any) -> set[Symbol]:
    """The propositions that are true in a MiniGrid environment now."""
    grid_env = env.unwrapped
    holds = {
        name
        for cell in grid_env.grid.grid
        if cell is not None and cell.type == "door" and cell.is_open
        for name in ("door", f"{cell.color}_door")
    }
    here = grid_env.grid.get(*grid_env.agent_pos)
    if here is not None and here.type in STOOD_ON:
        holds.add(here.type)
    place = tuple(int(part) for part in grid_env.agent_pos)
    holds |= {name for name, end in ENDS.items() if getattr(grid_env, end, None) == place}
    carried = grid_env.carrying
    if carried is not None:
        holds |= {carried.type, f"{carried.color}_{carried.type}"}
    return holds


class GridLabels:
    """The labelling function of `TaskEnv` for the propositions that a task speaks of."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self.symbols = frozenset(symbols)
        for name in sorted(self.symbols - {EMPTY}):
            if name not in PROPOSITIONS:
                raise UnknownSymbolError(
                    f"nothing in a grid is called '{name}'{suggestion(name, PROPOSITIONS)}; there are goal and lava "
                    "(stood on), match and mismatch (the ends of Memory), door (open), key, ball and box (carried), "
                    "the last four also by colour: red_door, …; --label module:name brings what you name yourself"
                )

    def __call__(self, observation: Any, info: dict[str, Any], env: Any) -> set[Symbol]:  # noqa: ARG002
        """The task's propositions that hold after a step."""
        return what_holds(env) & self.symbols
