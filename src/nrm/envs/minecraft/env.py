"""The Minecraft-like grid environment: how it moves and looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.aliases import BoolArray
from nrm.envs.batched import BatchedTasks, Places
from nrm.envs.counter_rng import Words, draws, words
from nrm.envs.grids import ACTIONS, GridDynamics, next_cells
from nrm.envs.minecraft.config import MinecraftConfig
from nrm.envs.minecraft.images import Painter, tiles
from nrm.envs.registry import Board
from nrm.envs.single import SingleEnv
from nrm.envs.task_runner import End
from nrm.errors import EnvError
from nrm.machines import Alphabet, MooreMachine
from nrm.observations import ObservationSpec


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
        table = None
        if self.contents is not None:
            table = torch.from_numpy(self.observe({"cell": np.arange(self.config.cells)}))
        dtype = torch.uint8 if self.config.observation == "image" else torch.float32
        return ObservationSpec(self.observation_space.shape or (), dtype, table, local=True)

    def begin(self, keys: Words) -> Places:
        """The cell of the agent, and what lies where if that is drawn."""
        if not self.random:
            return {"cell": self._start.repeat(len(keys))}
        drawn = begin(self.config, keys)
        return {"cell": drawn.start} if self.contents is not None else {"cell": drawn.start, "contents": drawn.contents}

    def move(
        self, places: Places, actions: NDArray[Any], keys: Words, times: NDArray[np.int64]
    ) -> tuple[Places, BoolArray | None]:
        """One cell on, or a slip."""
        taken = slipped(self.config, keys, times, actions) if self.config.slip else actions
        return super().move(places, taken, keys, times)

    def observe(self, places: Places) -> NDArray[Any]:
        """Coordinates, or pictures."""
        if self.config.observation == "map":
            return self._coordinates[places["cell"]]
        return self._painted(places, self.config.pixels)

    def contents_letters(self, alphabet: Alphabet) -> NDArray[np.int64]:
        """Of an empty cell, and of each item."""
        self.config.check_alphabet(alphabet)
        nothing = () if self.config.empty is None else self.config.empty
        return np.array([alphabet.letter(nothing), *map(alphabet.letter, self.config.names)], dtype=np.int64)

    def picture(self, way: Sequence[Places]) -> NDArray[np.uint8]:
        """The grid, at least 512 pixels wide."""
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


def board(config: MinecraftConfig, machine: MooreMachine, end: End, seed: int) -> Board:
    """One layout as tiles, drawn from a seed where it varies."""
    if config.cells > 1024:
        raise EnvError(f"environments are drawn up to 1,024 cells; this one has {config.cells:,}")
    still = config if config.layout == "fixed" else settled(config, seed)
    return Board(
        env=BatchedTasks(still, machine, 1, end),
        width=still.shape[0],
        height=still.shape[1],
        contents=begin(still, words([seed])).contents[0].tolist(),
        letters=MinecraftDynamics(still).contents_letters(machine.alphabet).tolist(),
        tiles=tiles(still.names),
        actions=ACTIONS,
        drawn=config.layout == "episode",
    )
