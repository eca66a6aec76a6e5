"""The last layer of a grounder in closed form: what a network has nearly learned, without the many steps to sharpness.

Descent soon tells observations apart, and then takes most of its steps to become sure. Where scores are linear in what
the last layer reads, ridge regression to the logarithms of the wanted probabilities does the rest at once.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nrm.errors import LearningError
from nrm.neural.em.imitation import divergence
from nrm.neural.model import NeuralRewardMachine

RIDGES = (1e-2, 1e-3, 1e-4, 1e-5)
"""Penalties on the change of the layer, relative to the spread of what it reads: the first that suffices is taken.
Smaller ones would make weights so large that nothing near an observation is read like it."""
ENOUGH = 1e-3
"""Mean divergence, in nats, that suffices."""
_SURE = 1e-4
"""Probabilities are wanted to lie this far from 0 and 1: their logarithms must be finite."""


@torch.no_grad()
def finish(model: NeuralRewardMachine, observations: Tensor, wanted: Tensor) -> bool:
    """Set the last layer so that the grounder says `wanted` (n, symbols) about observations (n, …).

    Whether that is possible with moderate weights; if not, or if there is no such layer, nothing is changed.
    """
    found = _last_layer(model, observations)
    if found is None:
        return False
    layer, reads, scores = found
    independent = model.emission == "independent"
    sure = wanted.double().clamp(_SURE, 1 - _SURE)
    missing = _centred(sure.logit() if independent else sure.log(), independent) - _centred(scores, independent)
    joined = torch.cat([reads, torch.ones_like(reads[:, :1])], 1)
    # The eigenvalues of the smaller of the two products are all that are not 0.
    narrow = joined.shape[1] <= len(joined)
    values, vectors = torch.linalg.eigh(joined.t() @ joined if narrow else joined @ joined.t())
    turned = vectors.t() @ (joined.t() @ missing if narrow else missing)
    for ridge in RIDGES:
        change = vectors @ (turned / (values + ridge * values[-1])[:, None])
        change = change if narrow else joined.t() @ change
        reached = scores + joined @ change
        said = reached.sigmoid() if independent else reached.softmax(-1)
        if float(divergence(model, said, wanted.double()).mean()) <= ENOUGH:
            layer.weight.add_(change[:-1].t())
            layer.bias.add_(change[-1])
            return True
    return False


def last_layer(grounder: nn.Module, observations: Tensor) -> tuple[nn.Linear, Tensor, Tensor]:
    """The linear layer that a module from observations (n, …) calls last, what it reads (n, …) and its scores (n, …).

    `LearningError` where it calls none.
    """
    called = _called(grounder, observations)[1]
    if not called:
        raise LearningError(
            f"{type(grounder).__name__} has no linear layer, and symbols are told apart by what its last one reads; "
            "take a grounder that ends with one, such as nrm.neural.AttendingGrounder"
        )
    return called[-1]


def _called(module: nn.Module, observations: Tensor) -> tuple[Tensor, list[tuple[nn.Linear, Tensor, Tensor]]]:
    """What a module says about observations, and its linear layers as they were called, with input and output."""
    calls: list[tuple[nn.Linear, Tensor, Tensor]] = []
    layers = [layer for layer in module.modules() if isinstance(layer, nn.Linear)]
    hooks = [
        layer.register_forward_hook(lambda layer, inputs, output: calls.append((layer, inputs[0], output)))
        for layer in layers
    ]
    try:
        said: Tensor = module(observations)
    finally:
        for hook in hooks:
            hook.remove()
    return said, calls


def _last_layer(model: NeuralRewardMachine, observations: Tensor) -> tuple[nn.Linear, Tensor, Tensor] | None:
    """The linear layer whose outputs are the scores, what it reads (n, width) and the scores (n, symbols)."""
    said, calls = _called(model.grounder, observations)
    if not calls:
        return None
    layer, reads, scores = calls[-1]
    ready = layer.bias is not None and layer.weight.requires_grad and layer.bias.requires_grad
    if not ready or scores.shape != said.shape or sum(one is layer for one, *_ in calls) > 1:
        return None
    expected = scores.sigmoid() if model.emission == "independent" else scores.softmax(-1)
    return (layer, reads.double(), scores.double()) if torch.allclose(expected, said, atol=1e-6) else None


def _centred(scores: Tensor, independent: bool) -> Tensor:
    """Scores without what a softmax takes no notice of."""
    return scores if independent else scores - scores.mean(-1, keepdim=True)
