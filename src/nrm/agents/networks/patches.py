"""The first layers of networks for images: maps of features, one place for every patch."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nrm.errors import ConfigError
from nrm.neural import OVERLAPPING, TILE, DistinctPatches, distinct_patches, patch_features, places

CHANNELS = 32
"""Features of a place."""


class Patches(nn.Module):
    """Images as maps of features: two strided convolutions, so that one place of the map sees 12x12 pixels, 8 apart.

    Places need not match the cells of a grid: they overlap, and later convolutions look at neighbours. Where `side` is
    2, they do not, and a place sees 8x8 pixels: what lies next to a thing does not change how it looks.
    """

    def __init__(self, shape: Sequence[int], sample: Tensor | None, side: int = OVERLAPPING) -> None:
        """`sample`: (n, *shape) images to normalise over; `side`: tiles of 4x4 pixels along a place, 2 or 3."""
        super().__init__()
        self._side = side
        height, across, depth = shape
        self.places = places(height, across)
        if min(height, across) < TILE:
            raise ConfigError(f"images of {height}x{across} pixels are too small for this network; 4x4 are the least")
        self.first = nn.Conv2d(depth, CHANNELS // 2, TILE, stride=TILE)
        self.second = nn.Conv2d(CHANNELS // 2, CHANNELS, side, stride=2, padding=side - 2)
        self.width = CHANNELS * self.places[0] * self.places[1]
        self.register_buffer("centre", torch.full((depth,), 127.5))
        self.register_buffer("spread", torch.tensor(64.0))
        self.centre: Tensor
        self.spread: Tensor
        if sample is not None:
            pixels = sample.float().flatten(0, 2)
            self.centre.copy_(pixels.mean(0))
            self.spread.copy_((pixels - self.centre).std().clamp(min=1.0))
            self._spread_out(sample)

    @torch.no_grad()
    def _spread_out(self, sample: Tensor) -> None:
        """Centre every channel on the sample and scale it to unit spread: otherwise some never speak."""
        maps = ((sample.float() - self.centre) / self.spread).permute(0, 3, 1, 2)
        for layer in (self.first, self.second):
            outputs = layer(maps)
            mean, spread = outputs.mean((0, 2, 3)), outputs.std((0, 2, 3)).clamp(min=1e-3)
            assert layer.bias is not None
            layer.weight /= spread.view(-1, 1, 1, 1)
            layer.bias.copy_((layer.bias - mean) / spread)
            maps = layer(maps).relu()

    def distinct(self, images: Tensor) -> DistinctPatches | None:
        """Images (n, height, width, channels) by their distinct patches, where these are few; `forward` takes both."""
        return distinct_patches(images, self._side)

    def forward(self, observations: Tensor | DistinctPatches) -> Tensor:
        """(n, width) from images (n, height, width, channels) of whole numbers 0 to 255."""
        # Scaling the few weights instead of the many pixels is the same.
        weight = self.first.weight / self.spread
        assert self.first.bias is not None
        bias = self.first.bias - (weight * self.centre.view(1, -1, 1, 1)).sum((1, 2, 3))
        return patch_features(observations, (weight, bias), self.second, self.places).flatten(1)
