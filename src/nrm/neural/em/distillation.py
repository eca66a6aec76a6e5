"""The M-step of a network: ordinary supervised learning, its cross-entropy to given probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor, nn

from nrm.errors import LearningError
from nrm.neural.episodes import EpisodeBatch
from nrm.neural.model import NeuralRewardMachine

MINI_BATCH = 64
"""Observations in a mini-batch, where they are few."""
NEARLY, BOOST = 0.05, 4.0
"""Mean divergence below which only sharpness is missing, and by how much larger the steps are then."""


def evidence_loss(said: Tensor, evidence: Tensor) -> Tensor:
    """(n,) minus the log-likelihood of evidence (n, letters), at most 1, under what a grounder says (n, letters)."""
    return -(said * evidence).sum(-1).clamp_min(1e-7).log()


def redraw(grounder: nn.Module) -> None:
    """Fresh parameters, from torch's global generator, for all layers that know how to draw them."""
    for module in grounder.modules():
        reset = getattr(module, "reset_parameters", None)
        if callable(reset):
            reset()


class Distiller:
    """Teaches a grounder what to say."""

    def __init__(
        self, model: NeuralRewardMachine, learning_rate: float, generator: torch.Generator, observations: int = 0
    ) -> None:
        """`observations`: how many there are. Of many, mini-batches are larger, and so are the steps."""
        # Of many observations, a pass takes at least twelve steps.
        self._size = max(MINI_BATCH, min(512, observations // 12))
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
        apart = evidence_loss if allowed else model.distribution.divergence
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
            for chosen in self._mini_batches(int(ends[-1]), ends.device, 8):
                parts, steps = [], 0
                for place, (batch, wanted) in enumerate(lessons):
                    first = int(ends[place]) - len(batch.lengths)
                    mine = (chosen[(chosen >= first) & (chosen < ends[place])] - first).to(batch.lengths.device)
                    if not len(mine):
                        continue
                    episodes = batch.pick(mine)
                    rows = numbered[place][mine, : episodes.seen.shape[1]][episodes.mask]
                    said = model.ground_batch(episodes, check=False)
                    parts.append(model.distribution.divergence(said, wanted[rows]).sum())
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
        self.optimizer.param_groups[0]["lr"] = self._rate * self.pace * boost * min(1.0, self._steps / 10)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()

    def _mini_batches(self, count: int, device: torch.device, size: int = MINI_BATCH) -> Iterator[Tensor]:
        """A pass over `count` things in a random order; all at once where they are few."""
        few = count <= size
        order = torch.arange(count) if few else torch.randperm(count, generator=self._generator)
        yield from torch.split(order.to(device), size)


RIDGES = (1e-2, 1e-3, 1e-4, 1e-5)
"""Penalties on the change of the layer, relative to the spread of what it reads: the first that suffices is taken.
Smaller ones would make weights so large that nothing near an observation is read like it."""
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
    symbols = model.distribution
    sure = wanted.double().clamp(_SURE, 1 - _SURE)
    missing = symbols.scores(sure) - symbols.centred(scores)
    joined = torch.cat([reads, torch.ones_like(reads[:, :1])], 1)
    # The eigenvalues of the smaller of the two products are all that are not 0.
    narrow = joined.shape[1] <= len(joined)
    values, vectors = torch.linalg.eigh(joined.t() @ joined if narrow else joined @ joined.t())
    turned = vectors.t() @ (joined.t() @ missing if narrow else missing)
    for ridge in RIDGES:
        change = vectors @ (turned / (values + ridge * values[-1])[:, None])
        change = change if narrow else joined.t() @ change
        reached = scores + joined @ change
        said = symbols.probabilities(reached)
        if float(symbols.divergence(said, wanted.double()).mean()) <= 1e-3:
            layer.weight.add_(change[:-1].t())
            layer.bias.add_(change[-1])
            return True
    return False


def last_layer(grounder: nn.Module, observations: Tensor) -> tuple[nn.Linear, Tensor, Tensor]:
    """The linear layer that a module calls last, what it reads (n, …) and its scores (n, …); an error where none is."""
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
    expected = model.distribution.probabilities(scores)
    return (layer, reads.double(), scores.double()) if torch.allclose(expected, said, atol=1e-6) else None
