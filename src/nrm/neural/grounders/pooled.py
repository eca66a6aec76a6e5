"""A convolutional grounder for images of ever new layouts."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from nrm.neural.grounders.cnn import ImageGrounder
from nrm.neural.grounders.registry import GROUNDERS


class PooledGrounder(ImageGrounder):
    """A grounder that goes by looks and not by place: what a patch of the image shows counts, wherever it is.

    Patches of 4x4 pixels, two convolutions over their neighbourhood, the maximum over all places, two layers. For
    environments whose items lie elsewhere in every episode, where `CnnGrounder` would have to learn each place anew.
    """

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
