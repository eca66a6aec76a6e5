"""The networks of the paper's appendix: actor, critic and feature extraction, the same for every method."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import torch
from torch import Tensor, nn


def three_layers(inputs: int, outputs: int, hidden: int) -> nn.Sequential:
    """Three fully connected layers with tanh between them."""
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, outputs)
    )


class FlatFeatures(nn.Module):
    """Observations as they are, flattened, shifted and scaled: (n, …) to (n, width)."""

    def __init__(self, shape: Sequence[int], centre: Tensor | None = None, spread: Tensor | None = None) -> None:
        super().__init__()
        self.width = prod(shape)
        self.register_buffer("centre", torch.zeros(self.width) if centre is None else centre.flatten().float())
        self.register_buffer("spread", torch.ones(self.width) if spread is None else spread.flatten().float())
        self.centre: Tensor
        self.spread: Tensor

    def forward(self, observations: Tensor) -> Tensor:
        """(n, width)."""
        scaled: Tensor = (observations.flatten(1).float() - self.centre) / self.spread
        return scaled


class ImageFeatures(nn.Module):
    """Two convolutions with max pooling and ReLU, two fully connected layers and a sigmoid (appendix)."""

    def __init__(self, shape: Sequence[int], width: int = 32) -> None:
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

    def forward(self, observations: Tensor) -> Tensor:
        """(n, width) from images (n, height, width, channels) of whole numbers 0 to 255."""
        features: Tensor = self.layers(observations.permute(0, 3, 1, 2).float() / 255)
        return features


def features_for(shape: Sequence[int], frames: Tensor | None, normalise: bool) -> FlatFeatures | ImageFeatures:
    """A feature extractor for observations of a shape; with `normalise`, flat ones are centred over all frames."""
    if len(shape) == 3:
        return ImageFeatures(shape)
    if not normalise or frames is None:
        return FlatFeatures(shape)
    flat = frames.flatten(1).float()
    return FlatFeatures(shape, flat.mean(0), flat.std(0).clamp(min=1e-6))


class ActorCritic(nn.Module):
    """A policy and a value on the features of an observation and of a memory."""

    def __init__(self, encoder: FlatFeatures | ImageFeatures, memory: int, actions: int, hidden: int) -> None:
        """`memory`: the width of the memory's feature."""
        super().__init__()
        self.encoder = encoder
        self.actor = three_layers(encoder.width + memory, actions, hidden)
        self.critic = three_layers(encoder.width + memory, 1, hidden)

    def forward(self, features: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """(…, actions) logits and (…,) values from features (…, width) and memory (…, memory)."""
        joined = torch.cat([features, memory], -1)
        return self.actor(joined), self.critic(joined).squeeze(-1)

    def logits(self, features: Tensor, memory: Tensor) -> Tensor:
        """(…, actions) for acting."""
        result: Tensor = self.actor(torch.cat([features, memory], -1))
        return result

    def value(self, features: Tensor, memory: Tensor) -> Tensor:
        """(…,) for bootstrapping."""
        result: Tensor = self.critic(torch.cat([features, memory], -1)).squeeze(-1)
        return result
