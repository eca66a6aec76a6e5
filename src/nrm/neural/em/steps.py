"""The steps of expectation-maximisation.

The E-step says how often each letter was read at each observation, given all rewards of the episodes. The probability
that letter p was read at step t, given every reward of the episode, later ones too, is s_t[p] * d log L / d s_t[p],
where L is the likelihood and s_t what the grounder says (Fisher's identity). So the backward pass of the recursion,
which is safe on long episodes, gives the posteriors of all steps at once. The M-step of a network is supervised
learning: its cross-entropy to given probabilities.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nrm.errors import LearningError
from nrm.neural.buffer import EpisodeBuffer
from nrm.neural.descent import LearningProblem, take_step
from nrm.neural.episodes import EpisodeBatch
from nrm.neural.model import NeuralRewardMachine

NEARLY = 0.05
"""Mean divergence below which only sharpness is missing, and steps are larger."""
SMOOTHING = 1e-3
"""Ignorance mixed into symbols before posteriors are taken: no possible episode is ever ruled out for good."""


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


def disputed(model: NeuralRewardMachine, episodes: EpisodeBuffer) -> list[tuple[int, int, int]]:
    """How many steps the grounder reads as one letter, and all rewards of the episode as another; most first."""
    batch = episodes.batch()
    with torch.no_grad():
        symbols = model.distribution.smoothed(model.said_batch(batch), SMOOTHING)
    found = expected_letters(model, batch, symbols)
    read = torch.stack([model.letters(symbols), model.letters(posterior(model, found, symbols))], 1)
    steps = Counter[tuple[int, int]]()
    for (said, paid), times in zip(read.tolist(), found.occurrences.tolist(), strict=True):
        steps[said, paid] += int(times)
    return [(said, paid, times) for (said, paid), times in steps.most_common() if times and said != paid]


def posterior(model: NeuralRewardMachine, found: Expectation, before: Tensor) -> Tensor:
    """(n, symbols) the letters' shares at each observation; as `before` where an observation was never made."""
    total = model.distribution.total(found.counts, found.occurrences)
    return torch.where(total > 0, found.counts / total.clamp_min(torch.finfo(total.dtype).tiny), before)


def evidence(found: Expectation, before: Tensor) -> Tensor:
    """(n, symbols) how probable each letter makes the rewards of the episodes, the most probable 1: d log L / d s.

    `before`: (n, symbols) what the grounder said. Where an episode is called impossible, nothing speaks against any
    letter.
    """
    ratio = found.counts / before
    most = ratio.amax(-1, keepdim=True)
    return torch.where(most > 0, ratio / most.clamp_min(torch.finfo(ratio.dtype).tiny), 1.0)


def informative(missed: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """(k,) the numbers of the observations to look at, and (k,) for how many each counts.

    missed: (n,) nats of the evidence that are missed at each. Sums over those looked at, weighed by what they count
    for, are sums over all of them in the mean.
    """
    # Few are all looked at: it takes no time, and a draw might leave none.
    if len(missed) <= 4096:
        return torch.arange(len(missed), device=missed.device), torch.ones_like(missed)
    # More learning changes next to nothing there; but what is known must not be forgotten where others are learned.
    explained, one_in = missed <= 0.02, 8
    drawn = (torch.rand(len(missed), generator=generator) * one_in < 1).to(missed.device)
    rows = torch.nonzero(drawn | ~explained)[:, 0]
    return rows, torch.where(explained[rows], float(one_in), 1.0)


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
        few = 64
        self._size = max(few, min(512, observations // 12))
        larger = math.sqrt(self._size / few)
        self._model = model
        self._rate = learning_rate * larger
        self._generator = generator
        parameters = [value for value in model.grounder.parameters() if value.requires_grad]
        self.optimizer = torch.optim.Adam(parameters, lr=self._rate, fused=True)
        self._steps = 0
        self._mean = float("inf")
        self._boost = max(1.0, 4.0 / larger)
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

    def teach_episodes(self, batch: EpisodeBatch, wanted: Tensor, passes: int = 1) -> None:
        """The same for a recurrent grounder: what is `wanted` (steps, symbols) goes by the steps of episodes."""
        model, numbered = self._model, batch.numbered

        def losses() -> Iterator[tuple[Tensor, int]]:
            for chosen in self._mini_batches(len(batch.lengths), batch.lengths.device, 8):
                episodes = batch.pick(chosen)
                rows = numbered[chosen, : episodes.seen.shape[1]][episodes.mask]
                said = model.ground_batch(episodes, check=False)
                yield model.distribution.divergence(said, wanted[rows]).sum() / len(rows), len(rows)

        self._learn(losses, passes)

    def _learn(self, losses: Callable[[], Iterator[tuple[Tensor, int]]], passes: int) -> None:
        """So many passes; one gives the mean loss of each mini-batch, and how many things it is the mean of."""
        self._model.grounder.train()
        for _ in range(passes):
            total, things = 0.0, 0
            for loss, count in losses():
                total += self._step(loss) * count
                things += count
            if total / things > 2 * NEARLY > 2 * self._mean:
                self._boost = 1.0  # larger steps have led astray
            self._mean = total / things
        self._model.grounder.eval()

    def _step(self, loss: Tensor) -> float:
        self._steps += 1
        # Adam's first steps are of full size however small the gradient.
        boost = self._boost if self._mean < NEARLY else 1.0
        self.optimizer.param_groups[0]["lr"] = self._rate * self.pace * boost * min(1.0, self._steps / 10)
        return take_step(self.optimizer, loss)

    def _mini_batches(self, count: int, device: torch.device, size: int) -> Iterator[Tensor]:
        """A pass over `count` things in a random order; all at once where they are few."""
        few = count <= size
        order = torch.arange(count) if few else torch.randperm(count, generator=self._generator)
        yield from torch.split(order.to(device), size)


def taught(
    problem: LearningProblem,
    learning_rate: float,
    generator: torch.Generator,
    teach: Callable[[Distiller, int, int], bool],
) -> tuple[float, float]:
    """Let a grounder learn, from fresh parameters after the first time; the losses that it comes to.

    `teach`: one part of so many, with the number of this and of all; whether to look at what came of it.
    """
    losses = math.inf, math.inf
    parts = -(-problem.config.epochs // 20)
    for lesson in range(2):
        if lesson:
            redraw(problem.model.grounder)
        distiller = Distiller(problem.model, learning_rate, generator)
        for part in range(parts + 1):
            if teach(distiller, part, parts):
                losses = problem.losses()
                if max(losses) <= 0.75 * problem.target:
                    return losses
    return losses


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
    sure = wanted.double().clamp(1e-4, 1 - 1e-4)  # logarithms must be finite
    missing = symbols.scores(sure) - symbols.centred(scores)
    joined = torch.cat([reads, torch.ones_like(reads[:, :1])], 1)
    # The eigenvalues of the smaller of the two products are all that are not 0.
    narrow = joined.shape[1] <= len(joined)
    values, vectors = torch.linalg.eigh(joined.t() @ joined if narrow else joined @ joined.t())
    turned = vectors.t() @ (joined.t() @ missing if narrow else missing)
    # Penalties on the change of the layer, relative to the spread of what it reads: the first that suffices is taken.
    # Smaller ones would make weights so large that nothing near an observation is read like it.
    for ridge in (1e-2, 1e-3, 1e-4, 1e-5):
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
        raise LearningError(f"{type(grounder).__name__} has no linear layer; take a grounder that ends with one")
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
