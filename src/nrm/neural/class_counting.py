"""Probabilities of letter classes from those of independent propositions, by weighted model counting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from nrm.automata.letter_diagram import LetterDiagram


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
