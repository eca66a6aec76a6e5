"""What a grounder is, and the registry through which ours and other people's come in."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from nrm.aliases import Json
from nrm.registry import Registry


class Grounder(nn.Module):
    """A grounder that can be saved and rebuilt from its configuration.

    Any `nn.Module` from observations (n, …) to probabilities (n, symbols) can ground; this base class only adds what
    a file needs. `independent=True` ends with a sigmoid: the probabilities of independent propositions.
    """

    def __init__(self, independent: bool, **config: object) -> None:
        """`config`: the other arguments of the class's constructor."""
        super().__init__()
        self.config: Json = {**config, "independent": independent}

    @property
    def dtype(self) -> torch.dtype:
        """The type of its parameters."""
        return next(self.parameters()).dtype

    def probabilities(self, scores: Tensor) -> Tensor:
        """Scores (n, symbols) as probabilities: softmax over symbols, or a sigmoid each when independent."""
        return scores.sigmoid() if self.config["independent"] else torch.softmax(scores, -1)


_HOMES = {
    "auto": "selection",
    "mlp": "mlp",
    "cnn": "cnn",
    "pooled": "pooled",
    "paper": "selection",
    "true-labels": "true_labels",
}
GROUNDERS: Registry[Any] = Registry(
    "grounder", ("label", "from_shape"), {name: f"nrm.neural.grounders.{home}" for name, home in _HOMES.items()}
)
"""Classes of grounders, and rules that choose among them; `from_shape(shape, symbols, independent)` builds one."""


def entry_of(grounder: nn.Module) -> str | None:
    """What finds the class of a grounder again: our name of it, `module:name` of others; None for a plain module."""
    kind: Any = type(grounder)
    if not hasattr(kind, "from_shape") or not hasattr(grounder, "config"):
        return None
    return kind.name if kind.__module__.startswith("nrm.") else f"{kind.__module__}:{kind.__qualname__}"
