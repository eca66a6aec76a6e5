"""MiniGrid's picture of the whole grid as the observation, without redrawing what has not changed.

This module imports MiniGrid; the others of this folder do so only when an environment is made.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from minigrid.core.grid import Grid
from numpy.typing import NDArray

Image = NDArray[np.uint8]


class GridImages(gymnasium.Wrapper[Image, Any, Any, Any], RecordConstructorArgs):
    """The grid from above, (height, width, 3) uint8: what MiniGrid's `RGBImgObsWrapper` shows without highlighting.

    MiniGrid draws a grid tile by tile, and before that works out what the agent sees from where it stands. Here the
    distinct tiles are drawn once, by MiniGrid, and a picture is put together from their numbers in one go.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], tile: int = 8, text: bool = False) -> None:
        """`text`: whether `render` gives the grid as text, instead of what the environment renders."""
        RecordConstructorArgs.__init__(self, tile=tile, text=text)
        gymnasium.Wrapper.__init__(self, env)
        inner: Any = env.unwrapped
        self._inner = inner
        self._tile = tile
        self._text = text
        # The agent's own view goes nowhere, so it may be small and cheap; it has no part in what happens.
        inner.highlight = False
        inner.see_through_walls = True
        inner.agent_view_size = 3
        self._numbers: dict[object, int] = {}
        self._tiles: Image = np.zeros((0, tile, tile, 3), dtype=np.uint8)
        self.shape = (inner.height * tile, inner.width * tile, 3)
        self.observation_space = spaces.Box(0, 255, self.shape, np.uint8)

    @property
    def render_mode(self) -> str | None:  # type: ignore[override]
        """`ansi` where text is asked for."""
        return "ansi" if self._text else self.env.render_mode

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Image, dict[str, Any]]:
        """Begin an episode."""
        _, info = self.env.reset(seed=seed, options=options)
        return self.image(), info

    def step(self, action: Any) -> tuple[Image, float, bool, bool, dict[str, Any]]:
        """Step the environment."""
        _, reward, terminated, truncated, info = self.env.step(action)
        return self.image(), float(reward), bool(terminated), bool(truncated), info

    def render(self) -> Any:
        """The grid as text, or what the environment renders."""
        return self._inner.pprint_grid() if self._text else self.env.render()

    def image(self) -> Image:
        """What the agent sees now."""
        inner, tile = self._inner, self._tile
        cells = inner.grid.grid
        here = int(inner.agent_pos[1]) * inner.width + int(inner.agent_pos[0])
        keys: list[object] = [None if cell is None else cell.encode() for cell in cells]
        keys[here] = (keys[here], int(inner.agent_dir))
        numbers = [self._numbers.get(key, -1) for key in keys]
        if -1 in numbers:
            for place, key in enumerate(keys):
                if key not in self._numbers:
                    self._draw(key, cells[place], int(inner.agent_dir) if place == here else None)
            numbers = [self._numbers[key] for key in keys]
        picture = self._tiles[numbers].reshape(inner.height, inner.width, tile, tile, 3)
        return picture.swapaxes(1, 2).reshape(self.shape)

    def _draw(self, key: object, cell: Any, agent: int | None) -> None:
        """Add a tile to those that are known."""
        drawn = Grid.render_tile(cell, agent_dir=agent, highlight=False, tile_size=self._tile)
        self._numbers[key] = len(self._tiles)
        # MiniGrid cuts off fractions when it puts a tile into its picture.
        self._tiles = np.concatenate([self._tiles, drawn[None].astype(np.uint8)])


class ChosenActions(gymnasium.ActionWrapper[Any, Any, Any], RecordConstructorArgs):
    """Some of the actions of an environment, numbered from 0."""

    def __init__(self, env: gymnasium.Env[Any, Any], actions: tuple[int, ...]) -> None:
        RecordConstructorArgs.__init__(self, actions=actions)
        gymnasium.ActionWrapper.__init__(self, env)
        self._actions = actions
        self.action_space = spaces.Discrete(len(actions))

    def action(self, action: Any) -> int:
        """The environment's number of an action."""
        return self._actions[int(action)]
