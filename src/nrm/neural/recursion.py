"""The recursion of the neural reward machine: chains of small matrices, one for each step.

Everything here is time-major: `matrices` is (time, batch, states, states), row = state before, column = state after.
A step that must do nothing (padding) is the identity. Three questions are asked of a chain:

- `propagate`: the open-loop beliefs q_t = q_{t-1} A_t (paper, equation "VRM_def");
- `filtered`: beliefs normalised at each step, and the likelihood of each step, when A_t also weighs the states by the
  potential that was observed;
- `log_likelihood`: the sum of the logarithms of those likelihoods, with the exact gradient by forward and backward
  messages.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class DenseChain(NamedTuple):
    """The steps of episodes as matrices; see also `SparseChain`."""

    matrices: Tensor
    """(time, batch, states, states)"""

    def propagate(self, start: Tensor) -> Tensor:
        """(time, batch, states) beliefs q_t = q_{t-1} A_t from `start` (batch, states)."""
        if not len(self.matrices):
            return start.new_empty(0, *start.shape)
        return _chained(self.matrices, start, 1 + len(self.matrices))

    def filtered(self, start: Tensor) -> tuple[Tensor, Tensor]:
        """Beliefs (time, batch, states) normalised at each step, and the likelihood (time, batch) of each.

        From a step of likelihood 0 on, beliefs and likelihoods are 0.
        """
        beliefs = _directions(self.matrices, start)
        return beliefs, _step_likelihoods(self.matrices, start, beliefs)

    def log_likelihood(self, start: Tensor) -> tuple[Tensor, Tensor]:
        """The log-likelihood of each chain (batch,), and the likelihood of each step (time, batch), without gradient.

        Likelihoods below the smallest normal number count as that number, so that values and gradients stay finite.
        """
        result = _LogLikelihood.apply(self.matrices, start)  # type: ignore[no-untyped-call]
        total: Tensor = result[0]
        steps: Tensor = result[1]
        return total, steps


def _tiny(values: Tensor) -> float:
    return float(torch.finfo(values.dtype).tiny)


class _LogLikelihood(torch.autograd.Function):
    """Log-likelihood by forward messages; gradient by backward messages, both normalised at every step."""

    @staticmethod
    def forward(ctx: Any, matrices: Tensor, start: Tensor) -> tuple[Tensor, Tensor]:
        beliefs = _directions(matrices, start)
        steps = _step_likelihoods(matrices, start, beliefs)
        ctx.save_for_backward(matrices, start, beliefs)
        ctx.mark_non_differentiable(steps)
        return steps.clamp_min(_tiny(steps)).log().sum(0), steps

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, _steps: Tensor) -> tuple[Tensor, Tensor]:
        matrices, start, beliefs = ctx.saved_tensors
        last = torch.ones_like(start)
        flipped = matrices[1:].flip(0).transpose(-1, -2)
        backward = _directions(flipped, last)
        messages = torch.cat([backward.flip(0), last[None]])
        before = torch.cat([start[None], beliefs[:-1]])
        # before A after = the likelihood of the whole chain, up to the scales of the two messages: dividing by it
        # removes both scales.
        after = torch.matmul(matrices, messages.unsqueeze(-1)).squeeze(-1)
        whole = (before * after).sum(-1)
        weight = torch.where(whole > 0, gradient / whole.clamp_min(_tiny(whole)), 0.0)
        return _outer(before * weight.unsqueeze(-1), messages), after[0] * weight[0].unsqueeze(-1)


def _outer(left: Tensor, right: Tensor) -> Tensor:
    """(…, n, n) products of all pairs; as a matrix product, which is faster than broadcasting short rows."""
    return torch.matmul(left.unsqueeze(-1), right.unsqueeze(-2))


def _step_likelihoods(matrices: Tensor, start: Tensor, beliefs: Tensor) -> Tensor:
    before = torch.cat([start[None], beliefs[:-1]])
    return (before * matrices.sum(-1)).sum(-1)


def _directions(matrices: Tensor, start: Tensor) -> Tensor:
    """Forward messages, each normalised to sum 1 (or 0 once the chain has become impossible)."""
    if not len(matrices):
        return start.new_empty(0, *start.shape)
    # Normalising seldom is faster; where likelihoods are so small that precision could suffer, it is done every step.
    rows = _chained(matrices, start, 4)
    sums = rows.sum(-1, keepdim=True)
    if bool((sums < 1e-10).any()):
        rows = _chained(matrices, start, 1)
        sums = rows.sum(-1, keepdim=True)
    return rows / sums.clamp_min(_tiny(matrices))


def _chained(matrices: Tensor, start: Tensor, every: int) -> Tensor:
    """Forward messages, brought back to sum 1 (or 0) every so many steps."""
    tiny = _tiny(matrices)
    row = start.unsqueeze(1)
    rows = []
    for step, matrix in enumerate(matrices.unbind(0), 1):
        row = torch.bmm(row, matrix)
        if step % every == 0:
            row = row / row.sum(-1, keepdim=True).clamp_min(tiny)
        rows.append(row)
    return torch.stack(rows).squeeze(2)


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
