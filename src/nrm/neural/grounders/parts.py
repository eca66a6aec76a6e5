"""A grounder that reads several entries of a Dict observation together."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from nrm.aliases import Json
from nrm.errors import EpisodeError
from nrm.neural.encoders import PartsEncoder
from nrm.neural.grounders.registry import GROUNDERS, Grounder
from nrm.parts import Parts


class PartsGrounder(Grounder):
    """Rows of Dict observations (`nrm.neural.Parts`): images by convolutions, numbers by a layer, both by two more."""

    name = "parts"
    label = "convolutions for images, layers for numbers, joined"

    def __init__(
        self, symbols: int, parts: Sequence[Json], features: int = 64, hidden: int = 64, independent: bool = False
    ) -> None:
        """`parts`: what rows hold (`Parts.to_config`); `features`: width of an image's and of all numbers' features."""
        known = Parts.from_config(parts)
        super().__init__(independent, symbols=symbols, parts=known.to_config(), features=features, hidden=hidden)
        self.parts = known
        self.encoder = PartsEncoder(self.parts, features)
        self.head = nn.Sequential(nn.Linear(self.encoder.width, hidden), nn.Tanh(), nn.Linear(hidden, symbols))

    @classmethod
    def from_parts(cls, parts: Parts, symbols: int, independent: bool = False) -> PartsGrounder:
        """A fresh grounder for rows of Dict observations."""
        return cls(symbols, parts.to_config(), independent=independent)

    @classmethod
    def from_shape(cls, shape: Sequence[int], symbols: int, independent: bool = False) -> PartsGrounder:  # noqa: ARG003
        """Refused: a shape does not say what rows hold."""
        raise EpisodeError(
            f"the grounder 'parts' reads Dict observations, and observations of shape {tuple(shape)} do not say which "
            "numbers are which entry; choose another grounder, or build PartsGrounder.from_parts(Parts.of(space), …)"
        )

    def forward(self, rows: Tensor) -> Tensor:
        """(n, symbols) probabilities."""
        return self.probabilities(self.head(self.encoder(rows)))


GROUNDERS.register(PartsGrounder)
