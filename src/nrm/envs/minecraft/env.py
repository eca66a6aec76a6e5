"""The Minecraft-like grid environment: how it moves and looks, for Gymnasium, and N times with tasks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.aliases import BoolArray
from nrm.envs.batched import BatchedTasks, Places
from nrm.envs.counter_rng import Words, words
from nrm.envs.grids import ACTIONS, GridDynamics, next_cells
from nrm.envs.minecraft.config import MinecraftConfig
from nrm.envs.minecraft.grid import begin, coordinates, letters_of_contents, settled, slipped
from nrm.envs.minecraft.images import Painter, text, tiles
from nrm.envs.registry import Board
from nrm.envs.single import SingleEnv
from nrm.envs.task_runner import End
from nrm.errors import EnvError
from nrm.machines import Alphabet, MooreMachine, TaskSet
from nrm.observations import ObservationSpec


class MinecraftDynamics(GridDynamics):
    """A grid with items. Where the layout never changes, an observation follows from the agent's cell."""

    config: MinecraftConfig

    def __init__(self, config: MinecraftConfig) -> None:
        super().__init__(config, next_cells(*config.shape), (config.empty, *config.names), 0)
        self._coordinates = coordinates(config)
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

    def settled(self, seed: int) -> MinecraftDynamics:
        """Items that are drawn once for a seed lie where it draws them."""
        return MinecraftDynamics(settled(self.config, seed)) if self.config.layout == "seed" else self

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

    def letters(self, alphabet: Alphabet) -> NDArray[np.int64]:
        """Of an empty cell, and of each item."""
        return letters_of_contents(self.config, alphabet).astype(np.int64)

    def picture(self, way: Sequence[Places]) -> NDArray[np.uint8]:
        """The grid, at least 512 pixels wide."""
        last: NDArray[np.uint8] = self._painted(way[-1], max(512, self.config.pixels))[0]
        return last

    def text(self, way: Sequence[Places]) -> str:
        """Initials of the items, and a legend."""
        return text(self.config, self.all_contents(way[-1])[0], int(way[-1]["cell"][0]))

    def _painted(self, places: Places, pixels: int) -> NDArray[np.uint8]:
        if pixels not in self._painters:
            self._painters[pixels] = Painter(self.config, pixels)
        return self._painters[pixels].paint(self.all_contents(places), places["cell"])


class BatchedMinecraft(BatchedTasks):
    """The grid environment of `MinecraftEnv` with a task, or one of many for each episode, N times side by side."""

    _read_as = "content"

    def __init__(
        self, config: MinecraftConfig, tasks: MooreMachine | TaskSet, count: int, end: End = "outcome"
    ) -> None:
        if config.layout == "seed":
            raise EnvError(
                "environments of a batch have no seed to draw a common layout 'seed' from: name the items' cells, or "
                "use layout 'episode' to draw one for each environment and episode"
            )
        super().__init__(MinecraftDynamics(config), tasks, count, end)
        self._contents_letters = letters_of_contents(config, self.machine.alphabet).astype(np.int64)

    def _read_codes(self) -> NDArray[np.int64]:
        contents = {int(letter): content for content, letter in enumerate(self._contents_letters)}
        return np.array([contents.get(letter, -1) for letter in self._letter.tolist()], dtype=np.int64)

    def _letters_of(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(codes < 0, -1, self._contents_letters.take(codes, mode="clip"))


class MinecraftEnv(SingleEnv):
    """A grid with items: the paper's Minecraft-like environment ("Example: Image-Based Minecraft-Like Environment").

    ## Description
    An agent walks on a grid among a pickaxe, a gem, a door and lava. The environment itself has no goal: put a task
    on it with `nrm.TaskEnv(env, machine)`, which reads the symbol of the cell that the agent enters.

    ## Actions
    `Discrete(4)`: 0 up, 1 right, 2 down, 3 left. At the edge the agent stays where it is. With probability `slip` one
    of the four moves, drawn evenly, happens instead.

    ## Observations
    `observation="map"`: `Box(2,) float32`, the agent's x and y, counted from 0 at the top left and not scaled.
    `observation="image"`: `Box(64, 64, 3) uint8`, the grid from above; an item under the agent stays recognisable.

    ## Rewards
    None (0 at every step): a task pays.

    ## Start
    The agent is at (0, 0), or on a random cell without an item. Items lie where the layout says: fixed, drawn once per
    seed, or drawn anew every episode.

    ## End
    Never by itself; truncated after `steps` steps (50). A task may end the episode before.

    ## Info
    `labels`: a tuple with the name of the item in the agent's cell, or with `empty` where there is none.

    ## Options
    The fields of `MinecraftConfig`, as in `gymnasium.make("nrm/Minecraft-v0", size=6, layout="episode")`, and
    `render_mode`: `rgb_array`, `ansi`, or `human` (which needs the extra `[render]`).
    """

    metadata = {"render_modes": ["human", "rgb_array", "ansi"], "render_fps": 4}  # noqa: RUF012 - as the base class has it
    config_class = MinecraftConfig
    dynamics_class = MinecraftDynamics


def board(config: MinecraftConfig, machine: MooreMachine, end: End, seed: int) -> Board:
    """One layout as tiles, drawn from a seed where it varies."""
    if config.cells > 1024:
        raise EnvError(f"environments are drawn up to 1,024 cells; this one has {config.cells:,}")
    still = config if config.layout == "fixed" else settled(config, seed)
    return Board(
        env=BatchedMinecraft(still, machine, 1, end),
        width=still.shape[0],
        height=still.shape[1],
        contents=begin(still, words([seed])).contents[0].tolist(),
        letters=letters_of_contents(still, machine.alphabet).tolist(),
        tiles=tiles(still.names),
        actions=ACTIONS,
        drawn=config.layout == "episode",
    )
