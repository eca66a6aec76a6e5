"""The Minecraft-like grid environment: how it moves and looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias, cast

import msgspec
import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.aliases import BoolArray, Symbol
from nrm.envs.batched import BatchedTasks, Places, SingleEnv
from nrm.envs.counter_rng import Words, draws, words
from nrm.envs.grids import ACTIONS, GridDynamics, next_cells
from nrm.envs.minecraft.images import Painter, tiles
from nrm.envs.registry import ENVS, Board, OwnEnvConfig
from nrm.envs.task_runner import End
from nrm.errors import EnvError
from nrm.machines import Alphabet, MooreMachine
from nrm.observations import ListedSpec, ObservationSpec
from nrm.settings import Share

Cell: TypeAlias = tuple[int, int]
"""A place of the grid, (x, y): x counts from the left and y from the top, both from 0."""

Placement: TypeAlias = tuple[Symbol, Cell | None]
"""An item and where it is; None when its place is drawn."""

Layout = Literal["fixed", "episode"]

PAPER_ITEMS: tuple[Placement, ...] = (("pickaxe", (1, 1)), ("lava", (3, 3)), ("door", (3, 0)), ("gem", (0, 3)))
"""The items of the paper's environment, and where they are."""

MINECRAFT_SYMBOLS = ("pickaxe", "lava", "door", "gem", "empty")
"""The symbols of the paper's environment in the order of its tasks: a is the pickaxe, b lava, c the door and d the
gem."""


@ENVS.register
@dataclass(frozen=True)
class MinecraftConfig(OwnEnvConfig):
    """A grid with items. The defaults are the environment of the paper."""

    name = "minecraft"
    env_names = ("map", "image", "image-episode")
    titled = ("observation", "layout")
    observations = ("map", "image")
    usual: ClassVar = {"steps": 50, "observation": "map"}

    size: int | tuple[int, int] = 4
    """Cells along a side, or (width, height)."""
    items: Sequence[str] | None = None
    """Items with their cells: gem@0,3 lava@3,3 lava@2,1. An item without a cell is placed at random, with layout
    "episode". Default: the items of the paper."""
    layout: Layout = "fixed"
    """fixed, or episode: items without a cell are placed at random in each episode."""
    start: Cell | Literal["random"] = (0, 0)
    """Start cell of the agent, or "random": a cell without an item."""
    slip: Share = 0.0
    """Probability that a random move replaces the action."""
    pixels: Annotated[int, msgspec.Meta(ge=2, le=1024)] = 64  # rollouts keep thousands of images
    """Width and height of the image."""

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
        seen, _, drawn = name.partition("-")
        if name not in cls.env_names:
            return None
        return cls(observation=seen, layout="episode" if drawn else "fixed")

    @property
    def alphabet(self) -> Alphabet:
        """The environment's symbols: the paper's, in their order, where there are no others."""
        if self.empty == "empty" and set(self.names) <= set(MINECRAFT_SYMBOLS):
            return Alphabet.exclusive(MINECRAFT_SYMBOLS)
        if self.empty is None:
            return Alphabet.propositional(self.names)
        return Alphabet.exclusive((*self.names, self.empty))

    def recipe(self) -> str:
        return "tasks-image" if self.observation == "image" else "tasks"

    def dynamics(self) -> MinecraftDynamics:
        return MinecraftDynamics(self)

    def title(self) -> str:
        return self.observation if self.layout == "fixed" else f"{self.observation}-{self.layout}"

    def algorithm(self) -> str:
        """A2C is faster where images repeat, PPO learns to see where they do not."""
        return "ppo" if self.observation == "image" and self.layout == "episode" else "a2c"

    def board(self, machine: MooreMachine, end: End, seed: int) -> Board:
        """One layout as tiles, drawn from a seed where it varies."""
        if self.cells > 1024:
            raise EnvError(f"environments are drawn up to 1,024 cells; this one has {self.cells:,}")
        still = self if self.layout == "fixed" else settled(self, seed)
        return Board(
            env=BatchedTasks(still, machine, 1, end),
            width=still.shape[0],
            height=still.shape[1],
            contents=begin(still, words([seed])).contents[0].tolist(),
            letters=still.dynamics().contents_letters(machine.alphabet).tolist(),
            tiles=tiles(still.names),
            actions=ACTIONS,
            drawn=self.layout == "episode",
        )

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
            raise EnvError(f"layout '{self.layout}' has nothing to draw: every item has a cell; use layout 'fixed'")
        if len(self.placements) >= self.cells:
            raise EnvError(f"{len(self.placements)} items and the start do not fit into {self.cells} cells")


def _placement(entry: str) -> Placement:
    """An item as text: `gem`, or `gem@0,3`."""
    name, at, place = entry.partition("@")
    parts = place.split(",") if at else []
    if not name.strip() or (at and (len(parts) != 2 or not all(part.strip().isdecimal() for part in parts))):
        raise EnvError(f"an item is written as 'gem', or with its cell as 'gem@0,3', not {entry!r}")
    return name.strip(), (int(parts[0]), int(parts[1])) if at else None


class Episodes(NamedTuple):
    """The beginnings of n episodes."""

    start: NDArray[np.int64]
    """(n,) the number of the cell where the agent starts."""
    contents: NDArray[np.int64]
    """(n, cells) what lies in each cell: 0 for nothing, i for the i-th name of the configuration."""


def begin(config: MinecraftConfig, keys: Words) -> Episodes:
    """Draw where everything is at the start of the episodes with these keys.

    One order of the cells is drawn for each episode; the agent takes the first, the items to be drawn the next ones.
    """
    contents = np.zeros((len(keys), config.cells), dtype=np.int64)
    order_by = (draws(keys[:, None], np.arange(config.cells)) >> np.uint64(1)).astype(np.int64)
    waiting = []
    for name, cell in config.placements:
        content = config.names.index(name) + 1
        if cell is None:
            waiting.append(content)
        else:
            contents[:, config.number(cell)] = content
            order_by[:, config.number(cell)] = np.iinfo(np.int64).max
    if config.start_cell is not None:
        order_by[:, config.number(config.start_cell)] = -1
    order = np.argsort(order_by, axis=1, kind="stable")
    if waiting:
        np.put_along_axis(contents, order[:, 1 : 1 + len(waiting)], np.array(waiting), axis=1)
    return Episodes(order[:, 0].astype(np.int64), contents)


def settled(config: MinecraftConfig, seed: int) -> MinecraftConfig:
    """The configuration with its items put where this seed draws them."""
    contents = begin(config, words([seed])).contents[0]
    width = config.shape[0]
    cells = sorted(np.flatnonzero(contents).tolist(), key=lambda cell: contents[cell])
    items = tuple(f"{config.names[contents[cell] - 1]}@{cell % width},{cell // width}" for cell in cells)
    return replace(config, items=items, layout="fixed")


def slipped(
    config: MinecraftConfig, keys: Words, steps: NDArray[np.int64], actions: NDArray[np.int64]
) -> NDArray[np.int64]:
    """(n,) the moves that happen at these steps (from 0) of the episodes with these keys, when `actions` are chosen."""
    # Draws of places count from 0, one for each cell; draws of slips from here, one for each step.
    drawn = draws(keys, steps.astype(np.uint64) + np.uint64(1 << 32))
    chance = (drawn >> np.uint64(11)).astype(np.float64) / (1 << 53)
    return np.where(chance < config.slip, (drawn & np.uint64(3)).astype(np.int64), actions)


class MinecraftDynamics(GridDynamics):
    """A grid with items. Where the layout never changes, an observation follows from the agent's cell."""

    config: MinecraftConfig

    def __init__(self, config: MinecraftConfig) -> None:
        super().__init__(config, next_cells(*config.shape), (config.empty, *config.names), 0)
        y, x = np.divmod(np.arange(config.cells), config.shape[0])
        self._coordinates = np.stack([x, y], axis=1).astype(np.float32)
        self._painters: dict[int, Painter] = {}
        self.contents = None
        self.random = True
        if config.layout == "fixed":
            self.contents = begin(config, np.zeros(1, dtype=np.uint64)).contents
            self.random = config.start_cell is None or config.slip > 0
        self._start = np.array([config.number(config.start_cell or (0, 0))], dtype=np.int64)
        self.observation_space = spaces.Box(np.zeros(2, np.float32), self._coordinates[-1], dtype=np.float32)
        if config.observation == "image":
            self.observation_space = spaces.Box(0, 255, (config.pixels, config.pixels, 3), np.uint8)

    @cached_property
    def spec(self) -> ObservationSpec:  # type: ignore[override]
        """With all observations, where there is one of each cell."""
        dtype = torch.uint8 if self.config.observation == "image" else torch.float32
        spec = ObservationSpec(self.observation_space.shape or (), dtype, local=True)
        if self.contents is None:
            return spec
        rows = torch.from_numpy(self.observe({"cell": np.arange(self.config.cells)}))
        return ListedSpec(spec.shape, dtype, local=True, rows=rows)

    def begin(self, keys: Words) -> Places:
        if not self.random:
            return {"cell": self._start.repeat(len(keys))}
        drawn = begin(self.config, keys)
        return {"cell": drawn.start} if self.contents is not None else {"cell": drawn.start, "contents": drawn.contents}

    def move(
        self, places: Places, actions: NDArray[Any], keys: Words, times: NDArray[np.int64]
    ) -> tuple[Places, BoolArray | None]:
        taken = slipped(self.config, keys, times, actions) if self.config.slip else actions
        return super().move(places, taken, keys, times)

    def shown(self, places: Places) -> NDArray[Any]:
        return self.observe(places) if self.contents is None else places["cell"].copy()

    def observe(self, places: Places) -> NDArray[Any]:
        if self.config.observation == "map":
            return self._coordinates[places["cell"]]
        return self._painted(places, self.config.pixels)

    def contents_letters(self, alphabet: Alphabet) -> NDArray[np.int64]:
        self.config.check_alphabet(alphabet)
        nothing = () if self.config.empty is None else self.config.empty
        return np.array([alphabet.letter(nothing), *map(alphabet.letter, self.config.names)], dtype=np.int64)

    def picture(self, way: Sequence[Places]) -> NDArray[np.uint8]:
        last: NDArray[np.uint8] = self._painted(way[-1], max(512, self.config.pixels))[0]
        return last

    def _painted(self, places: Places, pixels: int) -> NDArray[np.uint8]:
        if pixels not in self._painters:
            self._painters[pixels] = Painter(self.config, pixels)
        return self._painters[pixels].paint(self.all_contents(places), places["cell"])


class MinecraftEnv(SingleEnv):
    """A grid with items: the paper's Minecraft-like environment ("Example: Image-Based Minecraft-Like Environment").

    An agent walks on a grid among a pickaxe, a gem, a door and lava. The environment itself has no goal: put a task
    on it with `nrm.TaskEnv(env, machine)`, which reads the symbol of the cell that the agent enters.

    - Actions: `Discrete(4)`, 0 up, 1 right, 2 down, 3 left. At the edge the agent stays where it is. With probability
      `slip` one of the four moves, drawn evenly, happens instead.
    - Observations: `"map"`, the agent's x and y, counted from 0 at the top left and not scaled, `Box(2,) float32`; or
      `"image"`, the grid from above, `Box(64, 64, 3) uint8`; an item under the agent stays recognisable.
    - Rewards: 0 at every step; a task pays.
    - Start: at (0, 0), or on a random cell without an item. Items are fixed, or drawn in every episode.
    - End: never by itself; truncated after `steps` steps (50). A task may end the episode before.
    - Info: `labels`, a tuple with the name of the item in the agent's cell, or with `empty` where there is none.
    - Options: the fields of `MinecraftConfig`, as in `gymnasium.make("nrm/Minecraft-v0", size=6, layout="episode")`,
      and `render_mode`: `rgb_array` or `ansi`; `gymnasium.make` also knows `human`, with the extra `[render]`.
    """

    config_class = MinecraftConfig
