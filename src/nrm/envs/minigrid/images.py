"""MiniGrid's pictures as observations, of the whole grid or of what the agent sees, without redrawing all of it.

This module imports MiniGrid; the others of this folder do so only when an environment is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from minigrid.core.constants import OBJECT_TO_IDX
from minigrid.core.grid import Grid
from minigrid.core.world_object import WorldObj
from numpy.typing import NDArray

Image = NDArray[np.uint8]
TILE = 8
"""Pixels along the side of a tile."""


class TileImages(gymnasium.Wrapper[Image, Any, Any, Any], RecordConstructorArgs):
    """Pictures put together from tiles, each of which MiniGrid draws once."""

    def __init__(self, env: gymnasium.Env[Any, Any], text: bool, width: int, height: int) -> None:
        """`text`: whether `render` gives the grid as text, instead of what the environment renders."""
        RecordConstructorArgs.__init__(self, text=text)
        gymnasium.Wrapper.__init__(self, env)
        inner: Any = env.unwrapped
        self._inner = inner
        self.action_names = tuple(action.name for action in inner.actions)
        self._text = text
        self._numbers: dict[object, int] = {}
        self._tiles: Image = np.zeros((0, TILE, TILE, 3), dtype=np.uint8)
        self._size = (height, width)
        self.shape = (height * TILE, width * TILE, 3)
        self.observation_space = spaces.Box(0, 255, self.shape, np.uint8)

    @property
    def render_mode(self) -> str | None:  # type: ignore[override]
        """`ansi` where text is asked for."""
        return "ansi" if self._text else self.env.render_mode

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Image, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        return self.image(observation), info

    def step(self, action: Any) -> tuple[Image, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self.image(observation), float(reward), bool(terminated), bool(truncated), info

    def render(self) -> Any:
        return self._inner.pprint_grid() if self._text else self.env.render()

    def image(self, observation: Any) -> Image:
        """What the agent sees, given what MiniGrid shows it."""
        raise NotImplementedError

    def joined(self, keys: list[object], drawn: Callable[[int], Image]) -> Image:
        """The picture of tiles by their keys, row by row; `drawn` draws the one at a place."""
        numbers = [self._numbers.get(key, -1) for key in keys]
        if -1 in numbers:
            for place, key in enumerate(keys):
                if key not in self._numbers:
                    self._numbers[key] = len(self._tiles)
                    # MiniGrid cuts off fractions when it puts a tile into its picture.
                    self._tiles = np.concatenate([self._tiles, drawn(place)[None].astype(np.uint8)])
            numbers = [self._numbers[key] for key in keys]
        height, width = self._size
        picture = self._tiles[numbers].reshape(height, width, TILE, TILE, 3)
        return picture.swapaxes(1, 2).reshape(self.shape)


class GridImages(TileImages):
    """The grid from above, (height, width, 3) uint8: what MiniGrid's `RGBImgObsWrapper` shows without highlighting.

    MiniGrid draws a grid tile by tile, and before that works out what the agent sees from where it stands. Here the
    distinct tiles are drawn once, by MiniGrid, and a picture is put together from their numbers in one go.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], text: bool = False) -> None:
        """`text`: whether `render` gives the grid as text, instead of what the environment renders."""
        inner: Any = env.unwrapped
        super().__init__(env, text, inner.width, inner.height)
        # The agent's own view goes nowhere, so it may be small and cheap; it has no part in what happens.
        inner.highlight = False
        inner.see_through_walls = True
        inner.agent_view_size = 3

    def image(self, observation: Any) -> Image:  # noqa: ARG002 - the whole grid is more than the agent is shown
        inner = self._inner
        cells, direction = inner.grid.grid, int(inner.agent_dir)
        here = int(inner.agent_pos[1]) * inner.width + int(inner.agent_pos[0])
        keys: list[object] = [None if cell is None else cell.encode() for cell in cells]
        keys[here] = (keys[here], direction)

        def drawn(place: int) -> Image:
            agent = direction if place == here else None
            tile: Image = Grid.render_tile(cells[place], agent_dir=agent, highlight=False, tile_size=TILE)
            return tile

        return self.joined(keys, drawn)


class AgentImages(TileImages):
    """What lies before the agent, (height, width, 3) uint8: what MiniGrid's `RGBImgPartialObsWrapper` shows.

    The agent is at the middle of the lower edge and looks up; what walls and closed doors hide is black, and what it
    carries is drawn where it stands.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], text: bool = False) -> None:
        """`text`: whether `render` gives the grid as text, instead of what the environment renders."""
        size = int(env.unwrapped.agent_view_size)  # type: ignore[attr-defined]
        super().__init__(env, text, size, size)
        self._here = size * size - 1 - size // 2

    def image(self, observation: Any) -> Image:
        """What MiniGrid's symbols say, (width, height, 3), as a picture."""
        codes = observation["image"].swapaxes(0, 1).reshape(-1, 3).tolist()
        keys: list[object] = [tuple(code) for code in codes]
        keys[self._here] = (keys[self._here], "agent")

        def drawn(place: int) -> Image:
            kind, *looks = codes[place]
            cell = WorldObj.decode(kind, *looks)
            agent = 3 if place == self._here else None  # it looks up
            seen = kind != OBJECT_TO_IDX["unseen"]
            tile: Image = Grid.render_tile(cell, agent_dir=agent, highlight=seen, tile_size=TILE)
            return tile

        return self.joined(keys, drawn)


class ChosenActions(gymnasium.ActionWrapper[Any, Any, Any], RecordConstructorArgs):
    """Some of the actions of an environment, numbered from 0."""

    def __init__(self, env: gymnasium.Env[Any, Any], actions: tuple[int, ...]) -> None:
        RecordConstructorArgs.__init__(self, actions=actions)
        gymnasium.ActionWrapper.__init__(self, env)
        self._actions = actions
        names = env.get_wrapper_attr("action_names")
        self.action_names = tuple(names[action] for action in actions)
        self.action_space = spaces.Discrete(len(actions))

    def action(self, action: Any) -> int:
        return self._actions[int(action)]
