"""The networks of the paper's appendix: actor, critic and feature extraction, the same for every method."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import torch
from torch import Tensor, nn

from nrm.agents.actions import ActionHead
from nrm.agents.networks import NETWORKS, NetworkKind, Sight
from nrm.agents.networks.layers import SUMMARY_WIDTH, RunningFeatures, SharedTrunk
from nrm.errors import ConfigError
from nrm.neural import FlatFeatures, PartsEncoder


class ImageFeatures(nn.Module):
    """Two convolutions with max pooling and ReLU, two fully connected layers and a sigmoid (appendix).

    Images of one environment differ in few pixels, of which a usual network makes nearly the same features. So layers
    are scaled to unit spread on a sample (as in "All you need is a good init", Mishkin and Matas, 2016).
    """

    def __init__(self, shape: Sequence[int], sample: Tensor | None = None, width: int = 32) -> None:
        """`sample`: (n, height, width, channels) images of the environment."""
        super().__init__()
        height, across, depth = shape
        self.width = width
        self.layers = nn.Sequential(
            nn.Conv2d(depth, 8, 3, padding=1),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(16 * (height // 4) * (across // 4), 64),
            nn.ReLU(),
            nn.Linear(64, width),
            nn.Sigmoid(),
        )
        self.register_buffer("centre", torch.zeros(tuple(shape)))
        self.register_buffer("spread", torch.tensor(255.0))
        self.centre: Tensor
        self.spread: Tensor
        if sample is not None and bool((sample != sample[:1]).any()):
            images = sample.float()
            self.centre.copy_(images.mean(0))
            self.spread.copy_((images - self.centre).std())
            self._spread_out(sample)

    @torch.no_grad()
    def _spread_out(self, sample: Tensor) -> None:
        """Scale each layer to unit spread on the sample; the outputs of full layers are centred on it too."""
        values = self._scaled(sample)
        for layer in self.layers:
            if isinstance(layer, nn.Linear | nn.Conv2d):
                outputs = layer(values)
                full = isinstance(layer, nn.Linear)
                if full:
                    layer.bias -= outputs.mean(0)
                spread = (outputs.std(0).mean() if full else outputs.std()).clamp(min=1e-6)
                layer.weight /= spread
                assert layer.bias is not None
                layer.bias /= spread
            values = layer(values)

    def _scaled(self, observations: Tensor) -> Tensor:
        return ((observations.float() - self.centre) / self.spread).permute(0, 3, 1, 2)

    def forward(self, observations: Tensor) -> Tensor:
        """(n, width) from images (n, height, width, channels) of whole numbers 0 to 255."""
        features: Tensor = self.layers(self._scaled(observations))
        return features


def features_width(shape: Sequence[int]) -> int:
    """The width of the features of observations of a shape."""
    return 32 if len(shape) == 3 else prod(shape)


def features_for(shape: Sequence[int], sample: Tensor | None) -> FlatFeatures | ImageFeatures:
    """A feature extractor for observations of a shape, normalised over a sample of them if there is one."""
    if len(shape) == 3:
        return ImageFeatures(shape, sample, features_width(shape))
    if sample is None:
        return FlatFeatures(shape)
    flat = sample.flatten(1).float()
    return FlatFeatures(shape, flat.mean(0), flat.std(0).clamp(min=1e-6))


class ActorCritic(nn.Module):
    """A policy and a value on the features of an observation and of a memory.

    Actor and critic have three layers each with tanh between them (appendix) and share no weight. Their hidden layers
    have the same shape, so both are computed as one batched product, which halves the number of calls.
    """

    def __init__(self, encoder: Any, memory: int, head: ActionHead, hidden: int = 120) -> None:
        """`memory`: the width of the memory's feature."""
        super().__init__()
        self.encoder = encoder
        self.first, self.first_bias = _twin_layer(encoder.width + memory, hidden)
        self.second, self.second_bias = _twin_layer(hidden, hidden)
        self.actor = head.layer(hidden)
        self.critic = nn.Linear(hidden, 1)

    def summary(self, features: Tensor) -> Tensor:
        return features

    def forward(self, features: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        joined = torch.cat([features, memory], -1)
        hidden = torch.baddbmm(self.first_bias, joined.expand(2, -1, -1), self.first).tanh()
        actor, critic = torch.baddbmm(self.second_bias, hidden, self.second).tanh()
        return self.actor(actor), self.critic(critic).squeeze(-1)


def _twin_layer(inputs: int, outputs: int) -> tuple[nn.Parameter, nn.Parameter]:
    """Weights (2, inputs, outputs) and biases (2, 1, outputs), drawn as those of `nn.Linear` are."""
    bound = inputs**-0.5
    weights = torch.empty(2, inputs, outputs).uniform_(-bound, bound)
    return nn.Parameter(weights), nn.Parameter(torch.empty(2, 1, outputs).uniform_(-bound, bound))


class NoFeatures(nn.Module):
    """Zeros, whatever there is to see: what a policy earns with a memory, the memory alone is worth."""

    width = 1

    def forward(self, observations: Tensor) -> Tensor:
        return torch.zeros(len(observations), 1, device=observations.device)


class PartsNetwork(ActorCritic):
    """The paper's actor and critic on the entries of a Dict: images by convolutions, numbers by a layer, joined."""

    def __init__(self, sight: Sight, memory: int, head: ActionHead) -> None:
        if sight.spec.entries is None:
            raise ConfigError(
                f"the network 'parts' reads the entries of a Dict, not arrays of shape {tuple(sight.shape)}"
            )
        encoder = PartsEncoder(sight.spec.entries, 64)
        super().__init__(encoder, memory, head)
        self.read = nn.Linear(encoder.width, SUMMARY_WIDTH)

    summary = SharedTrunk.summary


def _build(sight: Sight, memory: int, head: ActionHead) -> ActorCritic:
    if sight.spec.kind in ("numbers", "entries"):
        return ActorCritic(RunningFeatures(sight.shape), memory, head)
    return ActorCritic(features_for(sight.shape, sight.sample), memory, head)


def _build_papers(sight: Sight, memory: int, head: ActionHead) -> ActorCritic:
    return ActorCritic(features_for(sight.shape, None), memory, head)


def _build_blind(sight: Sight, memory: int, head: ActionHead) -> ActorCritic:  # noqa: ARG001
    return ActorCritic(NoFeatures(), memory, head)


NETWORKS.register(NetworkKind("standard", "the paper's, on normalised observations", features_width, _build))
NETWORKS.register(NetworkKind("paper", "the paper's appendix", features_width, _build_papers))
NETWORKS.register(NetworkKind("parts", "the entries of a Dict", lambda _: SUMMARY_WIDTH, PartsNetwork))
NETWORKS.register(NetworkKind("blind", "sees nothing", lambda _: 1, _build_blind))
