"""A network that finds things in images: convolutions that the memory modulates."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nrm.agents.actions import ActionHead
from nrm.agents.networks.patches import CHANNELS, Patches
from nrm.agents.networks.registry import NETWORKS, NetworkConfig, NetworkKind, Sight
from nrm.agents.networks.trunk import SharedTrunk
from nrm.errors import ConfigError

READ = 64
"""Width of what memories that learn read."""


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
