"""Checks on probabilities and observations, and letters from independent propositions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from nrm.automata.letter_diagram import LetterDiagram
from nrm.errors import EpisodeError, ProbabilityError, shorten

Values: TypeAlias = Tensor | ArrayLike
"""Numbers as a tensor, or as lists or arrays, which become one."""

TOLERANCE = 1e-3
"""How far from 1 probabilities may sum before they are refused: wide enough for half precision."""


def as_tensor(values: Values, what: str, like: Tensor | None = None) -> Tensor:
    """A tensor as it is; lists and arrays as one: in single precision, or of the type of `like`, on its device."""
    if isinstance(values, Tensor):
        return values
    try:
        given = np.asarray(values)
    except ValueError:
        raise EpisodeError(f"{what} have rows of different lengths; pad them, and give lengths=…") from None
    if given.dtype.kind not in "biuf":
        raise EpisodeError(f"{what} must hold numbers, not {shorten(repr(values))}")
    tensor = torch.from_numpy(np.array(given))  # a copy: the array may be read-only
    if like is not None:
        return tensor.to(like)
    return tensor.float() if tensor.dtype == torch.float64 else tensor


def check_distribution(probs: Tensor, what: str) -> None:
    """Raise `ProbabilityError` unless the rows of `probs` (…, n) are distributions."""
    check_unit_interval(probs, what)
    sums = probs.detach().sum(-1)
    wrong = (sums - 1).abs() > TOLERANCE
    if bool(wrong.any()):
        place = _first(wrong)
        raise ProbabilityError(
            f"{what} sum to {float(sums[place]):.4g} instead of 1 in row {_row(place)}; "
            "end the grounder with a softmax over its last axis"
        )


def check_unit_interval(probs: Tensor, what: str) -> None:
    """Raise `ProbabilityError` unless every number lies between 0 and 1."""
    wrong = ~((probs >= -TOLERANCE) & (probs <= 1 + TOLERANCE))
    if bool(wrong.any()):
        place = _first(wrong)
        raise ProbabilityError(
            f"{what} hold {float(probs.detach()[place]):.4g} at {_row(place)}, which is no probability; "
            "are these logits? End the grounder with a softmax (or a sigmoid for independent propositions)"
        )


def check_finite(observations: Tensor, what: str = "observation") -> None:
    """Raise `ProbabilityError` when an observation (first axis) holds NaN or infinity."""
    if not observations.is_floating_point():
        return
    wrong = ~torch.isfinite(observations)
    if bool(wrong.any()):
        place = _first(wrong)
        raise ProbabilityError(
            f"{what} {place[0]} holds {float(observations[place])} at {_row(place[1:])}; "
            "observations must be finite numbers (counting starts at 0)"
        )


def letters_from_propositions(probs: Tensor) -> Tensor:
    """(…, 2^n) letter probabilities from those of n independent propositions (…, n); bit i of a letter is i's truth."""
    letters = torch.ones_like(probs[..., :1])
    for proposition in probs.unbind(-1):
        true = proposition.unsqueeze(-1)
        # A later proposition is a higher bit: all letters without it come first.
        letters = torch.cat([letters * (1 - true), letters * true], -1)
    return letters


def _first(mask: Tensor) -> tuple[int, ...]:
    return tuple(int(number) for number in mask.nonzero()[0])


def _row(place: tuple[int, ...]) -> str:
    return str(place[0]) if len(place) == 1 else str(place)


class ClassCounting(nn.Module):
    """One pass down a diagram of letter classes: linear in its nodes, exact and differentiable.

    All mass starts at the root; at a node the share p of its proposition goes to the high side and 1 - p to the low
    side, and what arrives at the leaves is the probability of each class. Nothing of size 2^n is made.
    """

    def __init__(self, letters: LetterDiagram, classes: int) -> None:
        super().__init__()
        self.letters = letters
        self.order = letters.order
        self.propositions = letters.propositions
        self.classes = classes
        self._rows = letters.nodes + classes
        # Rows of mass: nodes first, then classes. Parents stand above their children, so levels go from the top.
        self._root = letters.root if letters.root >= 0 else letters.nodes - 1 - letters.root
        targets = [np.where(side < 0, letters.nodes - 1 - side, side) for side in (letters.low, letters.high)]
        self._steps: list[tuple[int, str]] = []
        for level in range(len(letters.order)):
            here = np.flatnonzero(letters.levels == level)
            if len(here):
                rows = np.stack([here, *(target[here] for target in targets)])
                name = f"level_{level}"
                self.register_buffer(name, torch.tensor(rows, dtype=torch.int64), persistent=False)
                self._steps.append((letters.order[level], name))

    def described(self) -> dict[str, object]:
        """Names, numbers and tensors that `from_description` makes the same of."""
        given = self.letters
        arrays = {name: torch.tensor(getattr(given, name).tolist()) for name in ("levels", "low", "high")}
        return {
            "propositions": given.propositions,
            "order": list(given.order),
            "root": given.root,
            "classes": self.classes,
            **arrays,
        }

    @classmethod
    def from_description(cls, about: Mapping[str, Any]) -> ClassCounting:
        """What was described."""
        levels, low, high = (about[name].numpy().astype(np.int32) for name in ("levels", "low", "high"))
        order = tuple(about["order"])
        return cls(LetterDiagram(about["propositions"], order, levels, low, high, about["root"]), about["classes"])

    def forward(self, propositions: Tensor) -> Tensor:
        """(…, classes) from the probabilities of independent propositions (…, n)."""
        given = propositions.reshape(-1, propositions.shape[-1])
        mass = given.new_zeros(self._rows, len(given))
        mass[self._root] = 1
        for proposition, name in self._steps:
            nodes, low, high = getattr(self, name)
            arrived = mass[nodes]
            true = arrived * given[:, proposition]
            mass = mass.index_add(0, high, true).index_add(0, low, arrived - true)
        found = mass[self._rows - self.classes :].t()
        return found.reshape(*propositions.shape[:-1], self.classes)
