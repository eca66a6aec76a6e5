"""A grounder for positions and other vectors, whose symbols have sharp borders."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch import Tensor, nn

from nrm.errors import EpisodeError
from nrm.neural.grounders.registry import GROUNDERS, Grounder
from nrm.neural.layers import directions
from nrm.neural.layers import waves as along


class FourierGrounder(Grounder):
    """Numbers with sines and cosines along drawn ways, two hidden layers of ReLU, softmax at the end.

    A plain network learns slowly what changes over a short way; waves make borders sharp. Observations (n, …) are
    flattened.
    """

    name = "fourier"
    label = "waves over vectors"
    ways: Tensor

    def __init__(
        self,
        inputs: int,
        symbols: int,
        hidden: Sequence[int] = (64, 64),
        waves: int = 64,
        slowest: float = 1.0,
        fastest: float = 5.0,
        independent: bool = False,
    ) -> None:
        """`slowest`, `fastest`: of the `waves`, in radians for each unit of an observation."""
        hidden = [int(width) for width in hidden]
        config = {"hidden": hidden, "waves": waves, "slowest": slowest, "fastest": fastest}
        super().__init__(independent, inputs=inputs, symbols=symbols, **config)
        self.inputs = inputs
        self.register_buffer("ways", directions(inputs, waves, slowest, fastest))
        layers: list[nn.Module] = []
        width = inputs + 2 * waves
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
        return self.probabilities(self.layers(along(flat.to(self.dtype), self.ways)))


GROUNDERS.register(FourierGrounder)
