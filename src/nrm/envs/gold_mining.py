"""A miner who digs for gold among fool's gold, and brings it to a depot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.aliases import BoolArray, Symbol
from nrm.envs.batched import Dynamics, Places, Reader, SingleEnv
from nrm.envs.counter_rng import Words, draws, episode_keys, words
from nrm.envs.grids import ACTIONS, next_cells
from nrm.envs.plane.config import Disc
from nrm.envs.plane.env import Painter, text
from nrm.envs.registry import ENVS, OwnEnvConfig
from nrm.envs.zones import Scene
from nrm.errors import EnvError
from nrm.machines import Alphabet, Task
from nrm.observations import ListedSpec, ObservationSpec

SIDE = 4
ORE = np.array([3, 7, 11, 15, 5, 9])
"""Cells to dig in: the right column, and two in the second one."""
DEPOT = 12
DELIVERY = "!depot U (gold & F depot)"
"""The ready task: a depot that is entered without gold is a failure."""


@ENVS.register
@dataclass(frozen=True)
class GoldMiningConfig(OwnEnvConfig):
    """A 4x4 grid with six cells of ore, of which some hold gold and the others fool's gold, and a depot."""

    name = "gold-mining"
    env_names = ("gold-mining",)
    observations = ("position",)
    usual: ClassVar = {"steps": 100, "observation": "position"}
    names = ("gold", "fool", "depot")

    gold: Annotated[int, msgspec.Meta(ge=1, le=len(ORE))] | None = None
    """Cells that hold gold, randomised in every episode. Default: the four of the right column, always."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.empty is None:
            raise EnvError("most steps find nothing; say what holds then: empty='empty'")

    @property
    def alphabet(self) -> Alphabet:
        return Alphabet.exclusive((*self.names, self.empty or "empty"))

    @classmethod
    def parse(cls, name: str) -> GoldMiningConfig | None:
        return cls() if name in cls.env_names else None

    def task(self, text: str | None) -> Task:
        """A task as elsewhere; without a text, the delivery of gold."""
        return super().task(text or DELIVERY)

    def algorithm(self) -> str:
        """PPO: A2C learns to stay away from the depot."""
        return "ppo"

    def dynamics(self) -> Dynamics:
        return GoldMiningDynamics(self)


class GoldMiningDynamics(Dynamics):
    """A miner on a grid.

    Places: `cell` (n,) where the miner is, and 16 more after a dig; `gold` (n, 16) which cells hold gold.
    """

    saved = "cell"
    config: GoldMiningConfig
    action_names = (*ACTIONS, "dig")

    def __init__(self, config: GoldMiningConfig) -> None:
        super().__init__(config)
        self.random = config.gold is not None
        self.action_space = spaces.Discrete(len(self.action_names))
        self.observation_space = spaces.Box(0.0, np.array([SIDE - 1, SIDE - 1, 1.0], dtype=np.float32))
        moves = next_cells(SIDE, SIDE)
        self._moves = np.concatenate([moves, SIDE**2 + np.arange(SIDE**2)[:, None]], axis=1)

    @cached_property
    def spec(self) -> ObservationSpec:  # type: ignore[override]
        """With all observations, where each of them shows one symbol."""
        if self.random:
            return ObservationSpec((3,), torch.float32)
        rows = torch.from_numpy(self.observe({"cell": np.arange(2 * SIDE**2)}))
        return ListedSpec((3,), torch.float32, rows=rows)

    def begin(self, keys: Words) -> Places:
        gold = np.zeros((len(keys), SIDE**2), dtype=np.bool_)
        if self.config.gold is None:
            gold[:, ORE[:SIDE]] = True
        else:
            order = draws(keys[:, None], np.arange(len(ORE))).argsort(axis=1)
            np.put_along_axis(gold, ORE[order[:, : self.config.gold]], True, axis=1)
        return {"cell": np.zeros(len(keys), dtype=np.int64), "gold": gold}

    def move(
        self,
        places: Places,
        actions: NDArray[Any],
        keys: Words,  # noqa: ARG002
        times: NDArray[np.int64],  # noqa: ARG002
    ) -> tuple[Places, BoolArray | None]:
        return {**places, "cell": self._moves[places["cell"] % SIDE**2, actions]}, None

    def observe(self, places: Places) -> NDArray[Any]:
        """(n, 3) x, y, and whether the last action was to dig."""
        dug, cell = np.divmod(places["cell"], SIDE**2)
        return np.stack([cell % SIDE, cell // SIDE, dug], axis=1).astype(np.float32)

    def shown(self, places: Places) -> NDArray[Any]:
        return self.spec.either(places["cell"].copy, lambda: self.observe(places))()

    def found(self, places: Places) -> NDArray[np.int64]:
        """(n,) what holds, as a place in (gold, fool, depot, empty)."""
        dug, cell = np.divmod(places["cell"], SIDE**2)
        ore = np.where(places["gold"][np.arange(len(cell)), cell], 0, 1)
        holds = np.where((dug == 1) & np.isin(cell, ORE), ore, 3)
        return np.where(cell == DEPOT, 2, holds)

    def labels(self, places: Places) -> tuple[Symbol, ...]:
        return (self.config.alphabet.symbols[int(self.found(places)[0])],)

    def reader(self, alphabet: Alphabet) -> Reader:
        self.config.check_alphabet(alphabet)
        letters = np.array([alphabet.letter(name) for name in self.config.alphabet.symbols])
        return lambda places: letters[self.found(places)]

    def scattered(self, count: int, seed: int) -> Places:
        """Every cell, dug in or not; some of them, where the gold is drawn."""
        if not self.random:
            return {**self.begin(np.zeros(2 * SIDE**2, dtype=np.uint64)), "cell": np.arange(2 * SIDE**2)}
        cells = np.random.default_rng(seed).integers(0, 2 * SIDE**2, count)
        return {**self.begin(episode_keys(words([seed]), np.arange(count))), "cell": cells}

    def picture(self, way: Sequence[Places]) -> NDArray[np.uint8]:
        """Ore and depot, and where the miner was."""
        return Painter(self._scene(way[-1]), 512).paint(np.array([_middle(int(one["cell"][0])) for one in way]))

    def text(self, way: Sequence[Places]) -> str:
        return text(self._scene(way[-1]), np.array(_middle(int(way[-1]["cell"][0]))))

    def _scene(self, places: Places) -> Scene:
        names = {cell: "gold" if places["gold"][0, cell] else "fool" for cell in ORE.tolist()} | {DEPOT: "depot"}
        discs = tuple(Disc(name, *_middle(cell), 0.4) for cell, name in names.items())
        return Scene((0.0, 0.0, SIDE, SIDE), discs, self.config.names)


def _middle(cell: int) -> tuple[float, float]:
    """Where the middle of a cell is drawn."""
    return cell % SIDE + 0.5, SIDE - cell % SIDE**2 // SIDE - 0.5


class GoldMiningEnv(SingleEnv):
    """A miner who digs for gold among fool's gold, and brings it to a depot.

    The miner walks on a 4x4 grid. Six cells hold ore: the four of the right column gold, and the cells (1, 1) and
    (1, 2) fool's gold, which is worth nothing. With `gold=1`, one of the six holds gold, and which one is drawn in
    every episode. The environment itself has no goal: put a task on it with `nrm.TaskEnv(env, machine)`, such as
    `!depot U (gold & F depot)`. The map is that of Li et al., "Reward Machines for Deep RL in Noisy and Uncertain
    Environments" (NeurIPS 2024), where the miner takes fool's gold for gold; `nrm.envs.NoisyLabels` does that here.

    - Actions: `Discrete(5)`, 0 up, 1 right, 2 down, 3 left, 4 dig. At the edge the miner stays where it is.
    - Observations: x, y, counted from 0 at the top left, and 1 after a dig, `Box((3,)) float32`.
    - Rewards: 0 at every step; a task pays.
    - Start: at (0, 0). The depot is at (0, 3).
    - End: never by itself; truncated after `steps` steps (100). A task may end the episode before.
    - Info: `labels`, a tuple with what the dig found (`gold` or `fool`), `depot` in the depot, or `empty`.
    - Options: the fields of `GoldMiningConfig`, as in `gymnasium.make("nrm/GoldMining-v0", gold=1)`, and
      `render_mode`: `rgb_array` or `ansi`.
    """

    config_class = GoldMiningConfig
