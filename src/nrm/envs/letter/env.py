"""LetterWorld: how it moves and looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Annotated, ClassVar

import msgspec
import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.envs.batched import Places, SingleEnv
from nrm.envs.counter_rng import Words
from nrm.envs.grids import GridDynamics, TilePainter, next_cells
from nrm.envs.letter.grid import around, grids
from nrm.envs.registry import ENVS, OwnEnvConfig
from nrm.errors import EnvError
from nrm.machines import Alphabet
from nrm.observations import ObservationSpec


@ENVS.register
@dataclass(frozen=True)
class LetterConfig(OwnEnvConfig):
    """A torus with letters, each in two cells. The agent is in the middle of its observation."""

    name = "letter"
    env_names = ("letter", "letter-image")
    titled = ("observation",)
    observations = ("planes", "image")
    usual: ClassVar = {"steps": 75, "observation": "planes"}

    size: Annotated[int, msgspec.Meta(ge=2, le=31)] = 7  # cells of a row are the bits of one word
    """Cells along a side."""
    letters: Annotated[int, msgspec.Meta(ge=1, le=26)] = 12
    """Number of letters: a, b, c, …"""
    maps: str | None = None
    """JSON file of grids to sample episodes from: a list of lists of rows, such as ["..a", "b..", ".a."], with `.` for
    an empty cell. Default: random grids."""

    def __post_init__(self) -> None:
        super().__post_init__()
        # The empty cells are one piece, and each but the first has at most three neighbours that none before it has.
        if self.maps is None and self.letters * 2 > self.cells - max(1, self.cells // 3):
            raise EnvError(
                f"{self.letters} letters on two cells each do not fit into {self.size}x{self.size} cells; take fewer"
            )

    @property
    def shape(self) -> tuple[int, int]:
        """(width, height) in cells."""
        return self.size, self.size

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.size**2

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(chr(ord("a") + number) for number in range(self.letters))

    @property
    def alphabet(self) -> Alphabet:
        return Alphabet.exclusive((*self.names, self.empty or "empty"))

    @property
    def pixels(self) -> int:
        """The side of an image."""
        return 8 * self.size

    @classmethod
    def parse(cls, name: str) -> LetterConfig | None:
        return {"letter": cls(), "letter-image": cls(observation="image")}.get(name)

    def recipe(self) -> str:
        """Images show the agent in the middle."""
        return "letter-image" if self.observation == "image" else "tasks"

    def dynamics(self) -> LetterDynamics:
        return LetterDynamics(self)

    def title(self) -> str:
        return "letter" if self.observation == "planes" else "letter-image"

    def algorithm(self) -> str:
        """Observations hardly come again."""
        return "ppo"


GROUND, EDGE, INK, HERE = (240, 236, 226), (222, 214, 198), (44, 52, 72), (255, 190, 92)

_FONT = np.array(files("nrm.envs.letter").joinpath("font.txt").read_text().split(), dtype=np.int64).reshape(26, 7)
"""(26, 7) the seven rows of each letter, the five pixels of each as a number."""


class LetterPainter:
    """Draws what agents see of grids of one configuration."""

    def __init__(self, config: LetterConfig, scale: int = 1) -> None:
        """`scale`: how many pixels a pixel becomes."""
        self._size = config.size
        letters = [*range(config.letters), None]
        self._here = len(letters)
        tiles = [_tile(letter, ground) for ground in (GROUND, HERE) for letter in letters]
        self._painter = TilePainter([tile.repeat(scale, axis=0).repeat(scale, axis=1) for tile in tiles])

    def paint(self, seen: NDArray[np.int64]) -> NDArray[np.uint8]:
        """(n, pixels, pixels, 3) pictures of what agents see around them: (n, cells), their own cell in the middle."""
        size = self._size
        numbers = seen.copy()
        numbers[:, (size // 2) * size + size // 2] += self._here
        return self._painter.paint(numbers, size, size)


def _tile(letter: int | None, ground: tuple[int, int, int]) -> NDArray[np.uint8]:
    """(8, 8, 3) one cell: a line above and on the left, and the letter."""
    tile = np.empty((8, 8, 3), dtype=np.uint8)
    tile[:] = EDGE
    tile[1:, 1:] = ground
    if letter is not None:
        rows = _FONT[letter][:, None] >> np.arange(4, -1, -1) & 1
        tile[1:8, 2:7][rows.astype(np.bool_)] = INK
    return tile


class LetterDynamics(GridDynamics):
    """Letters on a torus, seen from where the agent stands."""

    config: LetterConfig
    ahead = 16

    def __init__(self, config: LetterConfig) -> None:
        size = config.size
        super().__init__(config, next_cells(size, size, toroidal=True), config.alphabet.symbols, config.letters)
        self._grids = grids(config)
        self._around = around(size)
        self._planes = np.concatenate([np.eye(config.letters), np.zeros((1, config.letters))]).astype(np.uint8)
        self._painter = LetterPainter(config)
        image = config.observation == "image"
        self._shape = (config.pixels, config.pixels, 3) if image else (size, size, config.letters)
        self.observation_space = spaces.Box(0, 255 if image else 1, self._shape, np.uint8)

    @cached_property
    def spec(self) -> ObservationSpec:  # type: ignore[override]
        """The agent is in the middle of all that it sees."""
        return ObservationSpec(self._shape, torch.uint8, tiled=True, toroidal=True, egocentric=True, local=True)

    def begin(self, keys: Words) -> Places:
        return {"cell": np.zeros(len(keys), dtype=np.int64), "contents": self._grids(keys)}

    def observe(self, places: Places) -> NDArray[np.uint8]:
        seen = self._visible(places)
        if self.config.observation == "image":
            return self._painter.paint(seen)
        planes: NDArray[np.uint8] = self._planes.take(seen, axis=0).reshape(len(seen), *self._shape)
        return planes

    def contents_letters(self, alphabet: Alphabet) -> NDArray[np.int64]:
        if alphabet != self.config.alphabet:
            raise EnvError(f"tasks here are over {self.config.alphabet}, not over {alphabet}")
        return np.arange(alphabet.size)

    def picture(self, way: Sequence[Places]) -> NDArray[np.uint8]:
        seen: NDArray[np.uint8] = LetterPainter(self.config, 8).paint(self._visible(way[-1]))[0]
        return seen

    def _visible(self, places: Places) -> NDArray[np.int64]:
        """(n, cells) what lies around the agents."""
        return np.take_along_axis(places["contents"], self._around[places["cell"]], 1)


class LetterEnv(SingleEnv):
    """Letters on a torus.

    An agent walks on a 7x7 grid whose edges meet, among twelve letters that stand on two cells each. Every episode has
    a new grid, on which every cell can be reached without stepping on a letter on the way. The environment itself has
    no goal: put a task on it with `nrm.TaskEnv(env, machine)`, which reads the letter of the cell that the agent
    enters.

    - Actions: `Discrete(4)`, 0 up, 1 right, 2 down, 3 left.
    - Observations: what is around the agent, itself in the middle. `"planes"`, one plane of zeros and ones for each
      letter, `Box(7, 7, 12) uint8`; or `"image"`, `Box(56, 56, 3) uint8`.
    - Rewards: 0 at every step; a task pays.
    - End: never by itself; truncated after `steps` steps (75). A task may end the episode before.
    - Info: `labels`, a tuple with the letter in the agent's cell, or with `empty`.
    - Options: the fields of `LetterConfig`, as in `gymnasium.make("nrm/Letters-v0", size=5, letters=6)`, and
      `render_mode`: `rgb_array` or `ansi`.
    """

    config_class = LetterConfig
