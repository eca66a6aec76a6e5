"""Networks for Dict observations: images by convolutions, numbers by a layer, joined."""

from __future__ import annotations

from torch import Tensor, nn

from nrm.agents.actions import ActionHead
from nrm.agents.networks.paper import ActorCritic
from nrm.agents.networks.registry import NETWORKS, NetworkConfig, NetworkKind, Sight
from nrm.errors import ConfigError
from nrm.neural import PartsEncoder

WIDTH = 64
"""Of an image's features, and of those of all numbers together."""
READ = 64
"""Width of what memories that learn read."""


class PartsNetwork(ActorCritic):
    """The paper's actor and critic on the features of several entries."""

    def __init__(self, sight: Sight, memory: int, head: ActionHead, hidden: int) -> None:
        if sight.parts is None:
            raise ConfigError(
                f"the network 'parts' reads the entries of a Dict, but observations are one array of shape "
                f"{tuple(sight.shape)}; use --network.encoder auto"
            )
        encoder = PartsEncoder(sight.parts, WIDTH)
        super().__init__(encoder, memory, head, hidden)
        self.read = nn.Linear(encoder.width, READ)

    def summary(self, features: Tensor) -> Tensor:
        """(…, READ) of features (…, width)."""
        result: Tensor = self.read(features).tanh()
        return result


def _build(sight: Sight, memory: int, head: ActionHead, config: NetworkConfig) -> PartsNetwork:
    return PartsNetwork(sight, memory, head, config.hidden)


NETWORKS.register(NetworkKind("parts", "the entries of a Dict", lambda _: READ, _build))
