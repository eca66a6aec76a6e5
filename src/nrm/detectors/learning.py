"""Learning symbols from evidence about whole recordings: descent on its likelihood, stopped by held-out recordings.

Settings were chosen on other seeds than those reported. Expectation-maximisation on a table of steps, which suits few
distinct observations, learns single steps by heart here; see `benchmarks/recordings.py`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nrm.neural import EpisodeBatch, NeuralRewardMachine, sequence


@dataclass(frozen=True)
class Descent:
    """How to learn."""

    restarts: int
    epochs: int
    learning_rate: float
    batch_size: int
    seed: int
    target: float = 0.04
    """Loss, in nats a recording, at which held-out recordings count as explained."""
    patience: int = 3
    """Restarts in a row without a better loss after which no further one is tried."""


@dataclass(frozen=True)
class Labels:
    """Steps whose symbols are known."""

    observations: Tensor
    """(n, …)"""
    letters: Tensor
    """(n,)"""


def learn(
    model: NeuralRewardMachine, train: EpisodeBatch, held_out: EpisodeBatch, labels: Labels | None, how: Descent
) -> list[float]:
    """Teach a model, and leave it at the best of some restarts; the held-out loss of each, in nats a recording."""
    found: list[float] = []
    best, kept, since = math.inf, copy.deepcopy(model.grounder.state_dict()), 0
    with torch.random.fork_rng(devices=[]):
        for number in range(how.restarts):
            torch.manual_seed(how.seed + 7919 * number)
            if number:
                _redraw(model)
            found.append(
                _descend(model, train, held_out, labels, how, torch.Generator().manual_seed(how.seed + number))
            )
            since = 0 if found[-1] < 0.9 * best else since + 1
            if found[-1] < best:
                best, kept = found[-1], copy.deepcopy(model.grounder.state_dict())
            if best <= how.target or since >= how.patience:
                break
    model.grounder.load_state_dict(kept)
    model.eval()
    return found


def _descend(
    model: NeuralRewardMachine,
    train: EpisodeBatch,
    held_out: EpisodeBatch,
    labels: Labels | None,
    how: Descent,
    generator: torch.Generator,
) -> float:
    """One restart; the grounder is left where the loss on held-out recordings was least."""
    parameters = [value for value in model.grounder.parameters() if value.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=how.learning_rate, weight_decay=0.1)
    best, kept = math.inf, copy.deepcopy(model.grounder.state_dict())
    for epoch in range(how.epochs):
        cosine = 0.1 + 0.45 * (1 + math.cos(math.pi * epoch / how.epochs))
        optimizer.param_groups[0]["lr"] = how.learning_rate * cosine * min(1.0, (epoch + 1) / 4)
        model.grounder.train()
        for chosen in torch.split(torch.randperm(len(train.lengths), generator=generator), how.batch_size):
            loss = _loss(model, train.pick(chosen))
            if labels is not None:
                some = torch.randint(len(labels.letters), (min(len(labels.letters), 256),), generator=generator)
                loss = loss + _cross_entropy(model, labels.observations[some], labels.letters[some])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        model.grounder.eval()
        now = _held_out(model, held_out)
        if now < best:
            best, kept = now, copy.deepcopy(model.grounder.state_dict())
    model.grounder.load_state_dict(kept)
    return best


def _loss(model: NeuralRewardMachine, batch: EpisodeBatch) -> Tensor:
    """Minus the log-likelihood of the evidence, in nats a step. A little ignorance keeps it finite."""
    said = model.distribution.smoothed(model.ground_batch(batch, check=False), 1e-3)
    return sequence(model, batch, said)


@torch.no_grad()
def _held_out(model: NeuralRewardMachine, batch: EpisodeBatch) -> float:
    return float(_loss(model, batch)) * batch.steps / len(batch.lengths)


def _cross_entropy(model: NeuralRewardMachine, observations: Tensor, letters: Tensor) -> Tensor:
    said = model.distribution.smoothed(model.ground(observations, check=False), 1e-3)
    return -model.distribution.share(said, letters).log().mean()


def _redraw(model: NeuralRewardMachine) -> None:
    """Fresh parameters for all layers that know how to draw them."""
    for module in model.grounder.modules():
        reset = getattr(module, "reset_parameters", None)
        if callable(reset):
            reset()


def split(batch: EpisodeBatch, rows: tuple[Sequence[int], Sequence[int]]) -> tuple[EpisodeBatch, EpisodeBatch]:
    """The recordings to learn from, and those held out; the former twice where none are held out."""
    train, held_out = (batch.pick(torch.tensor(list(some))) if len(some) else batch for some in rows)
    return train, held_out
