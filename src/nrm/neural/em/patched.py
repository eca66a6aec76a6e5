"""Learning from images as numbers of their distinct patches: what occurs often is looked at once in a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from nrm.neural.descent import LearningProblem
from nrm.neural.patches import DistinctPatches


class PatchedGrounder(nn.Module):
    """A grounder that is told the numbers of patches (n, places) in place of images; its parameters are the same."""

    def __init__(self, grounder: nn.Module, patches: DistinctPatches) -> None:
        super().__init__()
        self.grounder = grounder
        self._patches = patches

    def forward(self, numbers: Tensor) -> Tensor:
        """(n, symbols) probabilities."""
        result: Tensor = self.grounder(self._patches._replace(numbers=numbers))
        return result


def on_patches(problems: Sequence[LearningProblem]) -> Sequence[LearningProblem]:
    """The same problems with images as numbers of patches, where the grounder can read these and they are few."""
    grounder = problems[0].model.grounder
    distinct = getattr(grounder, "distinct", None)
    if distinct is None:
        return problems
    batches = [batch for problem in problems for batch in (problem.train, problem.held_out)]
    patches = distinct(torch.cat([batch.observations for batch in batches]))
    if patches is None:
        return problems
    told = PatchedGrounder(grounder, patches)
    numbers = iter(torch.split(patches.numbers, [len(batch.observations) for batch in batches]))
    return [
        replace(
            problem,
            model=problem.model.reading(told),
            train=problem.train._replace(observations=next(numbers)),
            held_out=problem.held_out._replace(observations=next(numbers)),
        )
        for problem in problems
    ]
