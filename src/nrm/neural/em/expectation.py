"""The E-step: how often each letter was read at each observation, given all rewards of the episodes.

The probability that letter p was read at step t, given every reward of the episode, later ones too, is
s_t[p] * d log L / d s_t[p], where L is the likelihood and s_t what the grounder says (Fisher's identity). So the
backward pass of the recursion, which is safe on long episodes, gives the posteriors of all steps at once.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from nrm.neural.episodes import EpisodeBatch
from nrm.neural.model import NeuralRewardMachine


class Expectation(NamedTuple):
    """What an E-step gives."""

    log_likelihood: Tensor
    """(batch,) of each episode."""
    counts: Tensor
    """(n, symbols) expected number of times that each symbol held at each observation; of propositions, was true. Of a
    recurrent grounder, at each step."""
    occurrences: Tensor
    """(n,) how often each observation was made; of a recurrent grounder, 1."""


def expected_letters(model: NeuralRewardMachine, batch: EpisodeBatch, symbols: Tensor) -> Expectation:
    """Expected letters of the batch's observations, when the grounder says `symbols` (n, symbols) about them."""
    leaf = symbols.detach().requires_grad_()
    with torch.enable_grad():
        total, _ = model.batch_log_likelihood(batch, leaf)
        (gradient,) = torch.autograd.grad(total.sum(), leaf)
    made = model.rows(batch)[batch.mask]
    occurrences = torch.bincount(made, minlength=len(symbols)).to(symbols.dtype)
    said = leaf.detach()
    counts = model.distribution.expected(said, gradient, occurrences)
    return Expectation(total.detach(), counts.clamp_min(0.0), occurrences)


def posterior(model: NeuralRewardMachine, found: Expectation, before: Tensor) -> Tensor:
    """(n, symbols) the letters' shares at each observation; as `before` where an observation was never made."""
    total = model.distribution.total(found.counts, found.occurrences)
    return torch.where(total > 0, found.counts / total.clamp_min(torch.finfo(total.dtype).tiny), before)


def evidence(found: Expectation, before: Tensor) -> Tensor:
    """(n, symbols) how probable each letter makes the rewards of the episodes, the most probable 1: d log L / d s.

    `before`: (n, symbols) what the grounder said. Where an episode is called impossible, nothing speaks against any
    letter.
    """
    told = found.counts / before
    most = told.amax(-1, keepdim=True)
    return torch.where(most > 0, told / most.clamp_min(torch.finfo(told.dtype).tiny), 1.0)


EXPLAINED = 0.02
"""Nats that may be missed of the evidence at an observation: more learning changes next to nothing there."""
ONE_IN = 8
"""Of the explained observations one in so many is looked at, and counts for all of these: what is known must not be
forgotten where others are learned."""
FEW = 4096
"""So few observations are all looked at: it takes no time, and of fewer a draw might leave none."""


def informative(missed: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
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
