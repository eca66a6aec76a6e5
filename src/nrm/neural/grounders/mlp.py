"""The paper's fully connected grounder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from nrm.aliases import Json
from nrm.errors import EpisodeError, LearningError
from nrm.neural.grounders.registry import GROUNDERS, Grounder
from nrm.neural.layers import PartsEncoder, directions
from nrm.neural.layers import waves as along
from nrm.observations import Parts

if TYPE_CHECKING:
    from typing_extensions import Self


class FlatGrounder(Grounder):
    """Observations of any shape, as the numbers that they hold."""

    layers: nn.Sequential

    @classmethod
    def from_shape(cls, shape: Sequence[int], symbols: int, independent: bool = False) -> Self:
        """A fresh grounder for observations of any shape."""
        return cls(inputs=math.prod(shape), symbols=symbols, independent=independent)

    def numbers(self, observations: Tensor) -> Tensor:
        """(n, inputs) observations (n, …); one number a step is welcome too."""
        # Exporters follow a shape, but not len().
        flat = observations.reshape(observations.shape[0], -1)
        if flat.shape[1] != self.config["inputs"]:
            found = f"observations of shape {tuple(observations.shape[1:])}"
            raise EpisodeError(f"the grounder reads {self.config['inputs']} numbers per observation, not {found}")
        return flat.to(self.dtype)


def _stacked(widths: Sequence[int], after: Sequence[Sequence[nn.Module]]) -> nn.Sequential:
    """Linear layers of these widths; `after`: what follows each but the last."""
    layers: list[nn.Module] = []
    for before, wide, modules in zip(widths, widths[1:-1], after, strict=False):
        layers += [nn.Linear(before, wide), *modules]
    return nn.Sequential(*layers, nn.Linear(widths[-2], widths[-1]))


class MlpGrounder(FlatGrounder):
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
        after: list[list[nn.Module]] = [[nn.Tanh()] if place < activations else [] for place in range(len(hidden))]
        for modules in after if dropout else ():
            modules.append(nn.Dropout(dropout))
        self.layers = _stacked((inputs, *hidden, symbols), after)

    @classmethod
    def paper(
        cls, inputs: int, symbols: int, hidden: int = 64, dropout: float = 0.2, independent: bool = False
    ) -> MlpGrounder:
        """Three layers with dropout, a tanh between the first two only (appendix, "Neural Networks Design")."""
        return cls(inputs, symbols, (hidden, hidden), dropout, activations=1, independent=independent)

    def forward(self, observations: Tensor) -> Tensor:
        """(n, symbols) probabilities."""
        return self.probabilities(self.layers(self.numbers(observations) * self.scale))


GROUNDERS.register(MlpGrounder)


class FourierGrounder(FlatGrounder):
    """Numbers with sines and cosines along drawn ways, two hidden layers of ReLU: waves make borders sharp."""

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
        self.register_buffer("ways", directions(inputs, waves, slowest, fastest))
        self.layers = _stacked((inputs + 2 * waves, *hidden, symbols), [[nn.ReLU()] for _ in hidden])

    def forward(self, observations: Tensor) -> Tensor:
        """(n, symbols) probabilities."""
        return self.probabilities(self.layers(along(self.numbers(observations), self.ways)))


GROUNDERS.register(FourierGrounder)


class RowsGrounder(FlatGrounder):
    """The most that each row of a sensor shows, from 0 to 1, as steps at ever higher places; then a layer.

    A thing that is sensed in many directions is one thing, and places are learned for all rows together. Rewards speak
    of borders alone. What lies far inside of one is above the same steps, and so reads alike.
    """

    name = "rows"
    label = "rows of a sensor"

    def __init__(self, inputs: int, symbols: int, rows: int, bins: int, independent: bool = False) -> None:
        """`rows`, `bins`: of the sensor, the last of the inputs."""
        super().__init__(independent, inputs=inputs, symbols=symbols, rows=rows, bins=bins)
        self.sensor = rows, bins
        self.places = nn.Parameter(torch.linspace(0.0, 1.0, 32))
        self.head = nn.Linear(rows * 32, symbols)

    @classmethod
    def from_shape(
        cls, shape: Sequence[int], symbols: int, independent: bool = False, sensor: tuple[int, int] | None = None
    ) -> Self:
        """A fresh grounder for vectors that end with a sensor of (rows, bins)."""
        if sensor is None:
            raise EpisodeError(f"observations of shape {tuple(shape)} end with no sensor; choose another grounder")
        return cls(math.prod(shape), symbols, *sensor, independent=independent)

    def reset_parameters(self) -> None:
        """Even places again."""
        self.places.data.copy_(torch.linspace(0.0, 1.0, 32))

    def forward(self, observations: Tensor) -> Tensor:
        """(n, symbols) probabilities."""
        rows, bins = self.sensor
        sensed = self.numbers(observations)[:, -rows * bins :]
        most = sensed.reshape(-1, rows, bins).amax(2, keepdim=True)
        # From one place to the next, a step rises by most of its height.
        steps = (50.0 * (most - self.places)).tanh()
        return self.probabilities(self.head(steps.flatten(1)))


GROUNDERS.register(RowsGrounder)


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
        unclear = f"observations of shape {tuple(shape)} do not say which numbers are which entry"
        raise EpisodeError(f"the grounder 'parts' reads Dict observations, and {unclear}; choose another grounder")

    def forward(self, rows: Tensor) -> Tensor:
        """(n, symbols) probabilities."""
        return self.probabilities(self.head(self.encoder(rows)))


GROUNDERS.register(PartsGrounder)


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
            raise EpisodeError(f"true labels are one number per step, not of shape {tuple(observations.shape[1:])}")
        whole = letters[:, 0].long()
        if bool(((whole < 0) | (whole >= self.symbols)).any()):
            found = f"{int(whole.min())} to {int(whole.max())}"
            raise EpisodeError(f"true labels are numbers from 0 to {self.symbols - 1}, not from {found}")
        return nn.functional.one_hot(whole, self.symbols).to(self.anchor.dtype)


GROUNDERS.register(TrueLabels)


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
