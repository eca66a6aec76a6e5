"""Symbol grounders: networks from an observation to symbol probabilities (paper, appendix, "Neural Networks")."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nrm.aliases import Json
from nrm.errors import EpisodeError, LearningError


class Grounder(nn.Module):
    """A grounder that can be saved and rebuilt from its configuration.

    Any `nn.Module` from observations (n, …) to probabilities (n, symbols) can ground; this base class only adds what
    a file needs. `independent=True` ends with a sigmoid: the probabilities of independent propositions.
    """

    def __init__(self, independent: bool, **config: object) -> None:
        super().__init__()
        self.config: Json = {**config, "independent": independent}

    def probabilities(self, scores: Tensor) -> Tensor:
        """Scores (n, symbols) as probabilities: softmax over symbols, or a sigmoid each when independent."""
        return scores.sigmoid() if self.config["independent"] else torch.softmax(scores, -1)


class MlpGrounder(Grounder):
    """The paper's grounder of the map world: three fully connected layers, softmax at the end.

    The defaults add a tanh after the second layer and leave dropout out, which learns more reliably from few distinct
    observations; `MlpGrounder.paper` is the appendix' form. Observations (n, …) are flattened.
    """

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
    def paper(cls, inputs: int, symbols: int, hidden: int = 64, dropout: float = 0.2) -> MlpGrounder:
        """Three layers with dropout, a tanh between the first two only (appendix, "Neural Networks Design")."""
        return cls(inputs, symbols, (hidden, hidden), dropout, activations=1)

    def forward(self, observations: Tensor) -> Tensor:
        """(n, symbols) probabilities."""
        flat = observations.reshape(len(observations), -1)  # one number a step is welcome too
        if flat.shape[1] != self.inputs:
            raise EpisodeError(
                f"the grounder reads {self.inputs} numbers per observation, but observations of shape "
                f"{tuple(observations.shape[1:])} have {flat.shape[1]}"
            )
        return self.probabilities(self.layers(flat.to(_dtype(self)) * self.scale))


class CnnGrounder(Grounder):
    """The paper's grounder of the image world: two convolutions with pooling and ReLU, two layers, softmax.

    Observations are images (n, height, width, channels), as environments give them; whole numbers 0 to 255 are scaled
    to 0 to 1.
    """

    def __init__(
        self,
        symbols: int,
        shape: Sequence[int] = (64, 64, 3),
        channels: Sequence[int] = (16, 32),
        hidden: int = 64,
        independent: bool = False,
    ) -> None:
        height, width, depth = _image_shape(shape)
        super().__init__(
            independent, symbols=symbols, shape=[height, width, depth], channels=list(channels), hidden=hidden
        )
        layers: list[nn.Module] = []
        for wide in channels:
            layers += [nn.Conv2d(depth, wide, 3, padding=1), nn.MaxPool2d(2), nn.ReLU()]
            depth, height, width = wide, height // 2, width // 2
        self.features = nn.Sequential(*layers, nn.Flatten())
        self.head = nn.Sequential(nn.Linear(depth * height * width, hidden), nn.ReLU(), nn.Linear(hidden, symbols))

    def forward(self, observations: Tensor) -> Tensor:
        """(n, symbols) probabilities."""
        return self.probabilities(self.head(self.features(_images(observations, self.config["shape"], _dtype(self)))))


class PooledGrounder(Grounder):
    """A grounder that goes by looks and not by place: what a patch of the image shows counts, wherever it is.

    Patches of 4x4 pixels, two convolutions over their neighbourhood, the maximum over all places, two layers. For
    worlds whose items lie elsewhere in every episode, where `CnnGrounder` would have to learn each place anew.
    """

    def __init__(
        self, symbols: int, shape: Sequence[int] = (64, 64, 3), channels: int = 32, independent: bool = False
    ) -> None:
        height, width, depth = _image_shape(shape)
        super().__init__(independent, symbols=symbols, shape=[height, width, depth], channels=channels)
        self.features = nn.Sequential(
            nn.Conv2d(depth, channels // 2, 4, stride=4),
            nn.ReLU(),
            nn.Conv2d(channels // 2, channels, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.ReLU(),
            nn.AdaptiveMaxPool2d(1),
            nn.Flatten(),
        )
        self.head = nn.Sequential(nn.Linear(channels, 64), nn.ReLU(), nn.Linear(64, symbols))

    def forward(self, observations: Tensor) -> Tensor:
        """(n, symbols) probabilities."""
        return self.probabilities(self.head(self.features(_images(observations, self.config["shape"], _dtype(self)))))


class TrueLabels(Grounder):
    """The true labelling: observations that are letters already (n,) or (n, 1). A reward machine is this case."""

    def __init__(self, symbols: int, independent: bool = False) -> None:
        if independent:
            raise LearningError("true labels are letters, so their distribution is categorical, not independent")
        super().__init__(False, symbols=symbols)
        self.symbols = symbols
        self.register_buffer("anchor", torch.zeros(()))
        self.anchor: Tensor

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


GROUNDERS: dict[str, type[Grounder]] = {
    "mlp": MlpGrounder,
    "cnn": CnnGrounder,
    "pooled": PooledGrounder,
    "true-labels": TrueLabels,
}
"""The grounders by name, for files and the command line."""


def grounder_for(shape: Sequence[int], symbols: int, independent: bool = False) -> Grounder:
    """A fitting grounder for observations of a shape: images get a convolutional one, all else the MLP."""
    if len(shape) == 3 and min(shape[:2]) >= 8:
        return CnnGrounder(symbols, shape, independent=independent)
    return MlpGrounder(math.prod(shape), symbols, independent=independent)


def _dtype(module: nn.Module) -> torch.dtype:
    return next(module.parameters()).dtype


def _image_shape(shape: Sequence[int]) -> tuple[int, int, int]:
    if len(shape) != 3 or min(shape[:2]) < 8:
        raise EpisodeError(f"images have the shape (height, width, channels) of at least 8x8, not {tuple(shape)}")
    height, width, depth = (int(size) for size in shape)
    return height, width, depth


def _images(observations: Tensor, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    """(n, channels, height, width) numbers between 0 and 1."""
    if tuple(observations.shape[1:]) != tuple(shape):
        raise EpisodeError(
            f"the grounder reads images of shape {tuple(shape)} (height, width, channels), "
            f"but got {tuple(observations.shape[1:])}"
        )
    images = observations.permute(0, 3, 1, 2).to(dtype)
    return images if observations.is_floating_point() else images / 255
