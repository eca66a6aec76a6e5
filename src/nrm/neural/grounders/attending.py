"""A grounder that looks at one place of an image."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nrm.errors import EpisodeError
from nrm.neural.attention import changed_places, missed
from nrm.neural.grounders.registry import GROUNDERS, Grounder
from nrm.neural.layers import narrow_convolution
from nrm.neural.patches import OVERLAPPING, TILE, DistinctPatches, distinct_patches, patch_features, places

SPREAD = 0.12
"""How far from the middle it looks at first, as a share of the side."""
SHARPNESS = 4.0
"""How fast the place moves, compared with other parameters."""
CENTRE, UNIT = 127.5, 64.0
"""Numbers 0 to 255 are centred and made smaller: networks learn slowly from inputs that are all positive."""
CELLS = 12
"""Sides up to which every pixel is a place of its own."""


class AttendingGrounder(Grounder):
    """What one place of an image shows counts, and which place that is, is learned.

    A few features of every place, the same everywhere; their mean under a softmax over places, which depends on where
    a place is and on what it shows; one layer. It begins in the middle, where agents are that see the environment
    around them; elsewhere it first finds them by what moves, see `missed`. Images up to 12x12 are grids whose pixels
    are cells; of larger ones, a place sees 12x12 pixels, 8 apart, or, with a `side` of 2, its own 8x8 alone: where
    all that is seen is made of such cells, what lies next to a thing does not change how it looks.
    """

    name = "attending"
    label = "looks at one place"

    def __init__(
        self,
        symbols: int,
        shape: Sequence[int] = (7, 7, 12),
        channels: int = 32,
        independent: bool = False,
        side: int = OVERLAPPING,
    ) -> None:
        """`side`: tiles of 4x4 pixels along a place, 2 or 3."""
        if len(shape) != 3 or min(shape[:2]) < 2:
            raise EpisodeError(f"images have the shape (height, width, channels), not {tuple(shape)}")
        numbers = [int(size) for size in shape]
        super().__init__(independent, symbols=symbols, shape=numbers, channels=channels, side=side)
        height, across, depth = self.config["shape"]
        self._cells = max(height, across) <= CELLS
        if self._cells:
            self._places = (height, across)
            self.features = nn.Sequential(nn.Conv2d(depth, channels, 1), nn.ReLU())
        else:
            self._places = places(height, across)
            self.features = nn.Sequential(
                nn.Conv2d(depth, channels // 2, TILE, stride=TILE),
                nn.ReLU(),
                nn.Conv2d(channels // 2, channels, side, stride=2, padding=side - 2),
                nn.ReLU(),
            )
        # Neighbours tell too: what matters may lie across several places.
        self.looks = nn.Conv2d(channels, 1, 1 if self._cells else 3, padding="same")
        self.place = nn.Parameter(_middle(*self._places) / SHARPNESS)
        self.head = nn.Linear(channels, symbols)

    @classmethod
    def from_shape(
        cls, shape: Sequence[int], symbols: int, independent: bool = False, side: int = OVERLAPPING
    ) -> AttendingGrounder:
        """A fresh grounder for images of a shape."""
        return cls(symbols, shape, independent=independent, side=side)

    def distinct(self, images: Tensor) -> DistinctPatches | None:
        """Images by their distinct patches, where these are few; `forward` takes both."""
        return None if self._cells else distinct_patches(images, self.config["side"])

    def forward(self, observations: Tensor | DistinctPatches) -> Tensor:
        """(n, symbols) probabilities."""
        if isinstance(observations, Tensor) and list(observations.shape[1:]) != self.config["shape"]:
            raise EpisodeError(
                f"the grounder reads images of shape {tuple(self.config['shape'])} (height, width, channels), "
                f"but got {tuple(observations.shape[1:])}"
            )
        features = self._maps(observations)
        # This order suits how distinct patches are laid out, and costs others nothing.
        seen = torch.bmm(self._attention(features).unsqueeze(1), features.flatten(2).transpose(1, 2)).squeeze(1)
        return self.probabilities(self.head(seen))

    def missed(self, before: Tensor, after: Tensor) -> Tensor:
        """How much attention misses of what changes between successive images (n, …), a scalar to descend on."""
        looks = [self._attention(self._maps(images)) for images in (before, after)]
        return missed(looks, changed_places(before, after, self._places))

    def _maps(self, seen: Tensor | DistinctPatches) -> Tensor:
        """(n, channels, rows, columns) features of every place."""
        if self._cells:
            assert isinstance(seen, Tensor)
            result: Tensor = self.features(seen.permute(0, 3, 1, 2).to(self.dtype))
            return result
        first, second = self.features[0], self.features[2]
        assert isinstance(first, nn.Conv2d)
        assert isinstance(second, nn.Conv2d)
        weight, bias = first.weight, first.bias
        assert bias is not None
        if isinstance(seen, DistinctPatches) or not seen.is_floating_point():
            weight = weight / UNIT
            bias = bias - CENTRE * weight.sum((1, 2, 3))
        return patch_features(seen, (weight, bias), second, self._places)

    def _attention(self, features: Tensor) -> Tensor:
        """(n, places) how much each place counts."""
        if self._cells:
            return torch.softmax(self.looks(features).flatten(1) + SHARPNESS * self.place, -1)
        return torch.softmax(SHARPNESS * (narrow_convolution(self.looks, features).flatten(1) + self.place), -1)


def _middle(height: int, across: int) -> Tensor:
    """(places,) scores that fall with the distance from the middle."""
    rows, columns = (torch.arange(side) - (side - 1) / 2 for side in (height, across))
    spread = SPREAD * max(height, across)
    scores: Tensor = -(rows.square()[:, None] + columns.square()) / (2 * spread**2)
    return scores.flatten()


GROUNDERS.register(AttendingGrounder)
