"""The M-step of a network: ordinary supervised learning, its cross-entropy to given probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch
from torch import Tensor, nn

from nrm.neural.batches import EpisodeBatch
from nrm.neural.model import NeuralRewardMachine

MINI_BATCH = 64
"""Observations in a mini-batch, where they are few."""
LARGEST = 512
"""The same where they are many: steps then count more than what each of them sees."""
STEPS = 12
"""Steps that a pass over many observations takes at least."""
EPISODES = 8
"""Episodes in a mini-batch, of a recurrent grounder."""
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


def missed(said: Tensor, evidence: Tensor) -> Tensor:
    """(n,) minus the log-likelihood of evidence (n, letters), at most 1, under what a grounder says (n, letters)."""
    return -(said * evidence).sum(-1).clamp_min(_TINY).log()


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
        self.pace = 1.0
        """By how much steps are shortened."""

    def teach(
        self, observations: Tensor, wanted: Tensor, weights: Tensor, passes: int = 1, allowed: bool = False
    ) -> None:
        """So many passes towards `wanted` (n, symbols) about observations (n, …) that count `weights` (n,).

        `allowed`: `wanted` is not what is to be said, but the evidence for each letter; any that it speaks for will do.
        """
        model = self._model
        apart = missed if allowed else partial(divergence, model)
        weights = weights / weights.mean()

        def losses() -> Iterator[tuple[Tensor, int]]:
            for rows in self._mini_batches(len(observations), observations.device, self._size):
                said = model.ground(observations[rows], check=False)
                yield (apart(said, wanted[rows]) * weights[rows]).mean(), len(rows)

        self._learn(losses, passes)

    def teach_episodes(self, lessons: Sequence[tuple[EpisodeBatch, Tensor]], passes: int = 1) -> None:
        """The same for a recurrent grounder: episodes, with what is wanted (steps, symbols) at each of their steps."""
        model = self._model
        numbered = [batch.numbered for batch, _ in lessons]
        # An episode by its number among those of all lessons.
        ends = torch.tensor([len(batch.lengths) for batch, _ in lessons]).cumsum(0)

        def losses() -> Iterator[tuple[Tensor, int]]:
            for chosen in self._mini_batches(int(ends[-1]), ends.device, EPISODES):
                parts, steps = [], 0
                for place, (batch, wanted) in enumerate(lessons):
                    first = int(ends[place]) - len(batch.lengths)
                    mine = (chosen[(chosen >= first) & (chosen < ends[place])] - first).to(batch.lengths.device)
                    if not len(mine):
                        continue
                    episodes = batch.pick(mine)
                    rows = numbered[place][mine, : episodes.seen.shape[1]][episodes.mask]
                    said = model.ground_batch(episodes, check=False)
                    parts.append(divergence(model, said, wanted[rows]).sum())
                    steps += len(rows)
                yield torch.stack(parts).sum() / steps, steps

        self._learn(losses, passes)

    def _learn(self, losses: Callable[[], Iterator[tuple[Tensor, int]]], passes: int) -> None:
        """So many passes; one gives the mean loss of each mini-batch, and how many things it is the mean of."""
        self._model.grounder.train()
        for _ in range(passes):
            total, things = 0.0, 0
            for loss, count in losses():
                self._step(loss)
                total += float(loss.detach()) * count
                things += count
            if total / things > 2 * NEARLY > 2 * self._mean:
                self._boost = 1.0  # larger steps have led astray
            self._mean = total / things
        self._model.grounder.eval()

    def _step(self, loss: Tensor) -> None:
        self._steps += 1
        # Adam's first steps are of full size however small the gradient.
        boost = self._boost if self._mean < NEARLY else 1.0
        self.optimizer.param_groups[0]["lr"] = self._rate * self.pace * boost * min(1.0, self._steps / WARM_UP)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()

    def _mini_batches(self, count: int, device: torch.device, size: int = MINI_BATCH) -> Iterator[Tensor]:
        """A pass over `count` things in a random order; all at once where they are few."""
        few = count <= size
        order = torch.arange(count) if few else torch.randperm(count, generator=self._generator)
        yield from torch.split(order.to(device), size)
