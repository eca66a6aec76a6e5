"""A network that finds things in images: convolutions that the memory modulates."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nrm.agents.actions import ActionHead
from nrm.agents.networks.registry import NETWORKS, NetworkConfig, NetworkKind, Sight
from nrm.agents.networks.trunk import SharedTrunk
from nrm.errors import ConfigError

CHANNELS = 32
READ = 64
"""Width of what memories that learn read."""


class Patches(nn.Module):
    """Images as maps of features: two strided convolutions, so that one place of the map sees 12x12 pixels, 8 apart.

    Places need not match the cells of a grid: they overlap, and later convolutions look at neighbours.
    """

    def __init__(self, shape: Sequence[int], sample: Tensor | None) -> None:
        super().__init__()
        height, across, depth = shape
        self.places = tuple(-(-(side // 4) // 2) for side in (height, across))
        if min(height, across) < 4:
            raise ConfigError(f"images of {height}x{across} pixels are too small for this network; 4x4 are the least")
        self.first = nn.Conv2d(depth, CHANNELS // 2, 4, stride=4)
        self.second = nn.Conv2d(CHANNELS // 2, CHANNELS, 3, stride=2, padding=1)
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

    def forward(self, observations: Tensor) -> Tensor:
        """(n, width) from images (n, height, width, channels) of whole numbers 0 to 255."""
        pixels = observations.permute(0, 3, 1, 2).float()
        # Scaling the few weights instead of the many pixels is the same.
        weight = self.first.weight / self.spread
        assert self.first.bias is not None
        bias = self.first.bias - (weight * self.centre.view(1, -1, 1, 1)).sum((1, 2, 3))
        maps = nn.functional.conv2d(pixels, weight, bias, stride=4).relu()
        result: Tensor = self.second(maps).relu().flatten(1)
        return result


class ResidualNetwork(SharedTrunk):
    """Actor and critic on maps of features.

    The memory's feature, embedded, scales and shifts every channel (FiLM, Perez et al., 2018), so that what is looked
    for depends on what is left to do; a learned map tells places apart. Two residual 3x3 convolutions, then layers of
    256 and 128, which actor and critic share.
    """

    def __init__(self, sight: Sight, memory: int, head: ActionHead, normalise: bool) -> None:
        """`memory`: the width of the memory's feature."""
        super().__init__()
        if len(sight.shape) != 3:
            raise ConfigError(
                f"the residual network looks at images (height, width, channels), not at {tuple(sight.shape)}; use "
                "--network.encoder paper"
            )
        self.encoder = Patches(sight.shape, sight.sample if normalise else None)
        self._map = (CHANNELS, *self.encoder.places)
        self.modulation = nn.Linear(memory, 2 * CHANNELS)
        self.position = nn.Parameter(torch.randn(self._map) * 0.1)
        self.near, self.far = (nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1) for _ in range(2))
        self.full = nn.Sequential(nn.Linear(self.encoder.width, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU())
        self.actor = head.layer(128)
        self.critic = nn.Linear(128, 1)
        self.reading = nn.Sequential(nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1), nn.ReLU())
        self.read = nn.Linear(2 * CHANNELS, READ)
        with torch.no_grad():
            nn.init.orthogonal_(self.critic.weight)
            for parameter in self.actor.parameters():
                parameter.mul_(0.1)  # the first policy is nearly the same everywhere

    def summary(self, features: Tensor) -> Tensor:
        """(…, READ): the strongest and the mean of each channel over all places, after a look at neighbours."""
        leading = features.shape[:-1]
        maps = self.reading(features.reshape(-1, *self._map) + self.position)
        result: Tensor = self.read(torch.cat([maps.amax((2, 3)), maps.mean((2, 3))], 1)).tanh()
        return result.view(*leading, READ)

    def hidden(self, features: Tensor, memory: Tensor) -> Tensor:
        """(n, 128) from features (n, width) and memory (n, memory)."""
        scale, shift = self.modulation(memory)[:, :, None, None].chunk(2, 1)
        maps = features.reshape(-1, *self._map) * (1 + scale) + shift + self.position
        maps = maps + self.near(maps.relu())
        maps = maps + self.far(maps.relu())
        result: Tensor = self.full(maps.relu().flatten(1))
        return result


def _build(sight: Sight, memory: int, head: ActionHead, config: NetworkConfig) -> ResidualNetwork:
    return ResidualNetwork(sight, memory, head, config.normalise)


NETWORKS.register(NetworkKind("residual", "modulated residual convolutions", lambda _: READ, _build))
