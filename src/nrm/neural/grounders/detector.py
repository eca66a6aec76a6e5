"""A grounder that begins with what a given detector says, and corrects it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nrm.aliases import Json
from nrm.errors import EpisodeError
from nrm.neural.grounders.registry import GROUNDERS, Grounder
from nrm.neural.layers import PartsEncoder
from nrm.observations import DETECTED, Parts


class Correction(nn.Linear):
    """Scores from features and a detector's log-probabilities: at first the latter as they are."""

    def __init__(self, features: int, symbols: int) -> None:
        self.symbols = symbols
        super().__init__(features + symbols, symbols)

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """No correction."""
        self.weight.zero_()
        self.weight[:, -self.symbols :] = torch.eye(self.symbols)
        self.bias.zero_()


class DetectorGrounder(Grounder):
    """What the entry `detected` of observations says, through a learned confusion matrix, and corrected by all else.

    Its scores are a linear map of the detector's log-probabilities and of features of the whole observation.
    """

    name = "detector"
    label = "corrects a given detector"

    def __init__(
        self, symbols: int, parts: Sequence[Json], features: int = 64, independent: bool = False, floor: float = 1e-3
    ) -> None:
        """`parts`: what rows hold (`Parts.to_config`); `floor`: the least probability that the detector may mean."""
        known = Parts.from_config(parts)
        if {part.name: part.width for part in known.parts}.get(DETECTED) != symbols:
            raise EpisodeError(
                f"no detector names the {symbols} letters of the task: observations hold {known}; give one, such as "
                "--env.labels 0.1, or wrap the environment in nrm.envs.NoisyLabelsEnv"
            )
        super().__init__(independent, symbols=symbols, parts=known.to_config(), features=features, floor=floor)
        self.parts, self.floor = known, floor
        self.encoder = PartsEncoder(known, features)
        self.head = Correction(self.encoder.width, symbols)

    @classmethod
    def from_parts(cls, parts: Parts, symbols: int, independent: bool = False) -> DetectorGrounder:
        """A fresh grounder, which says what the detector says."""
        return cls(symbols, parts.to_config(), independent=independent)

    @classmethod
    def from_shape(cls, shape: Sequence[int], symbols: int, independent: bool = False) -> DetectorGrounder:  # noqa: ARG003
        """Refused: nobody detects anything."""
        raise EpisodeError(
            f"observations of shape {tuple(shape)} have no entry '{DETECTED}'; give a detector, such as "
            "--env.labels 0.1, or wrap the environment in nrm.envs.NoisyLabelsEnv"
        )

    def forward(self, rows: Tensor) -> Tensor:
        """(n, symbols) probabilities."""
        said = self.parts.split(rows)[DETECTED].to(self.dtype).clamp_min(self.floor).log()
        return self.probabilities(self.head(torch.cat([self.encoder(rows), said], 1)))


GROUNDERS.register(DetectorGrounder)
