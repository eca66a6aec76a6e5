"""A network that sees nothing: what it earns with a memory, the memory alone is worth."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nrm.agents.actions import ActionHead
from nrm.agents.networks.paper import ActorCritic
from nrm.agents.networks.registry import NETWORKS, NetworkConfig, NetworkKind, Sight


class NoFeatures(nn.Module):
    """Zeros, whatever there is to see: (n, …) to (n, 1)."""

    width = 1

    def forward(self, observations: Tensor) -> Tensor:
        """(n, 1)."""
        return torch.zeros(len(observations), 1, device=observations.device)


def _build(sight: Sight, memory: int, head: ActionHead, config: NetworkConfig) -> ActorCritic:  # noqa: ARG001
    return ActorCritic(NoFeatures(), memory, head, config.hidden)


NETWORKS.register(NetworkKind("blind", "sees nothing", lambda _: 1, _build))
