"""The recursion along known moves: a letter leads each state to one other, so nothing of the size states^2 is made.

A step is q_t[delta(q, p)] += q_{t-1}[q] s_t[p], over all states q and letters p: it costs states * letters, and only
beliefs are kept for the gradient. It says the same as `nrm.neural.recursion` does with a matrix for each step.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


def moved(belief: Tensor, letters: Tensor, targets: Tensor) -> Tensor:
    """(batch, states) beliefs after letters (batch, letters) were read; `targets` as in `SparseChain`."""
    mass = (belief.unsqueeze(2) * letters.unsqueeze(1)).flatten(1)
    return torch.zeros_like(belief).scatter_add(1, targets.flatten(1).expand_as(mass), mass)


class SparseChain(NamedTuple):
    """The steps of episodes, time-major."""

    targets: Tensor
    """(batch, states, letters) where each letter leads each state; (1, …) where all episodes have one machine."""
    letters: Tensor
    """(time, batch, letters) their probabilities."""
    shown: Tensor | None
    """(time, batch, states) how probable each state makes the potential that was seen; None where no potential is
    read."""
    mask: Tensor
    """(time, batch) false at padding, where nothing moves."""

    def propagate(self, start: Tensor) -> Tensor:
        """(time, batch, states) open-loop beliefs from `start` (batch, states)."""
        return self._follow(start, normalised=False)[0]

    def filtered(self, start: Tensor) -> tuple[Tensor, Tensor]:
        """Normalised beliefs and the likelihood (time, batch) of each step; both 0 from an impossible step on."""
        return self._follow(start, normalised=True)

    def log_likelihood(self, start: Tensor) -> tuple[Tensor, Tensor]:
        """(batch,) of each chain, and the likelihood of each step, without gradient."""
        _, steps = self.filtered(start)
        total = steps.clamp_min(torch.finfo(steps.dtype).tiny).log().sum(0)
        # An impossible chain teaches nothing.
        return torch.where((steps > 0).all(0), total, total.detach()), steps.detach()

    def _follow(self, start: Tensor, normalised: bool) -> tuple[Tensor, Tensor]:
        """(time, batch, states) beliefs, and the sum (time, batch) of each before it was brought to 1."""
        tiny = torch.finfo(start.dtype).tiny
        row, rows, sums = start, [], []
        for step, (letters, real) in enumerate(zip(self.letters, self.mask.unsqueeze(2), strict=True)):
            after = moved(row, letters, self.targets)
            after = after if self.shown is None else after * self.shown[step]
            row = torch.where(real, after, row)
            sums.append(row.sum(1))
            if normalised:
                row = row / sums[-1].clamp_min(tiny).unsqueeze(1)
            rows.append(row)
        return torch.stack(rows), torch.stack(sums)
