"""The recursion of the neural reward machine: chains of small matrices, one step at a time or as a parallel scan.

Everything here is time-major: `matrices` is (time, batch, states, states), row = state before, column = state after.
A step that must do nothing (padding) is the identity. Three questions are asked of a chain:

- `propagate`: the open-loop beliefs q_t = q_{t-1} A_t (paper, equation "VRM_def");
- `filtered`: beliefs normalised at each step, and the likelihood of each step, when A_t also weighs the states by the
  potential that was observed;
- `log_likelihood`: the sum of the logarithms of those likelihoods, with the exact gradient by forward and backward
  messages.

A product of matrices is associative, so a long chain is cut into blocks that are worked on side by side: first what
each block does to any state, then the belief that enters each block, then the steps inside all blocks at once. Rows of
products carry their own logarithmic scale, so neither form under- or overflows at any length.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

ChainMethod = Literal["auto", "loop", "scan"]


def uses_scan(method: ChainMethod, time: int, batch: int, states: int) -> bool:
    """Whether a chain is solved by a scan; `auto` decides by its size."""
    if method not in ("auto", "loop", "scan"):
        raise ValueError(f"method must be 'auto', 'loop' or 'scan', not {method!r}")
    if method == "auto":
        # Measured on a processor core.
        return time >= 256 and batch * states**3 <= 4_096
    return method == "scan"


class DenseChain(NamedTuple):
    """The steps of episodes as matrices, with a way to multiply them; see also `SparseChain`."""

    matrices: Tensor
    """(time, batch, states, states)"""
    method: ChainMethod = "auto"

    def propagate(self, start: Tensor) -> Tensor:
        """(time, batch, states) beliefs q_t = q_{t-1} A_t from `start` (batch, states)."""
        result: Tensor = _Propagation.apply(self.matrices, start, self._scans)  # type: ignore[no-untyped-call]
        return result

    def filtered(self, start: Tensor) -> tuple[Tensor, Tensor]:
        """Beliefs (time, batch, states) normalised at each step, and the likelihood (time, batch) of each.

        From a step of likelihood 0 on, beliefs and likelihoods are 0.
        """
        beliefs = _directions(self.matrices, start, self._scans)
        return beliefs, _step_likelihoods(self.matrices, start, beliefs)

    def log_likelihood(self, start: Tensor) -> tuple[Tensor, Tensor]:
        """The log-likelihood of each chain (batch,), and the likelihood of each step (time, batch), without gradient.

        Likelihoods below the smallest normal number count as that number, so that values and gradients stay finite.
        """
        result = _LogLikelihood.apply(self.matrices, start, self._scans)  # type: ignore[no-untyped-call]
        total: Tensor = result[0]
        steps: Tensor = result[1]
        return total, steps

    @property
    def _scans(self) -> bool:
        time, batch, states = self.matrices.shape[:3]
        return uses_scan(self.method, time, batch, states)


def _tiny(values: Tensor) -> float:
    return float(torch.finfo(values.dtype).tiny)


class _Propagation(torch.autograd.Function):
    """Open-loop beliefs. Their gradient obeys the same recursion, backwards in time."""

    @staticmethod
    def forward(ctx: Any, matrices: Tensor, start: Tensor, scan: bool) -> Tensor:
        beliefs = _affine(matrices, None, start, scan)
        ctx.save_for_backward(matrices, start, beliefs)
        ctx.scan = scan
        return beliefs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        matrices, start, beliefs = ctx.saved_tensors
        # g_{t-1} = A_t g_t + (what flows in at t-1), from the last step to the first.
        flipped = matrices[1:].flip(0).transpose(-1, -2)
        later = _affine(flipped, gradient[:-1].flip(0), gradient[-1], ctx.scan)
        messages = torch.cat([later.flip(0), gradient[-1:]])
        before = torch.cat([start[None], beliefs[:-1]])
        return (
            _outer(before, messages),
            (matrices[0] @ messages[0].unsqueeze(-1)).squeeze(-1),
            None,
        )


class _LogLikelihood(torch.autograd.Function):
    """Log-likelihood by forward messages; gradient by backward messages, both normalised at every step."""

    @staticmethod
    def forward(ctx: Any, matrices: Tensor, start: Tensor, scan: bool) -> tuple[Tensor, Tensor]:
        beliefs = _directions(matrices, start, scan)
        steps = _step_likelihoods(matrices, start, beliefs)
        ctx.save_for_backward(matrices, start, beliefs)
        ctx.scan = scan
        ctx.mark_non_differentiable(steps)
        return steps.clamp_min(_tiny(steps)).log().sum(0), steps

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, _steps: Tensor) -> tuple[Tensor, Tensor, None]:
        matrices, start, beliefs = ctx.saved_tensors
        last = torch.ones_like(start)
        flipped = matrices[1:].flip(0).transpose(-1, -2)
        backward = _directions(flipped, last, ctx.scan)
        messages = torch.cat([backward.flip(0), last[None]])
        before = torch.cat([start[None], beliefs[:-1]])
        # before A after = the likelihood of the whole chain, up to the scales of the two messages: dividing by it
        # removes both scales.
        after = torch.matmul(matrices, messages.unsqueeze(-1)).squeeze(-1)
        whole = (before * after).sum(-1)
        weight = torch.where(whole > 0, gradient / whole.clamp_min(_tiny(whole)), 0.0)
        return _outer(before * weight.unsqueeze(-1), messages), after[0] * weight[0].unsqueeze(-1), None


def _outer(left: Tensor, right: Tensor) -> Tensor:
    """(…, n, n) products of all pairs; as a matrix product, which is faster than broadcasting short rows."""
    return torch.matmul(left.unsqueeze(-1), right.unsqueeze(-2))


def _step_likelihoods(matrices: Tensor, start: Tensor, beliefs: Tensor) -> Tensor:
    before = torch.cat([start[None], beliefs[:-1]])
    return (before * matrices.sum(-1)).sum(-1)


def _affine(matrices: Tensor, inputs: Tensor | None, start: Tensor, scan: bool) -> Tensor:
    """(time, batch, states) x_t = x_{t-1} A_t + b_t."""
    if not len(matrices):
        return start.new_empty(0, *start.shape)
    if not scan:
        return _affine_loop(matrices, inputs, start)
    blocks = _blocked(matrices)
    states, count = blocks.shape[1], blocks.shape[-1]
    pushes = None if inputs is None else _blocked(inputs)
    # What each block does to any row that enters it: a matrix, and below it the row that comes out for zero.
    effect = _identity(states + 1, states, count, start)
    for place, matrix in enumerate(blocks.unbind(0)):
        effect = _times(effect, matrix)
        if pushes is not None:
            effect[-1] += pushes[place]
    whole = _by_block(effect, start)
    row = start
    entering = [row]
    for matrix in whole[:-1].unbind(0):
        row = torch.bmm(row.unsqueeze(1), matrix[:, :-1]).squeeze(1) + matrix[:, -1]
        entering.append(row)
    rows = torch.cat(entering).t().unsqueeze(0)
    passed = []
    for place, matrix in enumerate(blocks.unbind(0)):
        rows = _times(rows, matrix)
        if pushes is not None:
            rows = rows + pushes[place]
        passed.append(rows)
    return _unblocked(torch.cat(passed), matrices.shape[:2])


def _affine_loop(matrices: Tensor, inputs: Tensor | None, start: Tensor) -> Tensor:
    if not len(matrices):
        return start.new_empty(0, *start.shape)
    row = start.unsqueeze(1)
    rows = []
    if inputs is None:
        for matrix in matrices.unbind(0):
            row = torch.bmm(row, matrix)
            rows.append(row)
    else:
        for matrix, extra in zip(matrices.unbind(0), inputs.unsqueeze(2).unbind(0), strict=True):
            row = torch.baddbmm(extra, row, matrix)
            rows.append(row)
    return torch.stack(rows).squeeze(2)


def _directions(matrices: Tensor, start: Tensor, scan: bool) -> Tensor:
    """Forward messages, each normalised to sum 1 (or 0 once the chain has become impossible)."""
    if not scan or not len(matrices):
        return _directions_loop(matrices, start)
    blocks = _blocked(matrices)
    states, count = blocks.shape[1], blocks.shape[-1]
    tiny = _tiny(matrices)
    effect = _identity(states, states, count, start)
    sums = []
    for matrix in blocks.unbind(0):
        effect = _times(effect, matrix)
        # Each row keeps its own scale: no starting state vanishes beside another, however long the block.
        sums.append(effect.sum(1, keepdim=True))
        effect = effect / sums[-1].clamp_min(tiny)
    whole = _by_block(effect, start)
    scales = _by_block(torch.stack(sums).log().sum(0), start).squeeze(-1)
    row = start
    entering = [row]
    for matrix, scale in zip(whole[:-1].unbind(0), scales[:-1].unbind(0), strict=True):
        weights = row.log() + scale
        largest = weights.amax(-1, keepdim=True)
        weights = (weights - torch.where(largest.isinf(), 0.0, largest)).exp()
        row = torch.bmm(weights.unsqueeze(1), matrix).squeeze(1)
        row = row / row.sum(-1, keepdim=True).clamp_min(tiny)
        entering.append(row)
    rows = torch.cat(entering).t().unsqueeze(0)
    passed = []
    for matrix in blocks.unbind(0):
        rows = _times(rows, matrix)
        rows = rows / rows.sum(1, keepdim=True).clamp_min(tiny)
        passed.append(rows)
    return _unblocked(torch.cat(passed), matrices.shape[:2])


def _directions_loop(matrices: Tensor, start: Tensor) -> Tensor:
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
    """Forward messages up to scale, brought back to sum 1 (or 0) every so many steps."""
    tiny = _tiny(matrices)
    row = start.unsqueeze(1)
    rows = []
    for step, matrix in enumerate(matrices.unbind(0), 1):
        row = torch.bmm(row, matrix)
        if step % every == 0:
            row = row / row.sum(-1, keepdim=True).clamp_min(tiny)
        rows.append(row)
    return torch.stack(rows).squeeze(2)


def _identity(rows: int, states: int, count: int, like: Tensor) -> Tensor:
    """(rows, states, count) the identity for each of `count` chains; rows past the states are zero."""
    eye = torch.eye(rows, states, dtype=like.dtype, device=like.device)
    return eye.unsqueeze(-1).expand(rows, states, count)


def _times(left: Tensor, right: Tensor) -> Tensor:
    """(rows, states, count) products of small matrices that lie side by side along the last axis, fast."""
    if len(left) == 1:
        return (left[0].unsqueeze(1) * right).sum(0, keepdim=True)
    product = left[:, 0].unsqueeze(1) * right[0]
    for place in range(1, len(right)):
        product = torch.addcmul(product, left[:, place].unsqueeze(1), right[place])
    return product


def _blocked(values: Tensor) -> Tensor:
    """(length, …, blocks * batch) the time axis cut into about sqrt(time) blocks side by side, the last filled up."""
    time, batch = values.shape[:2]
    length = math.isqrt(time - 1) + 1
    blocks = -(-time // length)
    missing = blocks * length - time
    if missing:
        fill = values.new_zeros(missing, *values.shape[1:])
        if values.dim() == 4:
            fill.diagonal(dim1=-2, dim2=-1).fill_(1.0)
        values = torch.cat([values, fill])
    cut = values.view(blocks, length, batch, *values.shape[2:])
    inner = range(3, cut.dim())
    return cut.permute(1, *inner, 0, 2).reshape(length, *values.shape[2:], blocks * batch)


def _by_block(values: Tensor, start: Tensor) -> Tensor:
    """(blocks, batch, rows, columns) from (rows, columns, blocks * batch)."""
    cut = values.reshape(*values.shape[:2], -1, len(start))
    return cut.permute(2, 3, 0, 1).contiguous()


def _unblocked(values: Tensor, shape: torch.Size) -> Tensor:
    """(time, batch, states) for a chain of `shape` (time, batch), from (length, states, blocks * batch)."""
    time, batch = shape
    cut = values.view(*values.shape[:2], -1, batch).permute(2, 0, 3, 1)
    return cut.reshape(-1, batch, values.shape[1])[:time]


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
