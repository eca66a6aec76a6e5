"""Expectation-maximisation where observations cannot be enumerated: the M-step teaches the grounder."""

from __future__ import annotations

import copy
import time
from dataclasses import replace

import torch
from torch import Tensor, nn

from nrm.neural.config import Attempt, Reason
from nrm.neural.descent import LearningProblem, take_step
from nrm.neural.em.steps import (
    SMOOTHING,
    Distiller,
    Expectation,
    evidence,
    evidence_loss,
    expected_letters,
    informative,
    posterior,
)
from nrm.neural.episodes import EpisodeBatch
from nrm.neural.layers import DistinctPatches
from nrm.neural.model import NeuralRewardMachine


def network_attempt(problem: LearningProblem, number: int, generator: torch.Generator) -> Attempt:
    """Iterate until held-out episodes are explained, or no longer explained better; the best grounder is kept."""
    started = time.perf_counter()
    config, target, grounder = problem.config, problem.target, problem.model.grounder
    pretrain_attention(grounder, problem.train, generator)
    if problem.labelled is None:
        problem = on_patches(problem)
    model = problem.model
    # What is learned moves while it is learned: smaller steps than the configured ones.
    distiller = Distiller(model, config.learning_rate / 3.0, generator, len(problem.train.observations))
    best, since, kept = problem.loss(problem.held_out), 0, copy.deepcopy(grounder.state_dict())
    losses: list[float] = []
    iterate = model.reading.pick(_by_observation, _by_episode)
    stopped: Reason = "epoch limit reached"
    iterations = max(1, config.epochs // 20)
    for iteration in range(iterations):
        losses.append(iterate(problem, distiller, iteration / iterations, generator))
        held_out = problem.loss(problem.held_out)
        since = 0 if held_out < best * (1 - 0.01) else since + 1
        if held_out < best:
            best, kept = held_out, copy.deepcopy(grounder.state_dict())
        if max(held_out, losses[-1]) <= target / 2:
            stopped = "target reached"
            break
        if since >= 5:
            stopped = "no more improvement"
            break
    grounder.load_state_dict(kept)
    model.eval()
    seconds, each = time.perf_counter() - started, config.epochs // iterations
    return Attempt(number, tuple(losses), problem.loss(problem.train), best, stopped, seconds, epochs_each=each)


def _expected(problem: LearningProblem) -> tuple[Tensor, Expectation, float]:
    """The E-step: what the grounder says, what follows from it, and minus the likelihood a step."""
    model, batch = problem.model, problem.train
    symbols = model.distribution.smoothed(model.said_batch(batch), SMOOTHING)
    found = expected_letters(model, batch, symbols)
    return symbols, found, -float(found.log_likelihood.sum()) / batch.steps


def _by_episode(problem: LearningProblem, distiller: Distiller, done: float, generator: torch.Generator) -> float:  # noqa: ARG001
    """One iteration for a recurrent grounder; minus the likelihood a step before anything is learned."""
    symbols, found, loss = _expected(problem)
    # An observation says little by itself, so mini-batches are of episodes.
    distiller.teach_episodes(problem.train, posterior(problem.model, found, symbols), 2)
    return loss


def _by_observation(problem: LearningProblem, distiller: Distiller, done: float, generator: torch.Generator) -> float:
    """One iteration for a grounder of single observations; `done`: the share of all that were done.

    By `evidence` what is learned is not the posterior, but any letter that the rewards allow, at the observations that
    tell most. Propositions are weighed one by one, and learned from posteriors.
    """
    model, batch = problem.model, problem.train
    symbols, found, loss = _expected(problem)
    allowed = problem.config.maximisation == "evidence" and not model.distribution.independent
    wanted = evidence(found, symbols) if allowed else posterior(model, found, symbols)
    observations, weights = batch.observations, found.occurrences
    if allowed:
        # Borders that are nearly right are lost again by long steps, and found by ever shorter ones.
        distiller.pace = 1 - done
        rows, counts = informative(evidence_loss(symbols, wanted), generator)
        observations, wanted, weights = observations[rows], wanted[rows], weights[rows] * counts
    if problem.labelled is not None:
        # The labelled observations count as much as all steps together.
        known = problem.labelled.observations.to(observations.dtype)
        of_known = torch.full((len(known),), batch.steps / len(known), device=known.device)
        wanted = torch.cat([wanted, model.distribution.of_letters(problem.labelled.letters)])
        observations, weights = torch.cat([observations, known]), torch.cat([weights, of_known])
    # What the rewards allow does not move while it is learned, so more passes over it pay.
    distiller.teach(observations, wanted, weights, 3 if allowed else 2, allowed)
    return loss


def pretrain_attention(grounder: nn.Module, batch: EpisodeBatch, generator: torch.Generator) -> None:
    """Teach a grounder that attends to places where things move; one that does not, or knows it, stays as it is.

    Such grounders have a method `attention_loss(before, after)` of successive observations.
    """
    miss = getattr(grounder, "attention_loss", None)
    real = batch.mask[:, 1:]
    first, then = batch.seen[:, :-1][real], batch.seen[:, 1:][real]
    if miss is None or not len(first):
        return
    parameters = [value for value in grounder.parameters() if value.requires_grad]
    optimizer = torch.optim.Adam(parameters, lr=3e-3)
    for _ in range(100):
        chosen = torch.randint(len(first), (64,), generator=generator).to(first.device)
        loss = miss(batch.observations[first[chosen]], batch.observations[then[chosen]])
        # Where less is missed of what moves, nothing more is to be learned.
        if not loss.requires_grad or float(loss.detach()) <= 0.05:
            return
        take_step(optimizer, loss)


class PatchedGrounder(nn.Module):
    """A grounder that reads the numbers of patches (n, places) in place of images; its parameters are the same."""

    def __init__(self, grounder: nn.Module, patches: DistinctPatches) -> None:
        super().__init__()
        self.grounder = grounder
        self._patches = patches

    def forward(self, numbers: Tensor) -> Tensor:
        """(n, symbols) probabilities."""
        result: Tensor = self.grounder(self._patches._replace(numbers=numbers))
        return result


def on_patches(problem: LearningProblem) -> LearningProblem:
    """The same problem with images as numbers of patches, where the grounder can read these and they are few."""
    model, batches = problem.model, (problem.train, problem.held_out)
    distinct = getattr(model.grounder, "distinct", None)
    patches = None if distinct is None else distinct(torch.cat([batch.observations for batch in batches]))
    if patches is None:
        return problem
    numbers = torch.split(patches.numbers, [len(batch.observations) for batch in batches])
    train, held_out = (batch._replace(observations=rows) for batch, rows in zip(batches, numbers, strict=True))
    patched = NeuralRewardMachine(PatchedGrounder(model.grounder, patches), model.machine, model.emission)
    return replace(problem, model=patched, train=train, held_out=held_out)
