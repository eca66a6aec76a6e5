"""How an actor encodes what it sees: a table of all observations once an update, or each observation by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from nrm.neural import DistinctPatches, changed_places
from nrm.observations import ObservationSpec

if TYPE_CHECKING:
    from nrm.agents.acting import Rollout


class ListedObservations:
    """Observations that are rows of a table."""

    def __init__(self, spec: ObservationSpec) -> None:
        assert spec.table is not None
        self.table = spec.table
        self.count = len(self.table)
        self._features: Tensor | None = None

    def sample(self, first: Tensor) -> Tensor | None:  # noqa: ARG002 - all are known
        """Observations to normalise over, from the `first` ones: all there are."""
        return self.table

    def updated(self) -> None:
        """The encoder has changed."""
        self._features = None

    @torch.no_grad()
    def features(self, net: Any, observation: Tensor) -> Tensor:
        """(…, width) features without gradient: those of the table are computed once an update."""
        if self._features is None:
            self._features = net.encoder(self.table)
        return self._features[observation]

    def encode(self, net: Any, observation: Tensor) -> Tensor:
        """(…, width) features with gradient, of observations (…) with any leading dimensions."""
        table: Tensor = net.encoder(self.table)
        return table.index_select(0, observation.flatten()).view(*observation.shape, -1)

    def preprocess(self, net: Any, rollout: Rollout, motion: bool) -> Rollout:  # noqa: ARG002 - nothing is found
        """A rollout to learn from again and again, see `Actor.preprocess`: as it is."""
        return rollout


class ShownObservations:
    """Observations that no table lists."""

    count = 0

    def __init__(self, spec: ObservationSpec) -> None:
        self._shape = spec.shape
        self._patches: DistinctPatches | None = None

    def sample(self, first: Tensor) -> Tensor | None:
        """The first images. First positions tell too little."""
        return first if len(self._shape) == 3 else None

    def updated(self) -> None:
        self._patches = None

    @torch.no_grad()
    def features(self, net: Any, observation: Tensor) -> Tensor:
        result: Tensor = net.encoder(observation)
        return result

    def encode(self, net: Any, observation: Tensor) -> Tensor:
        """(…, width) features with gradient, of observations, or numbers of patches, with any leading dimensions."""
        if self._patches is not None and observation.dtype == torch.int64:
            numbers = observation.flatten(0, -2)
            gathered: Tensor = net.encoder(self._patches._replace(numbers=numbers))
            return gathered.view(*observation.shape[:-1], -1)
        leading = observation.shape[: observation.dim() - len(self._shape)]
        encoded: Tensor = net.encoder(observation.flatten(0, len(leading) - 1))
        return encoded.view(*leading, -1)

    def preprocess(self, net: Any, rollout: Rollout, motion: bool) -> Rollout:
        """With what moved, and numbers of patches in place of observations."""
        size, patches = getattr(net.encoder, "places", None), getattr(net.encoder, "distinct", None)
        if motion and size is not None and hasattr(net, "motion"):
            before, after = rollout.observation.flatten(0, 1), rollout.final_observation.flatten(0, 1)
            rollout = rollout._replace(moved=changed_places(before, after, size).view(*rollout.reward.shape, -1))
        if patches is None:
            return rollout
        # What an action led to is the next observation, unless an episode or the rollout ended.
        own = rollout.done.clone()
        own[-1] = True
        self._patches = patches(torch.cat([rollout.observation.flatten(0, 1), rollout.final_observation[own]]))
        if self._patches is None:
            return rollout
        steps = rollout.reward.numel()
        here = self._patches.numbers[:steps].view(*rollout.reward.shape, -1)
        reached = here.roll(-1, 0)
        reached[own] = self._patches.numbers[steps:]
        return rollout._replace(observation=here, final_observation=reached)


def observations_of(spec: ObservationSpec) -> ListedObservations | ShownObservations:
    """How to encode what an environment shows."""
    return spec.either(ListedObservations, ShownObservations)(spec)
