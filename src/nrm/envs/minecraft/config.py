"""What a Minecraft-like environment is made of: one frozen record for the Gymnasium class and the batched one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, cast

import gymnasium
import numpy as np

from nrm.aliases import Symbol
from nrm.envs.base import BatchedEnv
from nrm.envs.registry import ENVS, Board, EnvConfig, TaskSpace, WithoutMemory
from nrm.envs.task_env import TaskEnv
from nrm.envs.task_runner import End
from nrm.errors import ConfigError, EnvError, listing
from nrm.logic import atom
from nrm.machines import Alphabet, MooreMachine, Task, TaskSet, task_from_text

Cell: TypeAlias = tuple[int, int]
"""A place of the grid, (x, y): x counts from the left and y from the top, both from 0."""

Placement: TypeAlias = tuple[Symbol, Cell | None]
"""An item and where it is; None when its place is drawn."""

Layout = Literal["fixed", "seed", "episode"]
Observation = Literal["map", "image"]

PAPER_ITEMS: tuple[Placement, ...] = (("pickaxe", (1, 1)), ("lava", (3, 3)), ("door", (3, 0)), ("gem", (0, 3)))
"""The items of the paper's environment, and where they are."""

MINECRAFT_SYMBOLS = ("pickaxe", "lava", "door", "gem", "empty")
"""The symbols of the paper's environment in the order of its tasks: a is the pickaxe, b lava, c the door and d the
gem."""


@ENVS.register
@dataclass(frozen=True)
class MinecraftConfig(EnvConfig):
    """A grid with items on it. The defaults are the paper's environment."""

    name = "minecraft"
    env_names = ("map", "image", "image-episode")
    titled = ("observation", "layout")

    size: int | tuple[int, int] = 4
    """Cells along a side, or (width, height)."""
    items: Sequence[str] | None = None
    """Names with their cells: gem@0,3 lava@3,3 lava@2,1. An item without a cell is drawn, which needs another layout
    than "fixed". The paper's items when absent."""
    layout: Layout = "fixed"
    """Items without a cell are drawn once per seed ("seed") or anew every episode ("episode")."""
    start: Cell | Literal["random"] = (0, 0)
    """Where the agent starts; "random" draws a cell without an item every episode."""
    slip: float = 0.0
    """The probability that one of the four moves, drawn evenly, replaces the action."""
    steps: int = 50
    """The length after which an episode is truncated."""
    observation: Observation = "map"
    """"map": the agent's x and y as they are, (2,) float32. "image": the grid from above, (pixels, pixels, 3) uint8."""
    pixels: int = 64
    """The side of an image."""
    empty: Symbol | None = "empty"
    """The symbol that holds where no item is; None when nothing then holds (for propositional alphabets)."""

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "size", _checked_size(self.size))
        self._check_choices(layout=Layout, observation=Observation)
        if self.start != "random":
            set_field(self, "start", _cell(self.start))
            self._check_inside(self.start, "the start")
        if self.items is not None:
            if isinstance(self.items, str) or not isinstance(self.items, Sequence):
                raise EnvError(f"items are a list of texts, such as ['gem@0,3'], not {self.items!r}")
            set_field(self, "items", tuple(self.items))
        self._check_items()
        slip: object = self.slip
        if not isinstance(slip, (int, float)) or not 0.0 <= slip <= 1.0:
            raise EnvError(f"slip is a probability between 0 and 1, not {self.slip!r}")
        self._check_whole(steps=1, pixels=2 * max(self.shape))
        if self.pixels > 1024:  # rollouts keep thousands of images
            raise EnvError(
                f"an image of {self.pixels:,} pixels a side takes {3 * self.pixels**2 / 2**20:,.0f} MB, and many are "
                "kept at once; give at most 1,024"
            )

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

    def task(self, text: str | None) -> Task:
        """A paper task over the environment's symbols, a task file, or a formula."""
        if text is None:
            raise ConfigError("no task is given; add one, such as --task 1 or --task 'F pickaxe & G !lava'")
        return task_from_text(text, self.alphabet)

    def recipe(self) -> str:
        """Images have their own."""
        return "tasks-image" if self.observation == "image" else "tasks"

    def task_space(self) -> TaskSpace:
        """The items."""
        return TaskSpace(self.alphabet, tuple(atom(name) for name in self.names))

    def build(self, tasks: MooreMachine | TaskSet, count: int, end: End) -> BatchedEnv:
        """N grids."""
        from nrm.envs.minecraft.env import BatchedMinecraft

        return BatchedMinecraft(self, tasks, count, end)

    def render(self, machine: MooreMachine, mode: str, end: End) -> gymnasium.Env[Any, Any]:
        """One grid."""
        from nrm.envs.minecraft.env import MinecraftEnv

        return TaskEnv(MinecraftEnv(self, render_mode=mode), machine, end=end)

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
                    raise EnvError(
                        f"item '{name}' has no cell; give it one, or draw it with layout 'seed' or 'episode'"
                    )
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
        if self.empty in self.names:
            raise EnvError(f"'{self.empty}' names both an item and the empty cell; rename one of them")


def _whole(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _checked_size(size: object) -> tuple[int, int]:
    sides = (size, size) if _whole(size) else tuple(size) if isinstance(size, (tuple, list)) else ()
    if len(sides) != 2 or not all(_whole(side) for side in sides):
        raise EnvError(f"size is a number of cells or (width, height), not {size!r}")
    width, height = (int(cast(int, side)) for side in sides)
    if not (1 <= width <= 256 and 1 <= height <= 256) or width * height < 2:
        raise EnvError(f"a grid of {width}x{height} cells; sides are 1 to 256, and two cells the least")
    return width, height


def _cell(value: object) -> Cell:
    if isinstance(value, (tuple, list)) and len(value) == 2 and all(_whole(part) for part in value):
        return int(value[0]), int(value[1])
    raise EnvError(f"the start (if not 'random') must be a cell (x, y) of whole numbers, not {value!r}")


def _placement(entry: object) -> Placement:
    """An item as text: `gem`, or `gem@0,3`."""
    name, at, place = entry.partition("@") if isinstance(entry, str) else ("", "", "")
    parts = place.split(",") if at else []
    if not name.strip() or (at and (len(parts) != 2 or not all(part.strip().isdecimal() for part in parts))):
        raise EnvError(f"an item is written as 'gem', or with its cell as 'gem@0,3', not {entry!r}")
    return name.strip(), (int(parts[0]), int(parts[1])) if at else None
