"""What a Minecraft-like environment is made of: one frozen record for the Gymnasium class and the batched one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

import gymnasium
import numpy as np

from nrm.aliases import Symbol
from nrm.envs.base import BatchedEnv
from nrm.envs.counter_rng import check_seed
from nrm.envs.registry import ENVS, Board, EnvConfig, TaskSpace, WithoutMemory
from nrm.envs.task_env import TaskEnv
from nrm.envs.termination import End
from nrm.errors import ConfigError, EnvError, listing, unknown
from nrm.logic import atom
from nrm.machines import Alphabet, MooreMachine, Task, TaskSet, task_from_text

Cell: TypeAlias = tuple[int, int]
"""A place of the grid, (x, y): x counts from the left and y from the top, both from 0."""

Placement: TypeAlias = tuple[Symbol, Cell | None]
"""An item and where it is; None when its place is drawn."""

if TYPE_CHECKING:
    Items: TypeAlias = Sequence[Symbol] | Mapping[Symbol, Cell | Sequence[Cell] | int | None] | Sequence[Placement]
else:
    Items = tuple[str, ...]
"""Items as Python may give them: names (`gem`, or `gem@0,3` with a cell), or a mapping from a name to a cell, several
cells, None, or how many to draw. Files and the command line give texts."""

Layout = Literal["fixed", "seed", "episode"]
Observation = Literal["map", "image"]

PAPER_ITEMS: tuple[Placement, ...] = (("pickaxe", (1, 1)), ("lava", (3, 3)), ("door", (3, 0)), ("gem", (0, 3)))
"""The items of the paper's environment, and where they are."""

MINECRAFT_SYMBOLS = ("pickaxe", "lava", "door", "gem", "empty")
"""The symbols of the paper's environment in the order of its tasks: a is the pickaxe, b lava, c the door and d the
gem."""

MAX_SIDE = 256
MAX_PIXELS = 1024
"""Pixels along the side of an image. Rollouts keep thousands of images."""


@ENVS.register
@dataclass(frozen=True)
class MinecraftConfig(EnvConfig):
    """A grid with items on it. The defaults are the paper's environment."""

    name = "minecraft"
    env_names = ("map", "image", "image-episode")
    titled = ("observation", "layout")

    size: int | tuple[int, int] = 4
    """Cells along a side, or (width, height)."""
    items: Items | None = None
    """Names with their cells: gem@0,3 lava@3,3 lava@2,1, or in Python `{"gem": (0, 3), "lava": [(3, 3), (2, 1)]}`. An
    item without a cell is drawn, which needs another layout than "fixed". The paper's items when absent."""
    layout: Layout = "fixed"
    """Items without a cell are drawn once per seed ("seed") or anew every episode ("episode")."""
    layout_seed: int | None = None
    """For layout "seed": draw from this seed, whatever the seed of `reset`."""
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
        for name, choices in (("layout", get_args(Layout)), ("observation", get_args(Observation))):
            if getattr(self, name) not in choices:
                raise EnvError(unknown(name, getattr(self, name), choices))
        if self.start != "random":
            set_field(self, "start", _cell(self.start, "the start (if not 'random')"))
            self._check_inside(self.start, "the start")
        if self.items is not None:
            texts = (name if cell is None else f"{name}@{cell[0]},{cell[1]}" for name, cell in _placements(self.items))
            set_field(self, "items", tuple(texts))
        self._check_items()
        slip: object = self.slip
        if not isinstance(slip, (int, float)) or not 0.0 <= slip <= 1.0:
            raise EnvError(f"slip is a probability between 0 and 1, not {self.slip!r}")
        if not _whole(self.steps) or self.steps < 1:
            raise EnvError(f"an episode has at least one step; steps is {self.steps!r}")
        if not _whole(self.pixels) or self.pixels < 2 * max(self.shape):
            raise EnvError(
                f"an image of {self.pixels!r} pixels cannot show {max(self.shape)} cells in a row; "
                f"give at least {2 * max(self.shape)}"
            )
        if self.pixels > MAX_PIXELS:
            raise EnvError(
                f"an image of {self.pixels:,} pixels a side takes {3 * self.pixels**2 / 2**20:,.0f} MB, and many are "
                f"kept at once; give at most {MAX_PIXELS:,}"
            )
        if self.layout_seed is not None:
            check_seed(self.layout_seed)
            if self.layout != "seed":
                raise EnvError(f"layout_seed is for layout 'seed'; the layout is '{self.layout}'")

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
        """From images it takes more gradient steps, not more of the environment: PPO as it is."""
        return "none" if self.observation == "image" else "tasks"

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
            return _placements(self.items)
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
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE) or width * height < 2:
        raise EnvError(f"a grid of {width}x{height} cells; sides are 1 to {MAX_SIDE}, and two cells the least")
    return width, height


def _cell(value: object, what: str) -> Cell:
    if isinstance(value, (tuple, list)) and len(value) == 2 and all(_whole(part) for part in value):
        return int(value[0]), int(value[1])
    raise EnvError(f"{what} must be a cell (x, y) of whole numbers, not {value!r}")


def _placements(items: Items) -> tuple[Placement, ...]:
    """Any way to give items as a plain tuple: one entry for each single item."""
    if isinstance(items, str):
        raise EnvError(f"items are a list of names or a mapping from names to cells, not the text '{items}'")
    pairs: list[tuple[Any, Any]] = []
    if isinstance(items, Mapping):
        pairs = list(items.items())
    else:
        for entry in items:
            if isinstance(entry, str):
                pairs.append(_spelt(entry))
            elif isinstance(entry, (tuple, list)) and len(entry) == 2:
                pairs.append((entry[0], entry[1]))
            else:
                raise EnvError(f"an item is a name, or a name with a cell, not {entry!r}")
    return tuple(placement for name, place in pairs for placement in _copies(name, place))


def _spelt(entry: str) -> tuple[str, Cell | None]:
    """An item as text: `gem`, or `gem@0,3`."""
    name, at, place = entry.partition("@")
    if not at:
        return name, None
    parts = place.split(",")
    if len(parts) != 2 or not all(part.strip().isdecimal() for part in parts):
        raise EnvError(f"an item with its cell is written as 'gem@0,3', not {entry!r}")
    return name.strip(), (int(parts[0]), int(parts[1]))


def _copies(name: object, place: object) -> list[Placement]:
    """The single items behind one entry: a cell, several cells, None, or a number of copies."""
    if not isinstance(name, str) or not name:
        raise EnvError(f"an item is named by text, not by {name!r}")
    if place is None:
        return [(name, None)]
    if _whole(place):
        if cast(int, place) < 1:
            raise EnvError(f"{place} copies of item '{name}'; leave it out instead")
        return [(name, None)] * int(cast(int, place))
    if isinstance(place, (tuple, list)) and place and isinstance(place[0], (tuple, list)):
        return [(name, _cell(cell, f"each place of item '{name}'")) for cell in place]
    return [(name, _cell(place, f"the place of item '{name}'"))]
