"""The state of Adam in a fixed shape: fused Adam trusts what it is given, so nothing unchecked may reach it."""

from __future__ import annotations

import torch
from torch import Tensor

Moments = list[dict[str, Tensor]]


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
