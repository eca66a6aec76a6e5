"""LetterWorld as a Gymnasium environment."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.envs.counter_rng import check_seed, episode_keys, words
from nrm.envs.letter.config import LetterConfig
from nrm.envs.letter.grid import ACTIONS, around, grids, next_cells
from nrm.envs.letter.painter import LetterPainter
from nrm.errors import EnvError, unknown

RENDER_SCALE = 8


class LetterEnv(gymnasium.Env[NDArray[np.uint8], Any]):
    """Letters on a torus.

    ## Description
    An agent walks on a 7x7 grid whose edges meet, among twelve letters that stand on two cells each. Every episode has
    a new grid, on which every cell can be reached without stepping on a letter on the way. The environment itself has
    no goal: put a task on it with `nrm.TaskEnv(env, machine)`, which reads the letter of the cell that the agent
    enters.

    ## Actions
    `Discrete(4)`: 0 up, 1 right, 2 down, 3 left.

    ## Observations
    What is around the agent, itself in the middle. `observation="planes"`: `Box(7, 7, 12) uint8`, one plane of zeros
    and ones for each letter. `observation="image"`: `Box(56, 56, 3) uint8`.

    ## Rewards
    None (0 at every step): a task pays.

    ## End
    Never by itself; truncated after `steps` steps (75). A task may end the episode before.

    ## Info
    `labels`: a tuple with the letter in the agent's cell, or with `empty`.

    ## Options
    The fields of `LetterConfig`, as in `gymnasium.make("nrm/Letters-v0", size=5, letters=6)`, and `render_mode`:
    `rgb_array`.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012 - as the base class has it

    def __init__(self, config: LetterConfig | None = None, *, render_mode: str | None = None, **options: Any) -> None:
        """`config`: the environment, the usual one if none; `options`: fields of the configuration to change."""
        known = [field.name for field in fields(LetterConfig)]
        for option in options:
            if option not in known:
                raise EnvError(unknown("option", option, known))
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise EnvError(unknown("render_mode", render_mode, self.metadata["render_modes"]))
        self.config = replace(config or LetterConfig(), **options)
        self.action_names = ACTIONS
        self.render_mode = render_mode
        size = self.config.size
        self.action_space = spaces.Discrete(len(ACTIONS))
        if self.config.observation == "image":
            self.observation_space = spaces.Box(0, 255, (self.config.pixels, self.config.pixels, 3), np.uint8)
        else:
            self.observation_space = spaces.Box(0, 1, (size, size, self.config.letters), np.uint8)
        self._grids = grids(self.config)
        self._moves = next_cells(size)
        self._around = around(size)
        self._painter = LetterPainter(self.config)
        self._large = LetterPainter(self.config, RENDER_SCALE)
        self._seed: int | None = None
        self._episode = -1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Begin an episode: the first one of `seed`, or the next one."""
        super().reset(seed=seed, options=options)
        if seed is not None or self._seed is None:
            self._seed = int(self.np_random.integers(1 << 62)) if seed is None else int(seed)
            check_seed(self._seed)
            self._episode = -1
        self._episode += 1
        self._contents = self._grids(episode_keys(words([self._seed]), self._episode))[0]
        self._cell = 0
        self._time = 0
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        """Move by one cell."""
        if self._seed is None:
            raise EnvError("call reset() before the first step")
        if not self.action_space.contains(action):
            moves = ", ".join(f"{number} {name}" for number, name in enumerate(ACTIONS))
            raise EnvError(f"unknown action {action!r}; the actions are {moves}")
        self._cell = int(self._moves[self._cell, int(action)])
        self._time += 1
        return self._observation(), 0.0, False, self._time >= self.config.steps, self._info()

    def render(self) -> Any:
        """What is around the agent, as a picture."""
        if self.render_mode is None:
            raise EnvError("this environment was made without a render_mode; make it with render_mode='rgb_array'")
        if self._seed is None:
            raise EnvError("call reset() before render()")
        return self._large.paint(self._visible)[0]

    @property
    def _visible(self) -> NDArray[np.int64]:
        seen: NDArray[np.int64] = self._contents[self._around[self._cell]][None]
        return seen

    def _observation(self) -> NDArray[np.uint8]:
        seen: NDArray[np.uint8]
        if self.config.observation == "image":
            seen = self._painter.paint(self._visible)[0]
        else:
            planes = self._visible[0][:, None] == np.arange(self.config.letters)
            seen = planes.astype(np.uint8).reshape(self.config.size, self.config.size, -1)
        return seen

    def _info(self) -> dict[str, Any]:
        content = int(self._contents[self._cell])
        return {"labels": (self.config.alphabet.symbols[content],)}
