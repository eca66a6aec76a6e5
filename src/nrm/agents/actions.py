"""Action spaces: heads, pure functions of scores (…, width), make a distribution over actions of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.nn.functional import softplus

from nrm.envs import ActionSpace, action_space


class ActionHead(ABC):
    """A kind of actions. An action is one number, or a row of `size` numbers."""

    width: int
    """How many scores a policy gives for one decision."""
    held = 1
    """Steps in training that sample with the same noise, unless a setting says otherwise."""

    def layer(self, inputs: int) -> nn.Module:
        """A last layer of a policy, from (n, inputs) to scores (n, width): a linear one."""
        return nn.Linear(inputs, self.width)

    def noise(self, leading: Sequence[int], generator: torch.Generator) -> Tensor:
        """(*leading, …) the randomness of that many samples: Gumbel noise, so that argmax(logits + noise) is one."""
        return -torch.empty(*leading, self.width).exponential_(generator=generator).log()

    def sample(self, scores: Tensor, noise: Tensor) -> Tensor:
        """Actions drawn from the distribution."""
        return self.best(scores + noise)

    @abstractmethod
    def best(self, scores: Tensor) -> Tensor:
        """The actions of a policy that takes no chances."""

    @abstractmethod
    def evaluate(self, scores: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """(…) the logarithm of the probability (or density) of actions, and (…) the entropy of the distribution."""


class DiscreteActions(ActionHead):
    """One of some actions, numbered from 0: the scores are logits."""

    def __init__(self, count: int) -> None:
        self.width = count

    def best(self, scores: Tensor) -> Tensor:
        return scores.argmax(-1)

    def evaluate(self, scores: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        return categorical(scores, actions)


def categorical(logits: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
    """(…) the log-probability of actions (…) under logits (…, actions), and (…) the entropy."""
    log_probs = torch.log_softmax(logits, -1)
    chosen = log_probs.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
    return chosen, -(log_probs.exp() * log_probs).sum(-1)


class MultiDiscreteActions(ActionHead):
    """Several independent choices at once, (…, choices) numbers: the scores are their logits, one after the other."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = list(sizes)
        self.width = sum(self.sizes)

    def best(self, scores: Tensor) -> Tensor:
        return torch.stack([part.argmax(-1) for part in torch.split(scores, self.sizes, -1)], -1)

    def evaluate(self, scores: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        parts = zip(torch.split(scores, self.sizes, -1), actions.unbind(-1), strict=True)
        log_probs, entropies = zip(*(categorical(logits, chosen) for logits, chosen in parts), strict=True)
        return torch.stack(log_probs).sum(0), torch.stack(entropies).sum(0)


class BoxActions(ActionHead):
    """Numbers between bounds, (…, size): a Gaussian squashed by tanh. Scores are means and log standard deviations."""

    held = 8
    """Noise that is new at every step averages out: the agent trembles and stays where it is."""

    def __init__(self, low: Tensor, high: Tensor) -> None:
        """`low`, `high`: (size,) bounds."""
        self._size = len(low)
        self.width = 2 * len(low)
        self._low, self._high = low, high
        self._centre, self._half = (low + high) / 2, (high - low) / 2
        # Nodes and weights of Gauss and Hermite: sum(weights * f(nodes)) is the mean of f under a standard Gaussian.
        nodes, weights = np.polynomial.hermite_e.hermegauss(20)
        self._nodes = torch.tensor(nodes, dtype=torch.float32, device=low.device)
        self._weights = torch.tensor(weights / math.sqrt(2 * math.pi), dtype=torch.float32, device=low.device)

    def layer(self, inputs: int) -> nn.Module:
        """Means that begin near the middle, and one standard deviation for each number, wherever the agent is."""
        return GaussianLayer(inputs, self._size)

    def noise(self, leading: Sequence[int], generator: torch.Generator) -> Tensor:
        return torch.randn(*leading, self._size, generator=generator)

    def sample(self, scores: Tensor, noise: Tensor) -> Tensor:
        mean, log_std = scores.chunk(2, -1)
        return self._bounded(mean + log_std.exp() * noise)

    def best(self, scores: Tensor) -> Tensor:
        """(…, size) the medians."""
        return self._bounded(scores.chunk(2, -1)[0])

    def evaluate(self, scores: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """(…) with the correction for squashing; the entropy is that of the squashed distribution, by quadrature."""
        mean, log_std = scores.chunk(2, -1)
        std = log_std.exp()
        inside = 1 - 1e-6  # at a bound itself the density is not finite
        raw = ((actions - self._centre) / self._half).clamp(-inside, inside).atanh()
        standard = (raw - mean) / std
        stretch = self._half.log()
        gaussian = -0.5 * standard.square() - log_std - 0.5 * math.log(2 * math.pi)
        log_prob = gaussian - _log_slope(raw) - stretch
        points = mean.unsqueeze(-1) + std.unsqueeze(-1) * self._nodes
        entropy = 0.5 + 0.5 * math.log(2 * math.pi) + log_std + _log_slope(points) @ self._weights + stretch
        return log_prob.sum(-1), entropy.sum(-1)

    def _bounded(self, raw: Tensor) -> Tensor:
        # Rounding may step over a bound by a last digit.
        return (self._centre + self._half * raw.tanh()).clamp(self._low, self._high)


class ClippedActions(BoxActions):
    """The same without squashing: cut off at the bounds. Scores are in half the distance of bounds, from the middle.

    An action at a bound has the probability of all that lies beyond it (Fujita and Maeda, 2018). A robot with inertia
    needs full force, which a squashed Gaussian hardly ever gives, and its own inertia correlates its noise.
    """

    held = 1

    def evaluate(self, scores: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """(…) of actions, the probability of those at bounds; the entropy is that before anything is cut off.

        The entropy of what is left would count against actions at bounds.
        """
        mean, log_std = scores.chunk(2, -1)
        std = log_std.exp()
        raw = (actions - self._centre) / self._half
        root = 0.5 * math.log(2 * math.pi)
        inside = -0.5 * ((raw - mean) / std).square() - log_std - root - self._half.log()
        beyond = torch.special.log_ndtr((mean * raw.sign() - 1) / std)
        log_prob = torch.where(raw.abs() < 1 - 1e-6, inside, beyond)
        return log_prob.sum(-1), (0.5 + root + log_std).sum(-1)

    def _bounded(self, raw: Tensor) -> Tensor:
        return (self._centre + self._half * raw).clamp(self._low, self._high)


class GaussianLayer(nn.Module):
    """Means and standard deviations from features: agents go on exploring where they do not know the way yet."""

    def __init__(self, inputs: int, size: int) -> None:
        super().__init__()
        self.mean, self.log_std = nn.Linear(inputs, size), nn.Linear(inputs, size)
        with torch.no_grad():
            for layer in (self.mean, self.log_std):
                layer.weight *= 0.01
                layer.bias.zero_()

    def forward(self, features: Tensor) -> Tensor:
        """(n, 2 size) means and logarithms of standard deviations, which stay between 0.007 and 2.7.

        Features are learned for means alone, as in gSDE: a little task failed when spreads took part.
        """
        return torch.cat([self.mean(features), self.log_std(features.detach()).clamp(-5.0, 1.0)], -1)


def _log_slope(raw: Tensor) -> Tensor:
    """The logarithm of the derivative of tanh, 1 - tanh(raw)^2, without cancellation."""
    return 2 * (math.log(2) - raw - softplus(-2 * raw))


def head_for(actions: ActionSpace, device: torch.device | None = None, squash_output: bool = True) -> ActionHead:
    """The head of an env's actions: a number of them, or a space of Gymnasium's; `device`: where the policy is.

    `squash_output`: whether continuous actions are squashed into their bounds, and their noise is held.
    """
    space = action_space(actions)
    if isinstance(space, int):
        return DiscreteActions(space)
    if isinstance(space, spaces.MultiDiscrete):
        return MultiDiscreteActions([int(size) for size in space.nvec.flatten()])
    if isinstance(space, spaces.MultiBinary):
        return MultiDiscreteActions([2] * math.prod(space.shape))
    low, high = (torch.from_numpy(bound.flatten().astype(np.float32)) for bound in (space.low, space.high))
    return (BoxActions if squash_output else ClippedActions)(low.to(device), high.to(device))
