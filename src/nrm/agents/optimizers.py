"""Steps of Adam that algorithms share, and its state in a fixed shape.

Fused Adam trusts what it is given, so nothing unchecked may reach it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from nrm.errors import TrainingError

Moments = list[dict[str, Tensor]]


class Descent:
    """Adam on some parameters, with gradients that are shortened where they are long."""

    def __init__(self, parameters: Sequence[nn.Parameter], learning_rate: float, gradient_norm: float | None) -> None:
        self._parameters = list(parameters)
        self._gradient_norm = gradient_norm
        self._optimizer = torch.optim.Adam(self._parameters, lr=learning_rate, fused=True)

    def step(self, loss: Tensor, learning_rate: float | None = None) -> None:
        """One step down a loss; `learning_rate`: a new step size."""
        for parameter in self._parameters:  # as zero_grad does, at a tenth of its time
            parameter.grad = None
        loss.backward()  # type: ignore[no-untyped-call]
        if self._gradient_norm is not None:
            nn.utils.clip_grad_norm_(self._parameters, self._gradient_norm, foreach=True)
        if learning_rate is not None:
            self._optimizer.param_groups[0]["lr"] = learning_rate
        self._optimizer.step()

    def state_dict(self) -> Moments:
        """Steps and moments of every parameter."""
        return moments(self._optimizer)

    def load_state_dict(self, saved: Moments) -> None:
        """Go on with saved moments."""
        load_moments(self._optimizer, saved)


def finite(parts: Mapping[str, Tensor], learning_rate: float) -> dict[str, float]:
    """The parts of a loss as numbers, or a `TrainingError` where one is no longer finite."""
    numbers = dict(zip(parts, torch.stack(list(parts.values())).tolist(), strict=True))
    if not all(abs(part) < float("inf") for part in numbers.values()):
        told = ", ".join(f"{name} {value:g}" for name, value in numbers.items())
        raise TrainingError(
            f"the loss is no longer finite ({told}); lower learning_rate (now {learning_rate:g}) or gradient_norm"
        )
    return numbers


def moments(optimizer: torch.optim.Adam) -> Moments:
    """Steps and moments of every parameter, in order; zeros before the first step, which is what Adam begins with."""
    found = []
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            state = optimizer.state.get(parameter) or _fresh(parameter)
            found.append({name: state[name] for name in ("step", "exp_avg", "exp_avg_sq")})
    return found


def load_moments(optimizer: torch.optim.Adam, saved: Moments) -> None:
    """Go on with saved moments, whose shapes are known to be right."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for parameter, state in zip(parameters, saved, strict=True):
        optimizer.state[parameter] = {name: value.clone() for name, value in state.items()}


def _fresh(parameter: Tensor) -> dict[str, Tensor]:
    zeros = torch.zeros_like(parameter, memory_format=torch.preserve_format)
    return {"step": torch.zeros((), dtype=torch.float32), "exp_avg": zeros, "exp_avg_sq": zeros.clone()}
