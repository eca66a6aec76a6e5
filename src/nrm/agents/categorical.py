"""The categorical distribution over actions, with the gradient written out: two calls of autograd instead of ten."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def categorical(logits: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
    """(…) the log-probability of actions (…) under logits (…, actions), and (…) the entropy."""
    result = _Categorical.apply(logits, actions)  # type: ignore[no-untyped-call]
    chosen: Tensor = result[0]
    entropy: Tensor = result[1]
    return chosen, entropy


class _Categorical(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        log_probs = torch.log_softmax(logits, -1)
        probs = log_probs.exp()
        places = actions.unsqueeze(-1)
        entropy = -(probs * log_probs).sum(-1)
        ctx.save_for_backward(log_probs, probs, places, entropy)
        return log_probs.gather(-1, places).squeeze(-1), entropy

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_chosen: Tensor, of_entropy: Tensor) -> tuple[Tensor, None]:
        """With p the probabilities and h the entropy: d log p[a] = [a] - p, and d h = -p (log p + h)."""
        log_probs, probs, places, entropy = ctx.saved_tensors
        of_chosen, of_entropy = of_chosen.unsqueeze(-1), of_entropy.unsqueeze(-1)
        pull = of_entropy * (log_probs + entropy.unsqueeze(-1)) + of_chosen
        return (-probs * pull).scatter_add_(-1, places, of_chosen), None
