"""The M-step of a network: ordinary supervised learning, its cross-entropy to given probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from nrm.neural.model import NeuralRewardMachine

MINI_BATCH = 64
"""Observations in a mini-batch, where they are few."""
LARGEST = 512
"""The same where they are many: steps then count more than what each of them sees."""
STEPS = 12
"""Steps that a pass over many observations takes at least."""
WARM_UP = 10
"""Steps over which the step size rises to its full size."""
NEARLY, BOOST = 0.05, 4.0
"""Mean divergence below which only sharpness is missing, and by how much larger the steps are then."""
_TINY = 1e-7


def divergence(model: NeuralRewardMachine, said: Tensor, wanted: Tensor) -> Tensor:
    """(n,) Kullback-Leibler divergence of what a grounder says from what it should, both (n, symbols), in nats."""
    logs = wanted.clamp_min(_TINY).log() - said.clamp_min(_TINY).log()
    if model.emission == "independent":
        others = (1 - wanted).clamp_min(_TINY).log() - (1 - said).clamp_min(_TINY).log()
        return (wanted * logs + (1 - wanted) * others).sum(-1)
    return (wanted * logs).sum(-1)


def redraw(grounder: nn.Module) -> None:
    """Fresh parameters, from torch's global generator, for all layers that know how to draw them."""
    for module in grounder.modules():
        reset = getattr(module, "reset_parameters", None)
        if callable(reset):
            reset()


class Imitator:
    """Teaches a grounder what to say."""

    def __init__(
        self, model: NeuralRewardMachine, learning_rate: float, generator: torch.Generator, observations: int = 0
    ) -> None:
        """`observations`: how many there are. Of many, mini-batches are larger, and so are the steps."""
        self._size = max(MINI_BATCH, min(LARGEST, observations // STEPS))
        larger = math.sqrt(self._size / MINI_BATCH)
        self._model = model
        self._rate = learning_rate * larger
        self._generator = generator
        parameters = [value for value in model.grounder.parameters() if value.requires_grad]
        self.optimizer = torch.optim.Adam(parameters, lr=self._rate, fused=True)
        self._steps = 0
        self._mean = float("inf")
        self._boost = max(1.0, BOOST / larger)

    def teach(self, observations: Tensor, wanted: Tensor, weights: Tensor, passes: int = 1) -> None:
        """So many passes towards `wanted` (n, symbols) about observations (n, …) that count `weights` (n,)."""
        model = self._model
        model.grounder.train()
        weights = weights / weights.mean()
        for _ in range(passes):
            total = 0.0
            for rows in self._mini_batches(len(observations), observations.device):
                said = model.ground(observations[rows], check=False)
                loss = (divergence(model, said, wanted[rows]) * weights[rows]).mean()
                self._step(loss)
                total += float(loss.detach()) * len(rows)
            if total / len(observations) > 2 * NEARLY > 2 * self._mean:
                self._boost = 1.0  # larger steps have led astray
            self._mean = total / len(observations)
        model.grounder.eval()

    def _step(self, loss: Tensor) -> None:
        self._steps += 1
        # Adam's first steps are of full size however small the gradient.
        boost = self._boost if self._mean < NEARLY else 1.0
        self.optimizer.param_groups[0]["lr"] = self._rate * boost * min(1.0, self._steps / WARM_UP)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()

    def _mini_batches(self, count: int, device: torch.device) -> Iterator[Tensor]:
        """A pass over `count` things in a random order; all at once where they are few."""
        few = count <= self._size
        order = torch.arange(count) if few else torch.randperm(count, generator=self._generator)
        yield from torch.split(order.to(device), self._size)
