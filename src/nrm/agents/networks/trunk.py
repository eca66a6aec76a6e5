"""What networks whose actor and critic share all but their last layers have in common."""

from __future__ import annotations

from torch import Tensor, nn


class SharedTrunk(nn.Module):
    """An actor and a critic on one hidden layer; subclasses make both, and say what comes before."""

    actor: nn.Module
    critic: nn.Module

    def hidden(self, features: Tensor, memory: Tensor) -> Tensor:
        """(n, hidden) from features (n, width) and memory (n, memory)."""
        raise NotImplementedError(f"{type(self).__name__} needs a method hidden(features, memory)")

    def forward(self, features: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """(n, scores) and (n,) values from features (n, width) and memory (n, memory)."""
        hidden = self.hidden(features, memory)
        return self.actor(hidden), self.critic(hidden).squeeze(-1)

    def logits(self, features: Tensor, memory: Tensor) -> Tensor:
        """(n, scores) for acting."""
        result: Tensor = self.actor(self.hidden(features, memory))
        return result

    def value(self, features: Tensor, memory: Tensor) -> Tensor:
        """(n,) for bootstrapping."""
        result: Tensor = self.critic(self.hidden(features, memory)).squeeze(-1)
        return result
