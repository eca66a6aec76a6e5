"""A network that finds the agent in an image, sees things from there, and plans ways around what is in the way."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nrm.agents.actions import ActionHead
from nrm.agents.networks.egocentric import FILTERS, READ, EgocentricNetwork
from nrm.agents.networks.registry import NETWORKS, NetworkConfig, NetworkKind, Sight
from nrm.agents.networks.spreading import spread

PLANS = 4
"""Maps of values."""
FADING = 0.9
"""What is left of a value after one place of open way."""
RARE = 2.0
"""Scores begin around 0; as much is taken from them, so that at first little is wanted and little in the way."""
LOUD = 4.0
"""Values lie from 0 to 1 and differ little from place to place; what they are multiplied by."""


class PlanningNetwork(EgocentricNetwork):
    """The egocentric network, with maps of how near what is wanted is, by ways around what must be avoided.

    Directions to things are not enough where the straight way is closed: layers on top of them have to know each
    detour by itself. So some of the maps are values that spread from what the memory wants over all places but those
    that it avoids, round by round (value iteration networks, Tamar et al., 2016); from the agent's place, the way leads
    to where they grow.
    """

    name = "planning"
    extra = PLANS

    def __init__(self, sight: Sight, memory: int, head: ActionHead, normalise: bool) -> None:
        """`memory`: the width of the memory's feature."""
        super().__init__(sight, memory, head, normalise)
        self.ways = nn.Linear(FILTERS, 2 * PLANS)

    def sought(self, maps: Tensor, memory: Tensor) -> Tensor:
        """(n, FILTERS + PLANS, places) what the memory looks for, and how near it is."""
        wanted = super().sought(maps, memory)
        _, height, across = self._map
        # Neighbours lie far apart in memory, so that what is done to all rows of a batch is done at once.
        scores = (self.ways.weight @ wanted).permute(2, 0, 1).contiguous() + self.ways.bias
        goal, opened = (
            part.sigmoid().reshape(height, across, -1)
            for part in (scores[..., :PLANS] - RARE, RARE - scores[..., PLANS:])
        )
        values = spread(goal, FADING * opened, height + across - 2)
        planned = values.view(self._places, -1, PLANS).permute(1, 2, 0)
        return torch.cat([wanted, LOUD * planned], 1)


def _build(sight: Sight, memory: int, head: ActionHead, config: NetworkConfig) -> PlanningNetwork:
    return PlanningNetwork(sight, memory, head, config.normalise)


NETWORKS.register(NetworkKind(PlanningNetwork.name, "ways as seen from the agent", lambda _: READ, _build))
