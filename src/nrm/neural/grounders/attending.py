"""A grounder that looks at one place of an image."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nrm.errors import EpisodeError
from nrm.neural.grounders.registry import GROUNDERS, Grounder

SPREAD = 0.12
"""How far from the middle it looks at first, as a share of the side."""
SHARPNESS = 4.0
"""How fast the place moves, compared with other parameters."""
CELLS = 12
"""Sides up to which every pixel is a place of its own."""


class AttendingGrounder(Grounder):
    """What one place of an image shows counts, and which place that is, is learned.

    A few features of every place, the same everywhere; their mean under a softmax over places, which depends on where
    a place is and on what it shows; one layer. It begins in the middle, where agents are that see the world around
    them. Images up to 12x12 are grids whose pixels are cells; of larger ones, a place sees 12x12 pixels, 8 apart.
    """

    name = "attending"
    label = "looks at one place"

    def __init__(
        self, symbols: int, shape: Sequence[int] = (7, 7, 12), channels: int = 32, independent: bool = False
    ) -> None:
        if len(shape) != 3 or min(shape[:2]) < 2:
            raise EpisodeError(f"images have the shape (height, width, channels), not {tuple(shape)}")
        super().__init__(independent, symbols=symbols, shape=[int(size) for size in shape], channels=channels)
        height, across, depth = self.config["shape"]
        self._cells = max(height, across) <= CELLS
        if self._cells:
            places = (height, across)
            self.features = nn.Sequential(nn.Conv2d(depth, channels, 1), nn.ReLU())
        else:
            places = tuple(-(-(side // 4) // 2) for side in (height, across))
            self.features = nn.Sequential(
                nn.Conv2d(depth, channels // 2, 4, stride=4),
                nn.ReLU(),
                nn.Conv2d(channels // 2, channels, 3, stride=2, padding=1),
                nn.ReLU(),
            )
        self.looks = nn.Linear(channels, 1)
        self.place = nn.Parameter(_middle(*places) / SHARPNESS)
        self.head = nn.Linear(channels, symbols)

    @classmethod
    def from_shape(cls, shape: Sequence[int], symbols: int, independent: bool = False) -> AttendingGrounder:
        """A fresh grounder for images of a shape."""
        return cls(symbols, shape, independent=independent)

    def forward(self, observations: Tensor) -> Tensor:
        """(n, symbols) probabilities."""
        if list(observations.shape[1:]) != self.config["shape"]:
            raise EpisodeError(
                f"the grounder reads images of shape {tuple(self.config['shape'])} (height, width, channels), "
                f"but got {tuple(observations.shape[1:])}"
            )
        images = observations.permute(0, 3, 1, 2).to(self.dtype)
        if not (self._cells or observations.is_floating_point()):
            images = images / 255
        features = self.features(images).flatten(2).transpose(1, 2)
        scores = self.looks(features).squeeze(-1) + SHARPNESS * self.place
        seen = torch.bmm(torch.softmax(scores, -1).unsqueeze(1), features).squeeze(1)
        return self.probabilities(self.head(seen))


def _middle(height: int, across: int) -> Tensor:
    """(places,) scores that fall with the distance from the middle."""
    rows, columns = (torch.arange(side) - (side - 1) / 2 for side in (height, across))
    spread = SPREAD * max(height, across)
    scores: Tensor = -(rows.square()[:, None] + columns.square()) / (2 * spread**2)
    return scores.flatten()


GROUNDERS.register(AttendingGrounder)
