"""One attempt at learning: gradient descent from given parameters."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nrm.errors import LearningError
from nrm.neural.config import Attempt, FitConfig, Learnable, Objective, Reason, target_for
from nrm.neural.emission import MAX_BITS
from nrm.neural.episodes import EpisodeBatch
from nrm.neural.model import NeuralRewardMachine

SMOOTHING = 1e-6
"""Ignorance mixed into symbol probabilities, so that the likelihood of possible rewards is never 0."""
COOLING = 0.7
"""Share of the epochs after which the last temperature is reached."""


MACHINE_LEARNING_RATE = 0.1
"""Adam's step size for learned transitions and rewards."""


class Labelled(NamedTuple):
    """Observations (n, …) whose letters (n,) are known."""

    observations: Tensor
    letters: Tensor
    weight: float = 1.0
    """Weight of their cross-entropy in the loss."""


@dataclass(frozen=True, eq=False)
class LearningProblem:
    """One model with the episodes that it has to explain."""

    model: NeuralRewardMachine
    train: EpisodeBatch
    held_out: EpisodeBatch
    """What chooses among attempts: everything, when nothing is held out."""
    everything: EpisodeBatch
    mini_batches: Callable[[torch.Generator], list[EpisodeBatch]] | None
    """A pass over the episodes to learn from in mini-batches; absent when each pass is one batch."""


def attempt(
    problems: Sequence[LearningProblem],
    parts: tuple[Learnable, ...],
    config: FitConfig,
    number: int,
    generator: torch.Generator,
    labelled: Labelled | None,
) -> Attempt:
    """Descend from the models' present parameters, and leave them where the loss was least."""
    started = time.perf_counter()
    models = [problem.model for problem in problems]
    groups = _prepare(models, parts, config)
    optimizer = torch.optim.Adam([{"params": group, "lr": rate} for group, rate in groups])
    cools = any(part != "grounding" for part in parts)
    whole = all(problem.mini_batches is None for problem in problems)
    losses: list[float] = []
    best, since = math.inf, 0
    parameters = [parameter for group, _ in groups for parameter in group]
    kept: list[Tensor] | None = None
    stopped: Reason = "all epochs done"
    for epoch in range(config.epochs):
        done = epoch / config.epochs
        for group, (_, rate) in zip(optimizer.param_groups, groups, strict=True):
            # Adam's first steps are of full size however small the gradient: warm up, not to spoil good parameters.
            group["lr"] = rate * (0.1 + 0.45 * (1 + math.cos(math.pi * done))) * min(1.0, (epoch + 1) / 10)
        if cools:
            for model in models:
                model.machine.temperature = temperature_at(done)
        before = _copies(parameters) if whole else []
        loss = _epoch(problems, optimizer, config, generator, labelled)
        if not math.isfinite(loss):
            raise LearningError(
                f"the loss became {loss} in epoch {epoch} of attempt {number}; lower the learning rate "
                f"(of the grounder {config.learning_rate:g}, of the machine {MACHINE_LEARNING_RATE:g})"
            )
        losses.append(loss)
        if cools and done < COOLING:
            continue
        # A smaller improvement counts as none.
        since = 0 if loss < best * (1 - 1e-3) else since + 1
        if loss < best:
            # The loss of one whole batch is that before its step; the mean of mini-batches comes down to that after.
            best, kept = loss, before if whole else _copies(parameters)
        if loss <= target_for(config, parts) / 2:
            stopped = "target reached"
            break
        if since >= config.patience:
            stopped = "no more improvement"
            break
    with torch.no_grad():
        train_batches = [problem.train for problem in problems]
        last = float(_loss(problems, train_batches, config, labelled)) if whole else math.inf
        if kept is not None and not last < best:
            for parameter, value in zip(parameters, kept, strict=True):
                parameter.copy_(value)
    for model in models:
        model.eval()
    train = likelihood_loss(problems, train_batches)
    held_out = likelihood_loss(problems, [problem.held_out for problem in problems])
    return Attempt(number, tuple(losses), train, held_out, stopped, time.perf_counter() - started)


def scatter(model: NeuralRewardMachine, batch: EpisodeBatch, config: FitConfig, generator: torch.Generator) -> None:
    """Move a fresh grounder towards random letters for the observations, until it leans to them clearly."""
    size = model.machine.alphabet.size
    chosen = model.reading.sample(batch, generator)
    # Past 62 propositions the others are false in all random letters.
    drawn = torch.randint(min(size, 1 << MAX_BITS), (len(chosen.observations),), generator=generator)
    wanted = drawn.to(batch.lengths.device)[chosen.seen[chosen.mask]]
    ((parameters, rate),) = _prepare([model], ("grounding",), config)
    optimizer = torch.optim.Adam(parameters, lr=rate)
    for _ in range(100):
        loss = _cross_entropy(model, model.ground_batch(chosen, check=False), wanted)
        # It leans to the random letters, and can still be led elsewhere.
        if float(loss.detach()) < 0.4 * math.log(size):
            break
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def likelihood_loss(problems: Sequence[LearningProblem], batches: Sequence[EpisodeBatch]) -> float:
    """Minus the log-likelihood a step, of one batch per problem."""
    total = 0.0
    with torch.no_grad():
        for problem, batch in zip(problems, batches, strict=True):
            total += float(sequence(problem.model, batch, problem.model.said_batch(batch)))
    return total / len(problems)


def temperature_at(done: float) -> float:
    """The temperature when a share `done` of the epochs is over: geometric from 1 to 0.1."""
    return float(0.1 ** min(done / COOLING, 1.0))


def _prepare(
    models: Sequence[NeuralRewardMachine], parts: tuple[Learnable, ...], config: FitConfig
) -> list[tuple[list[nn.Parameter], float]]:
    """The parameters to learn, with step sizes. A grounder that is learned trains (dropout is on), a known one acts."""
    grounder = models[0].grounder.train("grounding" in parts)
    grounding = [value for value in grounder.parameters() if value.requires_grad] if "grounding" in parts else []
    machine = [getattr(model.machine, part) for model in models for part in parts if part != "grounding"]
    groups = [(grounding, config.learning_rate), (machine, MACHINE_LEARNING_RATE)]
    return [group for group in groups if group[0]]


def _copies(parameters: Sequence[Tensor]) -> list[Tensor]:
    return [parameter.detach().clone() for parameter in parameters]


def _epoch(
    problems: Sequence[LearningProblem],
    optimizer: torch.optim.Optimizer,
    config: FitConfig,
    generator: torch.Generator,
    labelled: Labelled | None,
) -> float:
    """One pass over the episodes; the mean loss of its steps."""
    passes = [problem.mini_batches(generator) if problem.mini_batches else [problem.train] for problem in problems]
    losses = []
    for place in range(max(len(batches) for batches in passes)):
        optimizer.zero_grad(set_to_none=True)
        loss = _loss(problems, [batches[place % len(batches)] for batches in passes], config, labelled)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(float(loss.detach()))
    return sum(losses) / len(losses)


def _loss(
    problems: Sequence[LearningProblem], batches: Sequence[EpisodeBatch], config: FitConfig, labelled: Labelled | None
) -> Tensor:
    """The objective's mean over the problems, on one batch each, and what the labelled observations add to it."""
    loss = torch.zeros((), device=problems[0].model.machine.levels.device)
    for problem, batch in zip(problems, batches, strict=True):
        model = problem.model
        symbols = model.ground_batch(batch, check=False)
        symbols = model.distribution.smoothed(symbols, SMOOTHING)
        loss = loss + OBJECTIVES[config.objective](model, batch, symbols) / len(problems)
    if labelled is not None:
        loss = loss + labelled.weight * labelled_loss(problems[0].model, labelled)
    return loss


def labelled_loss(model: NeuralRewardMachine, labelled: Labelled) -> Tensor:
    """The cross-entropy of the letters that are known."""
    return _cross_entropy(model, model.ground(labelled.observations, check=False), labelled.letters)


def _cross_entropy(model: NeuralRewardMachine, symbols: Tensor, letters: Tensor) -> Tensor:
    """Of letters (n,) under what the grounder says (n, symbols)."""
    said = model.distribution
    return -said.share(said.smoothed(symbols, SMOOTHING), letters).log().mean()


def sequence(model: NeuralRewardMachine, batch: EpisodeBatch, symbols: Tensor) -> Tensor:
    """Minus the log-likelihood of the whole reward sequences, in nats a step."""
    total, _ = model.batch_log_likelihood(batch, symbols)
    return -total.sum() / batch.steps


def marginal(model: NeuralRewardMachine, batch: EpisodeBatch, symbols: Tensor) -> Tensor:
    """The paper's loss: cross-entropy of each step's potential under the open-loop belief, in nats a step."""
    rewards = model.batch_rewards(batch, symbols)
    seen = rewards.gather(-1, batch.levels.unsqueeze(-1)).squeeze(-1)
    # A potential of probability 0 would have no finite logarithm.
    logs = seen.clamp_min(float(torch.finfo(seen.dtype).tiny)).log()
    return -torch.where(batch.mask, logs, 0.0).sum() / batch.steps


OBJECTIVES: dict[Objective, Callable[[NeuralRewardMachine, EpisodeBatch, Tensor], Tensor]] = {
    "sequence": sequence,
    "marginal": marginal,
}
"""The objectives by name; the first is the default."""
