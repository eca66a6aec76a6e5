"""Attention that is taught by what moves: where an image differs from the next, there is something to see."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import adaptive_max_pool2d

MAX_CHANGED = 0.25
"""The share of places up to which a change tells where to look. Where more changes, the whole view has moved."""
_TINY = 1e-6


def changed_places(before: Tensor, after: Tensor, places: Sequence[int]) -> Tensor:
    """(n, places) 1.0 where images (n, height, width, channels) differ, else 0.0; `places`: rows and columns."""
    pixels = (before != after).any(-1).unsqueeze(1).float()
    return adaptive_max_pool2d(pixels, list(places)).flatten(1)


def missed(attention: Sequence[Tensor], changed: Tensor) -> Tensor:
    """How much attention misses what changes: the mean of -log of how much of it lies there, a scalar.

    `attention`: (n, …, places) each, of the images before and after; `changed` (n, places). Pairs that do not differ,
    or at more than a quarter of the places, do not count.
    """
    moved = changed.sum(-1)
    counts = (moved > 0) & (moved <= MAX_CHANGED * changed.shape[-1])
    total = torch.zeros((), device=changed.device)
    for one in attention:
        there = torch.einsum("n...p,np->n...", one, changed)
        total = total - (there.reshape(len(changed), -1).clamp_min(_TINY).log().mean(1) * counts).sum()
    return total / (len(attention) * counts.sum().clamp_min(1))
