"""A recurrent grounder, for symbols that a single observation does not show."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nrm.aliases import Json
from nrm.neural.grounders.registry import GROUNDERS, RecurrentGrounder
from nrm.neural.layers import encoder_for
from nrm.observations import Parts


class GruGrounder(RecurrentGrounder):
    """A gated recurrent unit on an encoder; symbols are named from its state and from what is seen right now."""

    name = "recurrent"
    label = "gated recurrent unit on an encoder"

    def __init__(
        self,
        symbols: int,
        shape: Sequence[int] | None = None,
        parts: Sequence[Json] | None = None,
        features: int = 64,
        hidden: int = 64,
        independent: bool = False,
    ) -> None:
        """`shape`: of an observation; `parts`: in its place, what rows of Dict observations hold (`Parts.to_config`).

        `features`: width of what is seen; `hidden`: of the state.
        """
        observed = [int(size) for size in shape or ()] if parts is None else Parts.from_config(parts)
        super().__init__(
            independent,
            symbols=symbols,
            shape=None if isinstance(observed, Parts) else observed,
            parts=observed.to_config() if isinstance(observed, Parts) else None,
            features=features,
            hidden=hidden,
        )
        self.parts = observed if isinstance(observed, Parts) else None
        self.width = hidden
        self.encoder = encoder_for(observed, features)
        self.memory = nn.GRU(self.encoder.width, hidden, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden + self.encoder.width, 64), nn.Tanh(), nn.Linear(64, symbols))

    @classmethod
    def from_shape(cls, shape: Sequence[int], symbols: int, independent: bool = False) -> GruGrounder:
        """A fresh grounder for observations of any shape."""
        return cls(symbols, shape, independent=independent)

    @classmethod
    def from_parts(cls, parts: Parts, symbols: int, independent: bool = False) -> GruGrounder:
        """A fresh grounder for rows of Dict observations."""
        return cls(symbols, parts=parts.to_config(), independent=independent)

    def encode(self, observations: Tensor) -> Tensor:
        """(n, features)."""
        encoded: Tensor = self.encoder(observations)
        return encoded

    def read(self, encoded: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Probabilities (n, symbols) and states (n, hidden) after one step."""
        said, after = self.memory(encoded.unsqueeze(1), state.unsqueeze(0).contiguous())
        return self._named(said[:, 0], encoded), after[0]

    def sequence(self, encoded: Tensor, lengths: Tensor) -> Tensor:  # noqa: ARG002 - padding comes last
        """(batch, time, symbols)."""
        said, _ = self.memory(encoded)
        return self._named(said, encoded)

    def _named(self, remembered: Tensor, encoded: Tensor) -> Tensor:
        return self.probabilities(self.head(torch.cat([remembered, encoded], -1)))


GROUNDERS.register(GruGrounder)
