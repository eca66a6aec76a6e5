"""What reads images, and the paper's convolutional grounder."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from nrm.errors import EpisodeError
from nrm.neural.encoders import is_image
from nrm.neural.grounders.registry import GROUNDERS, Grounder


class ImageGrounder(Grounder):
    """Images (n, height, width, channels), as environments give them, to `features` and those to scores by a `head`.

    Whole numbers 0 to 255 are scaled to 0 to 1.
    """

    features: nn.Sequential
    head: nn.Sequential

    def __init__(self, symbols: int, shape: Sequence[int], independent: bool, **config: object) -> None:
        if not is_image(shape):
            raise EpisodeError(f"images have the shape (height, width, channels) of at least 8x8, not {tuple(shape)}")
        super().__init__(independent, symbols=symbols, shape=[int(size) for size in shape], **config)

    @classmethod
    def from_shape(cls, shape: Sequence[int], symbols: int, independent: bool = False) -> ImageGrounder:
        """A fresh grounder for images of a shape."""
        return cls(symbols=symbols, shape=shape, independent=independent)

    def forward(self, observations: Tensor) -> Tensor:
        """(n, symbols) probabilities."""
        if list(observations.shape[1:]) != self.config["shape"]:
            raise EpisodeError(
                f"the grounder reads images of shape {tuple(self.config['shape'])} (height, width, channels), "
                f"but got {tuple(observations.shape[1:])}"
            )
        images = observations.permute(0, 3, 1, 2).to(self.dtype)
        images = images if observations.is_floating_point() else images / 255
        return self.probabilities(self.head(self.features(images)))


class CnnGrounder(ImageGrounder):
    """The paper's grounder of the image environment: two convolutions with pooling and ReLU, two layers, softmax."""

    name = "cnn"
    label = "two convolutions (paper)"

    def __init__(
        self,
        symbols: int,
        shape: Sequence[int] = (64, 64, 3),
        channels: Sequence[int] = (16, 32),
        hidden: int = 64,
        independent: bool = False,
    ) -> None:
        super().__init__(symbols, shape, independent, channels=list(channels), hidden=hidden)
        height, width, depth = self.config["shape"]
        layers: list[nn.Module] = []
        for wide in channels:
            layers += [nn.Conv2d(depth, wide, 3, padding=1), nn.MaxPool2d(2), nn.ReLU()]
            depth, height, width = wide, height // 2, width // 2
        self.features = nn.Sequential(*layers, nn.Flatten())
        self.head = nn.Sequential(nn.Linear(depth * height * width, hidden), nn.ReLU(), nn.Linear(hidden, symbols))


GROUNDERS.register(CnnGrounder)
