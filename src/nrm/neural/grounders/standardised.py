"""The grounder of recordings: features of any scale."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nrm.neural.grounders.mlp import MlpGrounder
from nrm.neural.grounders.registry import GROUNDERS


class StandardisedGrounder(MlpGrounder):
    """The fully connected grounder on features with mean 0 and variance 1, whose scale it takes from the data.

    While it learns, a little noise is added to the features: of few recordings it would learn single steps by heart.
    """

    name = "standardised"
    label = "fully connected, on standardised features"
    noise = 0.3
    """Standard deviation of the noise, where that of the features is 1."""
    centre: Tensor
    spread: Tensor

    def __init__(self, inputs: int, symbols: int, hidden: Sequence[int] = (64, 64), independent: bool = False) -> None:
        super().__init__(inputs, symbols, hidden, independent=independent)
        self.config = {"inputs": inputs, "symbols": symbols, "hidden": list(hidden), "independent": independent}
        self.register_buffer("centre", torch.zeros(inputs))
        self.register_buffer("spread", torch.ones(inputs))

    def scale_to(self, observations: Tensor) -> None:
        """Take the scale of observations (n, …); what hardly varies in them plays no part."""
        flat = self.numbers(observations)
        self.centre = flat.mean(0)
        spread = flat.std(0, correction=0)
        self.spread = torch.where(spread > 1e-3 * spread.amax(), spread, torch.inf)

    def forward(self, observations: Tensor) -> Tensor:
        """(n, symbols) probabilities."""
        numbers = (self.numbers(observations) - self.centre) / self.spread
        if self.training:
            numbers = numbers + self.noise * torch.randn_like(numbers)
        return self.probabilities(self.layers(numbers))


GROUNDERS.register(StandardisedGrounder)
