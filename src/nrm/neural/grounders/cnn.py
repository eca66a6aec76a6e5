"""What reads images, and the paper's convolutional grounder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from nrm.errors import EpisodeError
from nrm.neural.grounders.registry import GROUNDERS, Grounder
from nrm.neural.layers import (
    OVERLAPPING,
    TILE,
    DistinctPatches,
    attention_loss,
    changed_places,
    convolutions,
    distinct_patches,
    narrow_convolution,
    patch_features,
    places,
)

if TYPE_CHECKING:
    from typing_extensions import Self


class ImageGrounder(Grounder):
    """Images (n, height, width, channels) to `features`, those to scores by a `head`; bytes are scaled to 0 to 1."""

    features: nn.Sequential
    head: nn.Module
    smallest = 8
    """Pixels along a side, at least."""

    def __init__(self, symbols: int, shape: Sequence[int], independent: bool, **config: object) -> None:
        if len(shape) != 3 or min(shape[:2]) < self.smallest:
            least = f"({self.smallest}, {self.smallest}, channels)"
            raise EpisodeError(f"the grounder reads images of at least {least}, not {tuple(shape)}")
        super().__init__(independent, symbols=symbols, shape=[int(size) for size in shape], **config)

    @classmethod
    def from_shape(cls, shape: Sequence[int], symbols: int, independent: bool = False, **config: object) -> Self:
        """A fresh grounder for images of a shape."""
        return cls(symbols=symbols, shape=shape, independent=independent, **config)

    def check(self, images: Tensor) -> None:
        """Raise unless images (n, …) have the shape that it reads."""
        if list(images.shape[1:]) != self.config["shape"]:
            wanted, found = tuple(self.config["shape"]), tuple(images.shape[1:])
            raise EpisodeError(f"the grounder reads images (height, width, channels) of {wanted}, but got {found}")

    def forward(self, observations: Any) -> Tensor:
        """(n, symbols) probabilities."""
        self.check(observations)
        images = observations.permute(0, 3, 1, 2).to(self.dtype)
        images = images if observations.is_floating_point() else images / 255
        return self.probabilities(self.head(self.features(images)))


class CnnGrounder(ImageGrounder):
    """The paper's grounder of the image environment: two convolutions with pooling and ReLU, two layers, softmax."""

    name = "cnn"
    label = "two convolutions (paper)"

    def __init__(
        self,
        symbols: int,
        shape: Sequence[int] = (64, 64, 3),
        channels: Sequence[int] = (16, 32),
        hidden: int = 64,
        independent: bool = False,
    ) -> None:
        super().__init__(symbols, shape, independent, channels=list(channels), hidden=hidden)
        layers, size = convolutions(self.config["shape"], channels)
        self.features = nn.Sequential(*layers)
        self.head = nn.Sequential(nn.Linear(size, hidden), nn.ReLU(), nn.Linear(hidden, symbols))


GROUNDERS.register(CnnGrounder)


class PooledGrounder(ImageGrounder):
    """Goes by looks and not by place: what a patch shows counts, wherever it is. For randomised layouts."""

    name = "pooled"
    label = "convolutions, maximum over places"

    def __init__(
        self, symbols: int, shape: Sequence[int] = (64, 64, 3), channels: int = 32, independent: bool = False
    ) -> None:
        super().__init__(symbols, shape, independent, channels=channels)
        self.features = nn.Sequential(
            nn.Conv2d(self.config["shape"][-1], channels // 2, 4, stride=4),
            nn.ReLU(),
            nn.Conv2d(channels // 2, channels, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.ReLU(),
            nn.AdaptiveMaxPool2d(1),
            nn.Flatten(),
        )
        self.head = nn.Sequential(nn.Linear(channels, 64), nn.ReLU(), nn.Linear(64, symbols))


GROUNDERS.register(PooledGrounder)


SHARPNESS = 4.0
"""How fast the place moves, compared with other parameters."""


class AttendingGrounder(ImageGrounder):
    """What one place of an image shows counts, and which place that is, is learned.

    A few features of every place, their mean under a softmax over places, one layer. It begins in the middle, where
    egocentric agents are; elsewhere it first finds them by what moves (`attention_loss`). Images up to 12x12 are grids
    whose pixels are cells; of larger ones, a place sees 12x12 pixels, 8 apart, or its own 8x8 alone (`side=2`).
    """

    name = "attending"
    label = "looks at one place"
    smallest = 2

    def __init__(
        self,
        symbols: int,
        shape: Sequence[int] = (7, 7, 12),
        channels: int = 32,
        independent: bool = False,
        side: int = OVERLAPPING,
    ) -> None:
        """`side`: tiles of 4x4 pixels along a place, 2 or 3."""
        super().__init__(symbols, shape, independent, channels=channels, side=side)
        height, across, depth = self.config["shape"]
        self._cells = max(height, across) <= 12
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

    def distinct(self, images: Tensor) -> DistinctPatches | None:
        """Images by their distinct patches, where these are few; `forward` takes both."""
        return None if self._cells else distinct_patches(images, self.config["side"])

    def forward(self, observations: Tensor | DistinctPatches) -> Tensor:
        """(n, symbols) probabilities."""
        if isinstance(observations, Tensor):
            self.check(observations)
        features = self._maps(observations)
        # This order suits how distinct patches are laid out, and costs others nothing.
        seen = torch.bmm(self._attention(features).unsqueeze(1), features.flatten(2).transpose(1, 2)).squeeze(1)
        return self.probabilities(self.head(seen))

    def attention_loss(self, before: Tensor, after: Tensor) -> Tensor:
        """How much attention misses of what changes between successive images (n, …), a scalar to descend on."""
        looks = [self._attention(self._maps(images)) for images in (before, after)]
        return attention_loss(looks, changed_places(before, after, self._places))

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
            # Bytes are centred and made smaller: networks learn slowly from inputs that are all positive.
            weight = weight / 64.0
            bias = bias - 127.5 * weight.sum((1, 2, 3))
        return patch_features(seen, (weight, bias), second, self._places)

    def _attention(self, features: Tensor) -> Tensor:
        """(n, places) how much each place counts."""
        if self._cells:
            return torch.softmax(self.looks(features).flatten(1) + SHARPNESS * self.place, -1)
        return torch.softmax(SHARPNESS * (narrow_convolution(self.looks, features).flatten(1) + self.place), -1)


def _middle(height: int, across: int) -> Tensor:
    """(places,) scores that fall with the distance from the middle."""
    rows, columns = (torch.arange(side) - (side - 1) / 2 for side in (height, across))
    spread = 0.12 * max(height, across)
    scores: Tensor = -(rows.square()[:, None] + columns.square()) / (2 * spread**2)
    return scores.flatten()


GROUNDERS.register(AttendingGrounder)
