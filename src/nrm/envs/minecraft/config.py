"""What a Minecraft-like environment is made of: one frozen record for the Gymnasium class and the batched one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal, TypeAlias, cast

import msgspec

from nrm.aliases import Symbol
from nrm.envs.batched import Dynamics
from nrm.envs.registry import ENVS, Board, OwnEnvConfig, WithoutMemory
from nrm.envs.task_runner import End
from nrm.errors import EnvError, listing
from nrm.machines import Alphabet, MooreMachine
from nrm.settings import Share

Cell: TypeAlias = tuple[int, int]
"""A place of the grid, (x, y): x counts from the left and y from the top, both from 0."""

Placement: TypeAlias = tuple[Symbol, Cell | None]
"""An item and where it is; None when its place is drawn."""

Layout = Literal["fixed", "episode"]
Observation = Literal["map", "image"]

PAPER_ITEMS: tuple[Placement, ...] = (("pickaxe", (1, 1)), ("lava", (3, 3)), ("door", (3, 0)), ("gem", (0, 3)))
"""The items of the paper's environment, and where they are."""

MINECRAFT_SYMBOLS = ("pickaxe", "lava", "door", "gem", "empty")
"""The symbols of the paper's environment in the order of its tasks: a is the pickaxe, b lava, c the door and d the
gem."""


@ENVS.register
@dataclass(frozen=True)
class MinecraftConfig(OwnEnvConfig):
    """A grid with items on it. The defaults are the paper's environment."""

    name = "minecraft"
    env_names = ("map", "image", "image-episode")
    titled = ("observation", "layout")
    usual_steps = 50

    size: int | tuple[int, int] = 4
    """Cells along a side, or (width, height)."""
    items: Sequence[str] | None = None
    """Names with their cells: gem@0,3 lava@3,3 lava@2,1. An item without a cell is drawn, which needs the layout
    "episode". The paper's items when absent."""
    layout: Layout = "fixed"
    """With "episode", items without a cell are drawn in every episode."""
    start: Cell | Literal["random"] = (0, 0)
    """Where the agent starts; "random" draws a cell without an item every episode."""
    slip: Share = 0.0
    """The probability that one of the four moves, drawn evenly, replaces the action."""
    observation: Observation = "map"
    """"map": the agent's x and y as they are, (2,) float32. "image": the grid from above, (pixels, pixels, 3) uint8."""
    pixels: Annotated[int, msgspec.Meta(ge=2, le=1024)] = 64  # rollouts keep thousands of images
    """The side of an image."""

    def __post_init__(self) -> None:
        super().__post_init__()
        width, height = (self.size, self.size) if isinstance(self.size, int) else self.size
        if not (1 <= width <= 256 and 1 <= height <= 256) or width * height < 2:
            raise EnvError(f"a grid of {width}x{height} cells; sides are 1 to 256, and two cells the least")
        object.__setattr__(self, "size", (width, height))
        if self.pixels < 2 * max(width, height):
            raise EnvError(f"images of {self.pixels} pixels a side are too small for {width}x{height} cells")
        if self.start != "random":
            self._check_inside(self.start, "the start")
        self._check_items()

    @classmethod
    def parse(cls, name: str) -> MinecraftConfig | None:
        """`map`, `image` and `image-episode`."""
        seen, _, drawn = name.partition("-")
        if name not in cls.env_names:
            return None
        return cls(observation=cast(Observation, seen), layout="episode" if drawn else "fixed")

    @property
    def alphabet(self) -> Alphabet:
        """The environment's symbols: the paper's, in their order, where there are no others."""
        if self.empty == "empty" and set(self.names) <= set(MINECRAFT_SYMBOLS):
            return Alphabet.exclusive(MINECRAFT_SYMBOLS)
        if self.empty is None:
            return Alphabet.propositional(self.names)
        return Alphabet.exclusive((*self.names, self.empty))

    def recipe(self) -> str:
        """Images have their own."""
        return "tasks-image" if self.observation == "image" else "tasks"

    def dynamics(self) -> Dynamics:
        """Items on a grid."""
        from nrm.envs.minecraft.env import MinecraftDynamics

        return MinecraftDynamics(self)

    def title(self) -> str:
        """What is observed, and how items are laid out."""
        return self.observation if self.layout == "fixed" else f"{self.observation}-{self.layout}"

    def algorithm(self) -> str:
        """A2C is faster where images repeat, PPO learns to see where they do not."""
        return "ppo" if self.observation == "image" and self.layout == "episode" else "a2c"

    def board(self, machine: MooreMachine, end: End, seed: int) -> Board:
        """Tiles."""
        from nrm.envs.minecraft.env import board

        return board(self, machine, end, seed)

    def without_memory(self, machine: MooreMachine, end: End) -> WithoutMemory | None:
        """Of fixed grids."""
        from nrm.envs.minecraft.memoryless import without_memory

        return without_memory(self, machine, end)

    @property
    def shape(self) -> tuple[int, int]:
        """(width, height) in cells."""
        return cast(tuple[int, int], self.size)

    @property
    def cells(self) -> int:
        """How many cells there are. Cell (x, y) has the number y * width + x."""
        return self.shape[0] * self.shape[1]

    @cached_property
    def placements(self) -> tuple[Placement, ...]:
        """Every single item with its cell, or None where it is drawn."""
        if self.items is not None:
            return tuple(map(_placement, self.items))
        return tuple((name, cell if self.layout == "fixed" else None) for name, cell in PAPER_ITEMS)

    @cached_property
    def names(self) -> tuple[Symbol, ...]:
        """The different names of items, in order."""
        return tuple(dict.fromkeys(name for name, _ in self.placements))

    @property
    def start_cell(self) -> Cell | None:
        """Where the agent starts, or None when that is drawn."""
        return None if self.start == "random" else self.start

    def number(self, cell: Cell) -> int:
        """The number of a cell."""
        return cell[1] * self.shape[0] + cell[0]

    def _check_inside(self, cell: Cell, what: str) -> None:
        width, height = self.shape
        if not (0 <= cell[0] < width and 0 <= cell[1] < height):
            raise EnvError(
                f"{what} is at {cell}, outside the {width}x{height} grid (x is 0 to {width - 1}, y 0 to {height - 1})"
            )

    def _check_items(self) -> None:
        taken: dict[Cell, str] = {}
        for name, cell in self.placements:
            if cell is None:
                if self.layout == "fixed":
                    raise EnvError(f"item '{name}' has no cell; give it one, or draw it with layout 'episode'")
                continue
            self._check_inside(cell, f"item '{name}'")
            if cell == self.start:
                raise EnvError(f"item '{name}' is on the start {cell}; move one of them")
            if cell in taken:
                raise EnvError(f"items '{taken[cell]}' and '{name}' are both at {cell}; a cell holds one item")
            taken[cell] = name
        if self.layout != "fixed" and len(taken) == len(self.placements):
            raise EnvError(
                f"layout '{self.layout}' has nothing to draw: every item has a cell. Give names only "
                f"({listing(self.names)}), or use layout 'fixed'"
            )
        if len(self.placements) >= self.cells:
            raise EnvError(f"{len(self.placements)} items and the start do not fit into {self.cells} cells")


def _placement(entry: str) -> Placement:
    """An item as text: `gem`, or `gem@0,3`."""
    name, at, place = entry.partition("@")
    parts = place.split(",") if at else []
    if not name.strip() or (at and (len(parts) != 2 or not all(part.strip().isdecimal() for part in parts))):
        raise EnvError(f"an item is written as 'gem', or with its cell as 'gem@0,3', not {entry!r}")
    return name.strip(), (int(parts[0]), int(parts[1])) if at else None
