"""Looks: observations that a network sees alike, as first letters of a machine."""

from __future__ import annotations

import torch
from torch import Tensor

SAMPLE = 2000
"""Most rows that centres are found on."""
ROUNDS = 12
"""Rounds of k-means after centres that lie far apart."""


def centres(features: Tensor, count: int) -> Tensor:
    """(at most count, width) centres of features (n, width): far from each other first, then the means of what is near.

    Fewer where fewer rows differ. Nothing is drawn: equal features give equal centres.
    """
    rows = features[:: -(-len(features) // SAMPLE)]
    found = rows.mean(0, keepdim=True)
    found = rows[torch.cdist(rows, found)[:, 0].argmax()][None]
    while len(found) < count:
        apart = torch.cdist(rows, found).min(1).values
        if float(apart.max()) <= 1e-6 * float(rows.abs().max().clamp_min(1e-12)):
            break
        found = torch.cat([found, rows[apart.argmax()][None]])
    for _ in range(ROUNDS):
        near = nearest(rows, found)
        met = torch.bincount(near, minlength=len(found)).clamp_min(1)
        means = torch.zeros_like(found).index_add_(0, near, rows) / met[:, None]
        if torch.equal(means, found):
            break
        found = means
    return found


def nearest(features: Tensor, found: Tensor) -> Tensor:
    """(n,) the number of the centre that is nearest to each of features (n, width)."""
    return torch.cdist(features, found).argmin(1)
