"""An office of twelve rooms: the grid on which reward machines are usually compared (Toro Icarte et al., 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.envs.batched import Places, SingleEnv
from nrm.envs.counter_rng import Words
from nrm.envs.grids import MOVES, GridDynamics, TilePainter
from nrm.envs.minecraft.images import tiles
from nrm.envs.registry import ENVS, OwnEnvConfig
from nrm.machines import Alphabet
from nrm.observations import ListedSpec

DRAWING = (
    "+---+---+---+---+",
    "|...|...|...|...|",
    "|.d...*...*...c.|",
    "|...|k..|...|...|",
    "+-.-+-.-+-.-+-.-+",
    "|...|...|...|...|",
    "|.*.|.o.|.m.|.*.|",
    "|...|...|...|...|",
    "+-.-+---+---+-.-+",
    "|...|...|..k|...|",
    "|.a@..*...*...b.|",
    "|...|...|...|...|",
    "+---+---+---+---+",
)
"""The rooms with their walls, doors and things; `@` is the start."""
SIGNS = dict(zip("kmo*abcd", ("coffee", "mail", "office", "decoration", *"abcd"), strict=True))
"""What a sign of the drawing stands for."""
WALLS = "+-|"


@ENVS.register
@dataclass(frozen=True)
class OfficeConfig(OwnEnvConfig):
    """Twelve rooms with coffee, mail, an office, decorations and four places."""

    name = "office"
    env_names = ("office",)
    observations = ("map",)
    usual: ClassVar = {"steps": 1000, "observation": "map"}
    names = tuple(SIGNS.values())
    shape = (12, 9)

    @property
    def alphabet(self) -> Alphabet:
        if self.empty is None:
            return Alphabet.propositional(self.names)
        return Alphabet.exclusive((*self.names, self.empty))

    @classmethod
    def parse(cls, name: str) -> OfficeConfig | None:
        return cls() if name == "office" else None

    def dynamics(self) -> OfficeDynamics:
        return OfficeDynamics(self)


def drawn_at(x: int, y: int) -> tuple[int, int]:
    """The line and column of the drawing where a cell is: a wall or a door comes after every third."""
    return 1 + y + y // 3, 1 + x + x // 3


def moves() -> NDArray[np.int64]:
    """(cells, 4) the cell that each move leads to; walls stop it."""
    width, height = OfficeConfig.shape
    found = np.arange(width * height)[:, None].repeat(len(MOVES), axis=1)
    for cell, (y, x) in enumerate(np.ndindex(height, width)):
        line, column = drawn_at(x, y)
        for action, (right, down) in enumerate(MOVES):
            if DRAWING[line + down][column + right] not in WALLS:
                found[cell, action] += down * width + right
    return found


class OfficeDynamics(GridDynamics):
    """The same rooms in every episode: an observation is the place of the agent."""

    config: OfficeConfig
    random = False

    def __init__(self, config: OfficeConfig) -> None:
        super().__init__(config, moves(), (*config.names, config.empty), len(config.names))
        width, height = config.shape
        y, x = np.divmod(np.arange(width * height), width)
        signs = [DRAWING[line][column] for line, column in map(drawn_at, x, y)]
        known = [*SIGNS]
        self._start = np.array([signs.index("@")])
        self.contents = np.array([[known.index(sign) if sign in known else len(known) for sign in signs]])
        self._coordinates = np.stack([x, y], axis=1).astype(np.float32)
        self.observation_space = spaces.Box(np.zeros(2, np.float32), self._coordinates[-1], dtype=np.float32)
        rows = torch.from_numpy(self._coordinates)
        self.spec = ListedSpec((2,), torch.float32, local=True, rows=rows)

    def begin(self, keys: Words) -> Places:
        return {"cell": self._start.repeat(len(keys))}

    def observe(self, places: Places) -> NDArray[Any]:
        return self._coordinates[places["cell"]]

    def shown(self, places: Places) -> NDArray[Any]:
        return places["cell"].copy()

    def contents_letters(self, alphabet: Alphabet) -> NDArray[np.int64]:
        self.config.check_alphabet(alphabet)
        nothing = () if self.config.empty is None else self.config.empty
        return np.array([*map(alphabet.letter, self.config.names), alphabet.letter(nothing)], dtype=np.int64)

    def text(self, way: Sequence[Places]) -> str:
        """The drawing, with the agent, and a legend."""
        lines = [list(line.replace("@", ".")) for line in DRAWING]
        line, column = drawn_at(*self._coordinates[way[-1]["cell"][0]].astype(int))
        lines[line][column] = "@"
        legend = "  ".join(["@ agent", *(f"{sign} {name}" for sign, name in SIGNS.items() if sign != name)])
        return "\n".join([*map("".join, lines), legend])

    def picture(self, way: Sequence[Places]) -> NDArray[np.uint8]:
        """The drawing as tiles."""
        pairs, known = tiles(self.config.names), ["", *SIGNS]
        wall = np.full_like(pairs[0][0], 60)
        painter = TilePainter([tile.repeat(2, axis=0).repeat(2, axis=1) for tile in (*sum(pairs, ()), wall)])
        numbers = [[self._tile(sign, known) for sign in line] for line in DRAWING]
        line, column = drawn_at(*self._coordinates[way[-1]["cell"][0]].astype(int))
        numbers[line][column] += 1
        picture: NDArray[np.uint8] = painter.paint(np.array(numbers).reshape(1, -1), len(DRAWING[0]), len(DRAWING))[0]
        return picture

    def _tile(self, sign: str, known: list[str]) -> int:
        """The number of the tile of a sign, without the agent; the one with the agent is next."""
        return 2 * len(known) if sign in WALLS else 2 * known.index(sign if sign in SIGNS else "")


class OfficeEnv(SingleEnv):
    """An office of twelve rooms: "Reward Machines" (Toro Icarte et al., 2022), Figure 1.

    An agent walks on a grid of 12x9 cells. Walls part it into rooms of 3x3 cells, with doors between some of them.
    There are two coffee machines, a mailbox, an office, six decorations, and four places: a, b, c and d. It has no goal
    of its own: put a task on it with `nrm.TaskEnv(env, machine)`, which reads what lies in the cell that the
    agent enters.

    - Actions: `Discrete(4)`, 0 up, 1 right, 2 down, 3 left. A wall stops the agent.
    - Observations: the agent's x and y, counted from 0 at the top left and not scaled, `Box(2,) float32`.
    - Rewards: 0 at every step; a task pays.
    - Start: always in the same cell, beside `a`.
    - End: never by itself; truncated after `steps` steps (1,000). A task may end the episode before.
    - Info: `labels`, a tuple with the name of what lies in the agent's cell, or with `empty`.
    - Options: the fields of `OfficeConfig`, as in `gymnasium.make("nrm/Office-v0", steps=200)`, and `render_mode`:
      `rgb_array` or `ansi`.
    """

    config_class = OfficeConfig
