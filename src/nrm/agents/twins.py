"""Two hidden layers of two networks side by side, with the gradient written out: a third of the calls of autograd's."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def twin_hidden(inputs: Tensor, first: Tensor, first_bias: Tensor, second: Tensor, second_bias: Tensor) -> Tensor:
    """(2, n, hidden) what two networks make of inputs (n, width) in two layers with a tanh after each.

    first: (2, width, hidden); second: (2, hidden, hidden); biases: (2, 1, hidden).
    """
    result: Tensor = _TwinHidden.apply(inputs, first, first_bias, second, second_bias)  # type: ignore[no-untyped-call]
    return result


def tanh_(values: Tensor) -> Tensor:
    """The tanh of values without gradient, in place. NumPy's takes a fifth of the time of torch's on a processor."""
    if values.device.type != "cpu":
        return values.tanh_()
    array = values.numpy()
    np.tanh(array, out=array)
    return values


class _TwinHidden(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, inputs: Tensor, first: Tensor, first_bias: Tensor, second: Tensor, second_bias: Tensor
    ) -> Tensor:
        one = tanh_(torch.baddbmm(first_bias, inputs.expand(2, -1, -1), first))
        two = tanh_(torch.baddbmm(second_bias, one, second))
        ctx.save_for_backward(inputs, first, one, second, two)
        return two

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, Tensor, Tensor, Tensor]:
        inputs, first, one, second, two = ctx.saved_tensors
        later = _before_tanh(gradient, two)
        earlier = _before_tanh(torch.bmm(later, second.transpose(1, 2)), one)
        into = torch.bmm(earlier, first.transpose(1, 2)).sum(0) if ctx.needs_input_grad[0] else None
        return (
            into,
            torch.bmm(inputs.t().expand(2, -1, -1), earlier),
            earlier.sum(1, keepdim=True),
            torch.bmm(one.transpose(1, 2), later),
            later.sum(1, keepdim=True),
        )


def _before_tanh(gradient: Tensor, result: Tensor) -> Tensor:
    """The gradient of what a tanh was taken of, from that of its result: times one minus its square."""
    return torch.addcmul(gradient, gradient * result, result, value=-1.0)
