"""The paper's fully connected grounder."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch import Tensor, nn

from nrm.errors import EpisodeError
from nrm.neural.grounders.registry import GROUNDERS, Grounder


class MlpGrounder(Grounder):
    """The paper's grounder of the map environment: three fully connected layers, softmax at the end.

    The defaults add a tanh after the second layer and leave dropout out, which learns more reliably from few distinct
    observations; `MlpGrounder.paper` is the appendix' form. Observations (n, …) are flattened.
    """

    name = "mlp"
    label = "fully connected"

    def __init__(
        self,
        inputs: int,
        symbols: int,
        hidden: Sequence[int] = (64, 64),
        dropout: float = 0.0,
        activations: int | None = None,
        scale: float = 1.0,
        independent: bool = False,
    ) -> None:
        """`activations`: after how many of the hidden layers a tanh follows (all). `scale` multiplies observations."""
        hidden = tuple(int(width) for width in hidden)
        activations = len(hidden) if activations is None else activations
        super().__init__(
            independent,
            inputs=inputs,
            symbols=symbols,
            hidden=list(hidden),
            dropout=dropout,
            activations=activations,
            scale=scale,
        )
        self.scale = scale
        self.inputs = inputs
        layers: list[nn.Module] = []
        width = inputs
        for place, wide in enumerate(hidden):
            layers.append(nn.Linear(width, wide))
            if place < activations:
                layers.append(nn.Tanh())
            if dropout:
                layers.append(nn.Dropout(dropout))
            width = wide
        self.layers = nn.Sequential(*layers, nn.Linear(width, symbols))

    @classmethod
    def from_shape(cls, shape: Sequence[int], symbols: int, independent: bool = False) -> MlpGrounder:
        """A fresh grounder for observations of any shape."""
        return cls(math.prod(shape), symbols, independent=independent)

    @classmethod
    def paper(
        cls, inputs: int, symbols: int, hidden: int = 64, dropout: float = 0.2, independent: bool = False
    ) -> MlpGrounder:
        """Three layers with dropout, a tanh between the first two only (appendix, "Neural Networks Design")."""
        return cls(inputs, symbols, (hidden, hidden), dropout, activations=1, independent=independent)

    def forward(self, observations: Tensor) -> Tensor:
        """(n, symbols) probabilities."""
        flat = observations.reshape(len(observations), -1)  # one number a step is welcome too
        if flat.shape[1] != self.inputs:
            raise EpisodeError(
                f"the grounder reads {self.inputs} numbers per observation, but observations of shape "
                f"{tuple(observations.shape[1:])} have {flat.shape[1]}"
            )
        return self.probabilities(self.layers(flat.to(self.dtype) * self.scale))


GROUNDERS.register(MlpGrounder)
