"""The Minecraft-like grid environment as a Gymnasium environment."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nrm.envs.counter_rng import check_seed, episode_keys, words
from nrm.envs.minecraft.config import MinecraftConfig
from nrm.envs.minecraft.grid import ACTIONS, begin, coordinates, next_cells, settled, slipped
from nrm.envs.minecraft.painter import Painter, text
from nrm.envs.minecraft.viewer import Window
from nrm.errors import EnvError, unknown

RENDER_PIXELS = 512
"""The side of what `render` shows."""


class MinecraftEnv(gymnasium.Env[NDArray[Any], Any]):
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
    action_names = ACTIONS

    def __init__(
        self, config: MinecraftConfig | None = None, *, render_mode: str | None = None, **options: Any
    ) -> None:
        """`config`: the environment, the paper's if none; `options`: fields of the configuration to change."""
        known = [field.name for field in fields(MinecraftConfig)]
        for option in options:
            if option not in known:
                raise EnvError(unknown("option", option, known))
        modes = self.metadata["render_modes"]
        if render_mode is not None and render_mode not in modes:
            raise EnvError(unknown("render_mode", render_mode, modes))
        self.config = replace(config or MinecraftConfig(), **options)
        self.render_mode = render_mode
        self.action_space = spaces.Discrete(len(ACTIONS))
        self.observation_space = _observation_space(self.config)
        self._next_cells = next_cells(self.config)
        self._coordinates = coordinates(self.config)
        self._painters: dict[int, Painter] = {}
        self._window: Window | None = Window("Minecraft") if render_mode == "human" else None
        self._seed: int | None = None
        self._episode = -1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin an episode: the first one of `seed`, or the next one."""
        super().reset(seed=seed, options=options)
        if seed is not None or self._seed is None:
            self._seed = int(self.np_random.integers(1 << 62)) if seed is None else int(seed)
            check_seed(self._seed)
            self._episode = -1
            self._env = settled(self.config, self._seed) if self.config.layout == "seed" else self.config
        self._episode += 1
        self._key = episode_keys(words([self._seed]), self._episode)
        drawn = begin(self._env, self._key)
        self._cell, self._contents = int(drawn.start[0]), drawn.contents[0]
        self._time = 0
        self._show()
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Move by one cell."""
        if self._seed is None:
            raise EnvError("call reset() before the first step")
        if not self.action_space.contains(action):
            moves = ", ".join(f"{number} {name}" for number, name in enumerate(ACTIONS))
            raise EnvError(f"unknown action {action!r}; the actions are {moves}")
        move = int(action)
        if self.config.slip:
            move = int(slipped(self.config, self._key, np.array([self._time]), np.array([move]))[0])
        self._cell = int(self._next_cells[self._cell, move])
        self._time += 1
        self._show()
        return self._observation(), 0.0, False, self._time >= self.config.steps, self._info()

    def render(self) -> Any:
        """The picture (rgb_array), the text (ansi), or nothing for a window, which shows every step by itself."""
        if self.render_mode is None:
            raise EnvError("this environment was made without a render_mode; make it with render_mode='rgb_array'")
        if self._seed is None:
            raise EnvError("call reset() before render()")
        if self.render_mode == "ansi":
            return text(self.config, self._contents, self._cell)
        if self.render_mode == "rgb_array":
            return self._picture(max(RENDER_PIXELS, self.config.pixels))
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()

    def _observation(self) -> NDArray[Any]:
        if self.config.observation == "map":
            place: NDArray[np.float32] = self._coordinates[self._cell].copy()
            return place
        return self._picture(self.config.pixels)

    def _info(self) -> dict[str, Any]:
        content = int(self._contents[self._cell])
        name = self._env.names[content - 1] if content else self.config.empty
        return {"labels": () if name is None else (name,)}

    def _picture(self, pixels: int) -> NDArray[np.uint8]:
        if pixels not in self._painters:
            self._painters[pixels] = Painter(self._env, pixels)
        picture: NDArray[np.uint8] = self._painters[pixels].paint(self._contents[None], np.array([self._cell]))[0]
        return picture

    def _show(self) -> None:
        if self._window is not None:
            self._window.show(self._picture(max(RENDER_PIXELS, self.config.pixels)), self.metadata["render_fps"])


def _observation_space(config: MinecraftConfig) -> spaces.Box:
    if config.observation == "image":
        return spaces.Box(0, 255, (config.pixels, config.pixels, 3), np.uint8)
    corner = np.array(config.shape, dtype=np.float32) - 1
    return spaces.Box(np.zeros(2, dtype=np.float32), corner, dtype=np.float32)
