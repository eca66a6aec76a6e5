"""Features of observations that carry a belief."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.preprocessing import get_flattened_obs_dim, is_image_space
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

from nrm.errors import EnvError
from nrm.neural import FlatFeatures
from nrm.wrappers import BELIEF, TASK


class BeliefExtractor(BaseFeaturesExtractor):
    """Features for `MultiInputPolicy`: convolutions for images; beliefs and task encodings unchanged.

    Use it with `policy_kwargs={"features_extractor_class": BeliefExtractor}`. Images may be as small as 8x8 pixels; the
    network of Stable-Baselines3 needs 36x36. Numbers with known bounds are scaled to the range from -1 to 1.
    """

    def __init__(
        self, observation_space: spaces.Dict, features: int = 128, channels: Sequence[int] = (16, 32, 32)
    ) -> None:
        """`features`: number of image features; `channels`: of the convolutions, each of which halves the size."""
        if not isinstance(observation_space, spaces.Dict) or not {BELIEF, TASK} & set(observation_space.spaces):
            raise EnvError(
                f"this extractor reads Dict observations with an entry '{BELIEF}' or '{TASK}', not "
                f"{observation_space}; wrap the environment in NeuralRewardMachineVecWrapper(venv, model)"
            )
        parts: dict[str, nn.Module] = {}
        width = 0
        for key, space in observation_space.spaces.items():
            if is_image_space(space):
                parts[key] = _convolutions(space.shape or (), channels, features)
                width += features
            else:
                parts[key] = nn.Flatten() if key in (BELIEF, TASK) else _numbers(space)
                width += get_flattened_obs_dim(space)
        super().__init__(observation_space, width)
        self.parts = nn.ModuleDict(parts)

    def forward(self, observations: dict[str, Tensor]) -> Tensor:
        """(n, features) from the entries (n, …), images with channels first and between 0 and 1."""
        return torch.cat([part(observations[key]) for key, part in self.parts.items()], 1)


def _numbers(space: spaces.Space[object]) -> nn.Module:
    if not isinstance(space, spaces.Box) or not space.is_bounded("both"):
        return nn.Flatten()
    low, high = (torch.as_tensor(np.asarray(bound, dtype=np.float32)) for bound in (space.low, space.high))
    spread = (high - low) / 2
    if float(spread.max()) > 1e6:  # a type's range, which says nothing about the numbers
        return nn.Flatten()
    return FlatFeatures(space.shape, (low + high) / 2, torch.where(spread > 0, spread, 1.0))


def _convolutions(shape: Sequence[int], channels: Sequence[int], features: int) -> nn.Sequential:
    """For images with channels first, which is how Stable-Baselines3 gives them."""
    depth, height, width = shape
    layers: list[nn.Module] = []
    for wide in channels:
        layers += [nn.Conv2d(depth, wide, 3, stride=2, padding=1), nn.ReLU()]
        depth, height, width = wide, (height + 1) // 2, (width + 1) // 2
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(depth * height * width, features), nn.ReLU())
