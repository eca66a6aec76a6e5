"""The true labelling as a grounder."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nrm.errors import EpisodeError, LearningError
from nrm.neural.grounders.registry import GROUNDERS, Grounder


class TrueLabels(Grounder):
    """The true labelling: observations that are letters already (n,) or (n, 1). A reward machine is this case."""

    name = "true-labels"
    label = "observations that are letters already"

    def __init__(self, symbols: int, independent: bool = False) -> None:
        if independent:
            raise LearningError("true labels are letters, so their distribution is categorical, not independent")
        super().__init__(False, symbols=symbols)
        self.symbols = symbols
        self.register_buffer("anchor", torch.zeros(()))
        self.anchor: Tensor

    @classmethod
    def from_shape(cls, shape: Sequence[int], symbols: int, independent: bool = False) -> TrueLabels:  # noqa: ARG003
        """The labelling with so many letters."""
        return cls(symbols, independent)

    def forward(self, observations: Tensor) -> Tensor:
        """(n, letters) one-hot."""
        letters = observations.reshape(len(observations), -1)
        if letters.shape[1] != 1:
            raise EpisodeError(
                f"true labels are one number per step, but observations have shape {tuple(observations.shape[1:])}"
            )
        whole = letters[:, 0].long()
        if bool(((whole < 0) | (whole >= self.symbols)).any()):
            raise EpisodeError(
                f"a true label lies outside 0 to {self.symbols - 1}: {int(whole.min())}, {int(whole.max())}"
            )
        return nn.functional.one_hot(whole, self.symbols).to(self.anchor.dtype)


GROUNDERS.register(TrueLabels)
