"""Which observations an M-step looks at: of those that are explained already, a few are enough."""

from __future__ import annotations

import torch
from torch import Tensor

EXPLAINED = 0.02
"""Nats that may be missed of the evidence at an observation: more learning changes next to nothing there."""
ONE_IN = 8
"""Of the explained observations one in so many is looked at, and counts for all of these: what is known must not be
forgotten where others are learned."""
FEW = 4096
"""So few observations are all looked at: it takes no time, and of fewer a draw might leave none."""


def telling(missed: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """(k,) the numbers of the observations to look at, and (k,) for how many each counts.

    missed: (n,) nats of the evidence that are missed at each. Sums over those looked at, weighed by what they count
    for, are sums over all of them in the mean.
    """
    if len(missed) <= FEW:
        return torch.arange(len(missed), device=missed.device), torch.ones_like(missed)
    explained = missed <= EXPLAINED
    drawn = (torch.rand(len(missed), generator=generator) * ONE_IN < 1).to(missed.device)
    rows = torch.nonzero(drawn | ~explained)[:, 0]
    return rows, torch.where(explained[rows], float(ONE_IN), 1.0)
