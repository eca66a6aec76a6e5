"""A grounder for positions and other vectors, whose symbols have sharp borders."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch import Tensor, nn

from nrm.errors import EpisodeError
from nrm.neural.grounders.registry import GROUNDERS, Grounder
from nrm.neural.layers import waves


class FourierGrounder(Grounder):
    """Numbers with sines and cosines of their multiples, two hidden layers of ReLU, softmax at the end.

    A plain network learns slowly what changes over a short way (its bias is to low frequencies: Tancik et al., 2020);
    waves make circles of some tenths sharp. Observations (n, …) are flattened.
    """

    name = "fourier"
    label = "waves over vectors"

    def __init__(
        self,
        inputs: int,
        symbols: int,
        hidden: Sequence[int] = (128, 128),
        frequencies: Sequence[float] = (1.5, 3.0, 6.0),
        independent: bool = False,
    ) -> None:
        """`frequencies`: of the waves, in radians for each unit of an observation."""
        hidden, frequencies = tuple(int(width) for width in hidden), tuple(float(each) for each in frequencies)
        super().__init__(
            independent, inputs=inputs, symbols=symbols, hidden=list(hidden), frequencies=list(frequencies)
        )
        self.inputs = inputs
        self.frequencies = frequencies
        layers: list[nn.Module] = []
        width = inputs * (1 + 2 * len(frequencies))
        for wide in hidden:
            layers += [nn.Linear(width, wide), nn.ReLU()]
            width = wide
        self.layers = nn.Sequential(*layers, nn.Linear(width, symbols))

    @classmethod
    def from_shape(cls, shape: Sequence[int], symbols: int, independent: bool = False) -> FourierGrounder:
        """A fresh grounder for observations of any shape."""
        return cls(math.prod(shape), symbols, independent=independent)

    def forward(self, observations: Tensor) -> Tensor:
        """(n, symbols) probabilities."""
        flat = observations.reshape(len(observations), -1)
        if flat.shape[1] != self.inputs:
            raise EpisodeError(
                f"the grounder reads {self.inputs} numbers per observation, but observations of shape "
                f"{tuple(observations.shape[1:])} have {flat.shape[1]}"
            )
        return self.probabilities(self.layers(waves(flat.to(self.dtype), self.frequencies)))


GROUNDERS.register(FourierGrounder)
