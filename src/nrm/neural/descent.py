"""What is to be learned, and one attempt at it: gradient descent from given parameters."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nrm.errors import LearningError
from nrm.neural.config import Attempt, FitConfig, Reason
from nrm.neural.emission import MAX_BITS
from nrm.neural.episodes import EpisodeBatch
from nrm.neural.model import NeuralRewardMachine


class Labelled(NamedTuple):
    """Observations (n, …) whose letters (n,) are known."""

    observations: Tensor
    letters: Tensor


@dataclass(frozen=True, eq=False)
class LearningProblem:
    """A model, the episodes that it has to explain, and how it learns to."""

    model: NeuralRewardMachine
    train: EpisodeBatch
    held_out: EpisodeBatch
    """What chooses among attempts: everything, when nothing is held out."""
    everything: EpisodeBatch
    config: FitConfig
    labelled: Labelled | None = None

    @property
    def target(self) -> float:
        """The loss at which episodes count as explained."""
        if self.config.objective == "regularised":
            return 0.04 * len(self.train.lengths) / self.train.steps  # so many nats an episode, however long
        return self.config.target

    def batches(self, generator: torch.Generator, size: int = 64) -> list[EpisodeBatch]:
        """A pass over the episodes to learn from, in mini-batches of so many."""
        if size >= len(self.train.lengths):
            return [self.train]
        order = torch.randperm(len(self.train.lengths), generator=generator).to(self.train.lengths.device)
        return [self.train.pick(chosen) for chosen in torch.split(order, size)]

    @torch.no_grad()
    def loss(self, batch: EpisodeBatch) -> float:
        """Minus the log-likelihood a step."""
        return sum(
            float(sequence(self.model, part, self.model.said_batch(part))) * (part.steps / batch.steps)
            for part in batch.parts()
        )

    def losses(self) -> tuple[float, float]:
        """The same of episodes learned from, and of those held out."""
        return self.loss(self.train), self.loss(self.held_out)


def attempt(problem: LearningProblem, number: int, generator: torch.Generator) -> Attempt:  # noqa: ARG001
    """Descend from the grounder's present parameters, and leave them where the loss was least."""
    started = time.perf_counter()
    model, config = problem.model, problem.config
    parameters = learnable(model)
    model.grounder.train()
    optimizer = torch.optim.Adam(parameters)
    losses: list[float] = []
    best, since = math.inf, 0
    kept: list[Tensor] | None = None
    stopped: Reason = "epoch limit reached"
    for epoch in range(config.epochs):
        cosine = 0.1 + 0.45 * (1 + math.cos(math.pi * epoch / config.epochs))
        # Adam's first steps are of full size however small the gradient: warm up, not to spoil good parameters.
        optimizer.param_groups[0]["lr"] = config.learning_rate * cosine * min(1.0, (epoch + 1) / 10)
        before = [parameter.detach().clone() for parameter in parameters]
        loss = take_step(optimizer, _loss(problem, problem.train))
        if not math.isfinite(loss):
            lower = f"lower the learning rate, {config.learning_rate:g}"
            raise LearningError(f"the loss became {loss} in epoch {epoch} of attempt {number}; {lower}")
        losses.append(loss)
        # A smaller improvement counts as none.
        since = 0 if loss < best * (1 - 1e-3) else since + 1
        if loss < best:
            best, kept = loss, before  # the loss is that before the step
        if loss <= problem.target / 2:
            stopped = "target reached"
            break
        if since >= config.patience:
            stopped = "no more improvement"
            break
    with torch.no_grad():
        if kept is not None and not float(_loss(problem, problem.train)) < best:
            for parameter, value in zip(parameters, kept, strict=True):
                parameter.copy_(value)
    model.eval()
    return Attempt(number, tuple(losses), *problem.losses(), stopped, time.perf_counter() - started)


def regularised_attempt(problem: LearningProblem, number: int, generator: torch.Generator) -> Attempt:
    """Descend from the grounder's present parameters, and leave them where the loss on held-out episodes was least.

    Verdicts are few where observations are many and never come again, which a grounder would learn by heart.
    """
    started = time.perf_counter()
    model, config = problem.model, problem.config
    parameters = learnable(model)
    optimizer = torch.optim.AdamW(parameters, lr=config.learning_rate, weight_decay=0.1)
    losses: list[float] = []
    kept: list[Tensor] = []
    for epoch in range(config.epochs):
        cosine = 0.1 + 0.45 * (1 + math.cos(math.pi * epoch / config.epochs))
        optimizer.param_groups[0]["lr"] = config.learning_rate * cosine * min(1.0, (epoch + 1) / 4)
        model.grounder.train()
        for batch in problem.batches(generator):
            take_step(optimizer, _ignorant_loss(problem, batch, generator))
        model.grounder.eval()
        losses.append(problem.loss(problem.held_out))
        if losses[-1] == min(losses):
            kept = [parameter.detach().clone() for parameter in parameters]
    with torch.no_grad():
        for parameter, value in zip(parameters, kept, strict=True):
            parameter.copy_(value)
    best = min(losses)
    reached: Reason = "target reached" if best <= problem.target else "epoch limit reached"
    train = problem.loss(problem.train)
    return Attempt(number, tuple(losses), train, best, reached, time.perf_counter() - started)


def _ignorant_loss(problem: LearningProblem, batch: EpisodeBatch, generator: torch.Generator) -> Tensor:
    """Minus the log-likelihood a step; enough ignorance that no step is learned by heart."""
    model, labelled = problem.model, problem.labelled
    loss = sequence(model, batch, model.distribution.smoothed(model.ground_batch(batch, check=False), 1e-3))
    if labelled is not None:
        some = torch.randint(len(labelled.letters), (min(len(labelled.letters), 256),), generator=generator)
        said = model.distribution.smoothed(model.ground(labelled.observations[some], check=False), 1e-3)
        loss = loss - model.distribution.share(said, labelled.letters[some]).log().mean()
    return loss


def scatter(problem: LearningProblem, generator: torch.Generator) -> None:
    """Move a fresh grounder towards random letters for the observations, until it leans to them clearly."""
    model, batch = problem.model, problem.train
    size = model.machine.alphabet.size
    chosen = model.reading.sample(batch, generator)
    # Past 62 propositions the others are false in all random letters.
    drawn = torch.randint(min(size, 1 << MAX_BITS), (len(chosen.observations),), generator=generator)
    wanted = drawn.to(batch.lengths.device)[chosen.seen[chosen.mask]]
    model.grounder.train()
    optimizer = torch.optim.Adam(learnable(model), lr=problem.config.learning_rate)
    for _ in range(100):
        loss = _cross_entropy(model, model.ground_batch(chosen, check=False), wanted)
        # It leans to the random letters, and can still be led elsewhere.
        if float(loss.detach()) < 0.4 * math.log(size):
            break
        take_step(optimizer, loss)


def take_step(optimizer: torch.optim.Optimizer, loss: Tensor) -> float:
    """Descend on a loss; its value."""
    optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return float(loss.detach())


def learnable(model: NeuralRewardMachine) -> list[nn.Parameter]:
    """The parameters of the grounder that learn."""
    return [value for value in model.grounder.parameters() if value.requires_grad]


def _loss(problem: LearningProblem, batch: EpisodeBatch) -> Tensor:
    """The objective on a batch, and what the labelled observations add to it."""
    model = problem.model
    symbols = _possible(model, model.ground_batch(batch, check=False))
    loss = (marginal if problem.config.objective == "marginal" else sequence)(model, batch, symbols)
    if problem.labelled is not None:
        said = model.ground(problem.labelled.observations, check=False)
        loss = loss + _cross_entropy(model, said, problem.labelled.letters)
    return loss


def _cross_entropy(model: NeuralRewardMachine, symbols: Tensor, letters: Tensor) -> Tensor:
    """Of letters (n,) under what the grounder says (n, symbols)."""
    return -model.distribution.share(_possible(model, symbols), letters).log().mean()


def _possible(model: NeuralRewardMachine, symbols: Tensor) -> Tensor:
    """Symbols with a little ignorance, so that the likelihood of possible rewards is never 0."""
    return model.distribution.smoothed(symbols, 1e-6)


def sequence(model: NeuralRewardMachine, batch: EpisodeBatch, symbols: Tensor) -> Tensor:
    """Minus the log-likelihood of the whole reward sequences, in nats a step."""
    total, _ = model.batch_log_likelihood(batch, symbols)
    return -total.sum() / batch.steps


def marginal(model: NeuralRewardMachine, batch: EpisodeBatch, symbols: Tensor) -> Tensor:
    """The paper's loss: cross-entropy of each step's potential under the open-loop belief, in nats a step."""
    rewards = batch.weighed(model.batch_rewards(batch, symbols))
    seen = rewards.gather(-1, batch.levels.unsqueeze(-1)).squeeze(-1)
    # A potential of probability 0 would have no finite logarithm.
    logs = seen.clamp_min(float(torch.finfo(seen.dtype).tiny)).log()
    return -torch.where(batch.mask, logs, 0.0).sum() / batch.steps
