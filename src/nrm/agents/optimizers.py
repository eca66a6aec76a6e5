"""Steps of Adam that algorithms share, and its state in a fixed shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from nrm.errors import TrainingError

Moments = list[dict[str, Tensor]]

FIRST, SECOND, SMALL = 0.9, 0.999, 1e-8
"""Decay of the mean of gradients and of their squares, and what keeps divisions finite (Kingma and Ba, 2015)."""


class Descent:
    """Adam on some parameters, with gradients that are shortened where they are long.

    Small networks spend more time in calls than on numbers, so parameters and gradients become views of one vector
    each: a step is a handful of calls however many parameters there are. The views must not be replaced.
    """

    def __init__(self, parameters: Sequence[Tensor], learning_rate: float, gradient_norm: float | None) -> None:
        self._parameters = list(parameters)
        self._learning_rate = learning_rate
        self._gradient_norm = gradient_norm
        self._values = torch.cat([parameter.detach().flatten() for parameter in self._parameters])
        self._gradient, self._mean, self._square = (torch.zeros_like(self._values) for _ in range(3))
        self._steps = 0
        views = zip(self._parameters, self._parts(self._values), self._parts(self._gradient), strict=True)
        for parameter, value, gradient in views:
            parameter.data, parameter.grad = value, gradient

    def step(
        self,
        losses: Tensor | Sequence[Tensor],
        learning_rate: float | None = None,
        gradients: Sequence[Tensor] | None = None,
    ) -> None:
        """One step down a loss; `learning_rate`: a new step size.

        Where the loss is a simple sum over some tensors, these and its `gradients` with respect to them do as well.
        """
        self._gradient.zero_()
        torch.autograd.backward(losses, gradients)
        self._learning_rate = self._learning_rate if learning_rate is None else learning_rate
        with torch.no_grad():
            self._shorten()
            self._adam()

    def _shorten(self) -> None:
        if self._gradient_norm is None:
            return
        length = float(torch.linalg.vector_norm(self._gradient))
        if not length <= self._gradient_norm:  # what is not a number stays so, and shows in the loss
            self._gradient.mul_(self._gradient_norm / (length + 1e-6))

    def _adam(self) -> None:
        self._steps += 1
        gradient = self._gradient
        self._mean.lerp_(gradient, 1 - FIRST)
        self._square.mul_(SECOND).addcmul_(gradient, gradient, value=1 - SECOND)
        spread = self._square.sqrt().div_((1 - SECOND**self._steps) ** 0.5).add_(SMALL)
        self._values.addcdiv_(self._mean, spread, value=-self._learning_rate / (1 - FIRST**self._steps))

    def _parts(self, vector: Tensor) -> list[Tensor]:
        """What of a vector belongs to each parameter, as views of their shapes."""
        parts = torch.split(vector, [parameter.numel() for parameter in self._parameters])
        return [part.view(parameter.shape) for part, parameter in zip(parts, self._parameters, strict=True)]

    def state_dict(self) -> Moments:
        """Steps and moments of every parameter, in order."""
        step = torch.tensor(float(self._steps))
        moments = zip(self._parts(self._mean), self._parts(self._square), strict=True)
        return [
            {"step": step.clone(), "exp_avg": mean.clone(), "exp_avg_sq": square.clone()} for mean, square in moments
        ]

    def load_state_dict(self, saved: Moments) -> None:
        """Go on with saved moments, whose shapes are known to be right."""
        self._steps = int(saved[0]["step"])
        self._mean.copy_(torch.cat([state["exp_avg"].flatten() for state in saved]))
        self._square.copy_(torch.cat([state["exp_avg_sq"].flatten() for state in saved]))


def finite(parts: Mapping[str, Tensor], learning_rate: float) -> dict[str, float]:
    """The parts of a loss as numbers, or a `TrainingError` where one is no longer finite."""
    numbers = dict(zip(parts, torch.stack(list(parts.values())).tolist(), strict=True))
    if not all(abs(part) < float("inf") for part in numbers.values()):
        told = ", ".join(f"{name} {value:g}" for name, value in numbers.items())
        raise TrainingError(
            f"the loss is no longer finite ({told}); lower learning_rate (now {learning_rate:g}) or gradient_norm"
        )
    return numbers
