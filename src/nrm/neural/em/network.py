"""Expectation-maximisation where observations are without end: the M-step is supervised learning of the grounder."""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nrm.neural.config import Attempt, FitConfig, Reason
from nrm.neural.descent import Labelled, LearningProblem, likelihood_loss
from nrm.neural.em.distillation import Distiller, evidence_loss
from nrm.neural.em.expectation import Expectation, evidence, expected_letters, informative, posterior
from nrm.neural.emission import PropositionDistribution
from nrm.neural.episodes import EpisodeBatch
from nrm.neural.patches import DistinctPatches

PASSES = 2
"""Passes over the observations in an M-step."""
ALLOWED_PASSES = 3
"""The same where any letter that the rewards allow will do: that does not move while it is learned."""
SMOOTHING = 1e-3
"""Ignorance mixed into what the grounder says before posteriors are taken: nothing is ever ruled out for good."""


def network_attempt(
    problems: Sequence[LearningProblem],
    config: FitConfig,
    number: int,
    labelled: Labelled | None,
    target: float,
    generator: torch.Generator,
) -> Attempt:
    """Iterate until held-out episodes are explained, or no longer explained better; the best grounder is kept."""
    started = time.perf_counter()
    grounder = problems[0].model.grounder
    many = sum(len(problem.train.observations) for problem in problems)
    pretrain_attention(grounder, [problem.train for problem in problems], generator)
    if labelled is None:
        problems = on_patches(problems)
    model = problems[0].model
    # What is learned moves while it is learned: smaller steps than the configured ones.
    distiller = Distiller(model, config.learning_rate / 3.0, generator, many)
    held_out = likelihood_loss(problems, [problem.held_out for problem in problems])
    best, since, kept = held_out, 0, copy.deepcopy(grounder.state_dict())
    losses: list[float] = []
    # Propositions are weighed one by one, and recurrent grounders learn from whole episodes: both from posteriors.
    allowed = config.maximisation == "evidence" and not (
        model.recurrent or isinstance(model.distribution, PropositionDistribution)
    )
    stopped: Reason = "all epochs done"
    iterations = max(1, config.epochs // 20)
    for iteration in range(iterations):
        if allowed:
            # Borders that are nearly right are lost again by long steps, and found by ever shorter ones.
            distiller.pace = 1 - iteration / iterations
        found = [_evidence(problem, generator) if allowed else _posteriors(problem) for problem in problems]
        losses.append(sum(loss for _, loss in found) / len(found))
        lessons = [lesson for lesson, _ in found]
        if not model.recurrent:
            lessons += [] if labelled is None else [_known(problems, labelled)]
            observations, wanted, weights = (torch.cat(parts) for parts in zip(*lessons, strict=True))
            distiller.teach(observations, wanted, weights, ALLOWED_PASSES if allowed else PASSES, allowed)
        else:  # an observation says little by itself, so mini-batches are of episodes
            told = [(problem.train, lesson.wanted) for problem, lesson in zip(problems, lessons, strict=True)]
            distiller.teach_episodes(told, PASSES)
        held_out = likelihood_loss(problems, [problem.held_out for problem in problems])
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
    train = likelihood_loss(problems, [problem.train for problem in problems])
    return Attempt(number, tuple(losses), train, best, stopped, time.perf_counter() - started)


class _Lesson(NamedTuple):
    """What should be said about what; of a recurrent grounder, `wanted` and `weights` go by the steps of episodes."""

    observations: Tensor
    wanted: Tensor
    weights: Tensor


def _posteriors(problem: LearningProblem) -> tuple[_Lesson, float]:
    """The posteriors of a problem's observations, and minus the likelihood a step before anything is learned."""
    model, batch = problem.model, problem.train
    symbols, found = _expected(problem)
    wanted = posterior(model, found, symbols)
    return _Lesson(batch.observations, wanted, found.occurrences), _loss(found, batch)


def _evidence(problem: LearningProblem, generator: torch.Generator) -> tuple[_Lesson, float]:
    """The same with the evidence for each letter in place of the posteriors, at those observations that tell most."""
    batch = problem.train
    symbols, found = _expected(problem)
    wanted = evidence(found, symbols)
    rows, counts = informative(evidence_loss(symbols, wanted), generator)
    return _Lesson(batch.observations[rows], wanted[rows], found.occurrences[rows] * counts), _loss(found, batch)


def _expected(problem: LearningProblem) -> tuple[Tensor, Expectation]:
    """What the grounder says of a problem's observations, smoothed, and which letters are then to be expected."""
    model, batch = problem.model, problem.train
    symbols = model.distribution.smoothed(model.said_batch(batch), SMOOTHING)
    return symbols, expected_letters(model, batch, symbols)


def _loss(found: Expectation, batch: EpisodeBatch) -> float:
    return -float(found.log_likelihood.sum()) / batch.steps


def _known(problems: Sequence[LearningProblem], labelled: Labelled) -> _Lesson:
    """The labelled observations, which count as much as all steps together."""
    steps = sum(problem.train.steps for problem in problems)
    rows = labelled.observations.to(problems[0].train.observations.dtype)
    weights = torch.full((len(rows),), labelled.weight * steps / len(rows), device=rows.device)
    return _Lesson(rows, problems[0].model.distribution.of_letters(labelled.letters), weights)


SEEN = 0.05
"""Nats that may be missed of what moves: nothing more is to be learned then."""


def pretrain_attention(grounder: nn.Module, batches: Sequence[EpisodeBatch], generator: torch.Generator) -> None:
    """Teach a grounder that attends to places where things move; one that does not, or knows it, stays as it is.

    Such grounders have a method `attention_loss(before, after)` of successive observations.
    """
    miss = getattr(grounder, "attention_loss", None)
    if miss is None:
        return
    seen = [(batch, *_successive(batch)) for batch in batches]
    seen = [(batch, first, then) for batch, first, then in seen if len(first)]
    if not seen:
        return
    parameters = [value for value in grounder.parameters() if value.requires_grad]
    optimizer = torch.optim.Adam(parameters, lr=3e-3)
    for step in range(100):
        batch, first, then = seen[step % len(seen)]
        chosen = torch.randint(len(first), (64,), generator=generator).to(first.device)
        loss = miss(batch.observations[first[chosen]], batch.observations[then[chosen]])
        if not loss.requires_grad or float(loss.detach()) <= SEEN:
            return
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


def _successive(batch: EpisodeBatch) -> tuple[torch.Tensor, torch.Tensor]:
    """(pairs,) each: observations, by number, and those that followed them in their episodes."""
    real = batch.mask[:, 1:]
    return batch.seen[:, :-1][real], batch.seen[:, 1:][real]


class PatchedGrounder(nn.Module):
    """A grounder that is told the numbers of patches (n, places) in place of images; its parameters are the same."""

    def __init__(self, grounder: nn.Module, patches: DistinctPatches) -> None:
        super().__init__()
        self.grounder = grounder
        self._patches = patches

    def forward(self, numbers: Tensor) -> Tensor:
        """(n, symbols) probabilities."""
        result: Tensor = self.grounder(self._patches._replace(numbers=numbers))
        return result


def on_patches(problems: Sequence[LearningProblem]) -> Sequence[LearningProblem]:
    """The same problems with images as numbers of patches, where the grounder can read these and they are few."""
    grounder = problems[0].model.grounder
    distinct = getattr(grounder, "distinct", None)
    if distinct is None:
        return problems
    batches = [batch for problem in problems for batch in (problem.train, problem.held_out)]
    patches = distinct(torch.cat([batch.observations for batch in batches]))
    if patches is None:
        return problems
    told = PatchedGrounder(grounder, patches)
    numbers = iter(torch.split(patches.numbers, [len(batch.observations) for batch in batches]))
    return [
        replace(
            problem,
            model=problem.model.with_grounder(told),
            train=problem.train._replace(observations=next(numbers)),
            held_out=problem.held_out._replace(observations=next(numbers)),
        )
        for problem in problems
    ]
