"""A window that shows an episode while it runs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nrm.errors import require


class Window:
    """A pygame window; it opens with the first picture."""

    def __init__(self, title: str) -> None:
        without = ". Without it there are render_mode='rgb_array' and 'ansi'"
        self._pygame = require("pygame", "render_mode='human' needs pygame", "render", without)
        self._title = title
        self._screen: Any = None
        self._clock: Any = None

    def show(self, picture: NDArray[np.uint8], frames_per_second: int) -> None:
        """Show a picture (height, width, 3), and wait as long as the rate of frames asks."""
        pygame = self._pygame
        if self._screen is None:
            pygame.display.init()
            self._screen = pygame.display.set_mode((picture.shape[1], picture.shape[0]))
            pygame.display.set_caption(self._title)
            self._clock = pygame.time.Clock()
        surface = pygame.surfarray.make_surface(picture.swapaxes(0, 1))
        self._screen.blit(surface, (0, 0))
        pygame.event.pump()
        pygame.display.flip()
        self._clock.tick(frames_per_second)

    def close(self) -> None:
        """Close the window."""
        if self._screen is not None:
            self._pygame.display.quit()
            self._screen = None
