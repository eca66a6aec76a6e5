"""Expectation-maximisation where observations are few: the grounder is a table, and the M-step a division.

Restarts run side by side, first on a few episodes, the best on all; then a network learns the best table. A recurrent
grounder learns a table of windows: the explanation that needs the least memory is wanted, so windows of one observation
come first, then of two.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nrm.neural.config import Attempt, Reason
from nrm.neural.descent import Labelled, LearningProblem
from nrm.neural.em.steps import SMOOTHING, Distiller, expected_letters, finish, redraw, taught
from nrm.neural.episodes import EpisodeBatch, ObservationTable
from nrm.neural.model import NeuralRewardMachine


def table_suits(batch: EpisodeBatch) -> bool:
    """Whether observations are so few, and met so often, that each can have a row."""
    rows = len(batch.observations)
    # What is met once can only be recognised by what it looks like.
    return rows <= 4096 and batch.steps >= 4.0 * rows


class Tables:
    """Tables (restarts, rows, symbols) for the observations of some episodes, and EM on them."""

    def __init__(self, model: NeuralRewardMachine, batch: EpisodeBatch, labelled: Labelled | None = None) -> None:
        self.model, self.said = model, model.distribution
        table, device = ObservationTable(), batch.lengths.device
        rows = table.numbers(batch.observations)
        self.labels: tuple[Tensor, Tensor, Tensor] | None = None
        if labelled is not None:
            numbers = table.numbers(labelled.observations)
            weight = batch.steps / len(numbers)
            known = self.said.of_letters(labelled.letters)
            self.labels = numbers, weight * known, torch.full((len(numbers),), weight, device=device)
        self.observations = torch.from_numpy(table[:]).to(device)
        self.batch = batch._replace(observations=self.observations, seen=rows[batch.seen])
        made = torch.bincount(self.batch.seen[batch.mask], minlength=len(table))
        self.occurrences = made.float()

    def improved(self, tables: Tensor, share: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Tables after one iteration on a share of the episodes, and how likely they made these before, a step."""
        restarts, rows, _ = tables.shape
        batch = _drafted(self.batch, share, generator)
        found = expected_letters(self.model, _repeated(batch, restarts, rows), tables.flatten(0, 1))
        counts, likelihood = found.counts.view_as(tables), found.log_likelihood.view(restarts, -1).sum(1)
        total = self.said.total(counts, found.occurrences.view(restarts, -1)[0])
        if self.labels is not None:
            numbers, labels, weights = self.labels
            counts = counts.index_add(1, numbers, labels.expand(restarts, -1, -1))
            total = total + tables.new_zeros(rows).index_add(0, numbers, weights)[None, :, None]
        shares = torch.where(total > 0, counts / total.clamp_min(1e-12), tables)
        return self.said.smoothed(shares, SMOOTHING), likelihood / batch.steps

    def begun(self, restarts: int, first: Tensor | None, generator: torch.Generator) -> Tensor:
        """Fresh tables; the first may be what a grounder says now."""
        logits = 2.0 * torch.randn(restarts, len(self.observations), self.said.outputs, generator=generator)
        tables = self.said.probabilities(logits).to(self.occurrences.device)
        if first is not None:
            tables[0] = first
        return self.said.smoothed(tables, SMOOTHING)

    def best(
        self, restarts: int, present: Tensor | None, enough: float, generator: torch.Generator
    ) -> tuple[Tensor, tuple[float, ...]]:
        """The best table (rows, symbols) of some restarts, and minus the likelihood a step of the best, by iteration.

        `present`: what a grounder says now, which the first restart begins with.
        """
        now = self.begun(restarts, present, generator)
        losses: list[float] = []
        drafted = []
        for _ in range(15):
            now, likelihood = self.improved(now, 0.1, generator)
            drafted.append(likelihood)
            losses.append(-float(likelihood.max()))
            if max(losses[-2:]) <= enough and len(losses) > 1:
                break
        # The best few go on. A few drafts tell which these are; all episodes would cost as much as all drafts together.
        lately = torch.stack(drafted[-4:]).mean(0)
        now = now[lately.topk(-(-restarts // 4)).indices]
        last = 6
        for iteration in range(last + 1):
            after, likelihood = self.improved(now, 1.0, generator)
            losses.append(-float(likelihood.max()))
            if losses[-1] <= enough or iteration == last:
                break
            now = after
        return now[int(likelihood.argmax())], tuple(losses)


def table_attempts(problem: LearningProblem) -> Iterator[Attempt]:
    """Rounds of restarts until one explains the episodes, then the grounder learns the best; an attempt a round.

    None where observations are many.
    """
    model, config, target = problem.model, problem.config, problem.target
    if not table_suits(problem.everything):
        return
    generator = torch.Generator().manual_seed(config.seed)
    tables = Tables(model, problem.everything, problem.labelled)
    present: Tensor | None = model.eval().said(tables.observations)
    untaught = problem.losses()
    # Restarts of one batch: their chains have at most so many numbers.
    most = max(1, 20_000_000 // model.machine.cells(problem.everything))
    best, least = torch.empty(0), math.inf
    done, size = 0, 4
    while done < config.restarts:
        started = time.perf_counter()
        size = min(size, config.restarts - done, most)
        found, losses = tables.best(size, present, target / 2, generator)
        done += size
        if losses[-1] < least:
            best, least = found, losses[-1]
        train, held_out = untaught  # a table that explains little is no reason to teach a network
        if losses[-1] <= target or done >= config.restarts:
            train, held_out = _teach(problem, tables, best, generator)
        stopped: Reason = "target reached" if max(train, held_out) <= target else "no more improvement"
        yield Attempt(done - size, losses, train, held_out, stopped, time.perf_counter() - started, size)
        size, present = 2 * size, None


def _teach(problem: LearningProblem, tables: Tables, table: Tensor, generator: torch.Generator) -> tuple[float, float]:
    """Let the grounder learn a table; minus the likelihood a step that it comes to, of train and held-out episodes."""
    model, observations = problem.model, tables.observations
    sharp = tables.said.sharpened(table, SMOOTHING)
    weights = tables.occurrences.clamp_min(1.0).sqrt()  # what is rare must be learned too
    # What is so sure of something else unlearns it slower than a fresh grounder learns.
    if float(tables.said.divergence(model.said(observations), sharp).max()) > 8.0:
        redraw(model.grounder)

    def teach(distiller: Distiller, part: int, parts: int) -> bool:
        if part:
            distiller.teach(observations, sharp, weights, 10)
        return finish(model.eval(), observations, sharp) or part >= min(6, parts)

    return taught(problem, problem.config.learning_rate, generator, teach)


def _drafted(batch: EpisodeBatch, share: float, generator: torch.Generator) -> EpisodeBatch:
    """Some of the episodes, drawn evenly, cut to the longest of them."""
    count = len(batch.lengths)
    wanted = max(8, math.ceil(share * count))
    if share >= 1 or wanted >= count:
        return batch
    chosen = torch.randperm(count, generator=generator)[:wanted].to(batch.seen.device)
    return batch.rows(chosen, int(batch.lengths[chosen].max()))


def _repeated(batch: EpisodeBatch, restarts: int, rows: int) -> EpisodeBatch:
    """The episodes once for each restart, with row numbers into the restarts' tables one after the other."""
    offsets = rows * torch.arange(restarts, device=batch.seen.device).repeat_interleave(len(batch.lengths))
    every = torch.arange(len(batch.lengths), device=batch.seen.device).repeat(restarts)
    repeated = batch.rows(every, batch.seen.shape[1])
    return repeated._replace(seen=repeated.seen + offsets[:, None])


class _Found(NamedTuple):
    """The best table of windows of one length."""

    length: int
    tables: Tables
    table: Tensor
    losses: tuple[float, ...]
    restarts: int

    @property
    def loss(self) -> float:
        """Minus the likelihood a step."""
        return self.losses[-1]

    def criterion(self, steps: int) -> float:
        """Schwarz's criterion, in nats: minus the likelihood, and a price for each number that was chosen."""
        rows, symbols = self.table.shape
        return self.loss * steps + 0.5 * rows * (symbols - 1) * math.log(steps)


def window_attempts(problem: LearningProblem) -> Iterator[Attempt]:
    """One attempt that teaches the grounder the shortest windows that explain the episodes; none where none helps."""
    started, generator = time.perf_counter(), torch.Generator().manual_seed(problem.config.seed)
    present, target = problem.loss(problem.everything), problem.target
    numbers = ObservationTable()
    found = _shortest(problem, numbers.numbers(problem.everything.observations), generator)
    if found is None or found.loss > max(target, 0.9 * present):
        return
    wanted = _wanted(found, problem.train, numbers.numbers(problem.train.observations))

    def teach(distiller: Distiller, part: int, parts: int) -> bool:  # noqa: ARG001
        if part:
            distiller.teach_episodes(problem.train, wanted, 4)
        return part > 0

    # Steps through time add up, so they are smaller.
    losses = taught(problem, problem.config.learning_rate / 3.0, generator, teach)
    stopped: Reason = "target reached" if max(losses) <= target else "epoch limit reached"
    yield Attempt(0, found.losses, *losses, stopped, time.perf_counter() - started, found.restarts)


def _shortest(problem: LearningProblem, rows: Tensor, generator: torch.Generator) -> _Found | None:
    """The first table that explains the episodes; where none does, that of the best length by Schwarz's criterion.

    rows: (observations,) the number of each.
    """
    model, batch = problem.model.eval(), problem.everything
    plain = NeuralRewardMachine(nn.Identity(), model.machine, model.emission)
    said = model.said_batch(batch)
    best: _Found | None = None
    for length in range(1, 6):
        windowed = _windowed(batch, rows, length)
        if not table_suits(windowed):
            break
        tables = Tables(plain, windowed)
        # What the grounder says of each window now, in the mean.
        total = torch.zeros(len(tables.observations), tables.said.outputs, device=said.device)
        total.index_add_(0, tables.batch.seen[batch.mask], said.to(total.dtype))
        found = _search(problem, length, tables, total / tables.occurrences[:, None], generator)
        if best is None or found.criterion(batch.steps) < best.criterion(batch.steps):
            best = found
        if found.loss <= problem.target:
            return found
    return best


def _search(
    problem: LearningProblem, length: int, tables: Tables, present: Tensor, generator: torch.Generator
) -> _Found:
    """Rounds of restarts, the first from what the grounder says at present."""
    best: _Found | None = None
    done = 0
    for size in (4, 8):  # restarts side by side
        size = min(size, problem.config.restarts - done)
        if size < 1 or (best is not None and best.loss <= problem.target):
            break
        table, losses = tables.best(size, None if done else present, problem.target / 2, generator)
        done += size
        if best is None or losses[-1] < best.loss:
            best = _Found(length, tables, table, losses, done)
    assert best is not None
    return best._replace(restarts=done)


def windows(seen: Tensor, length: int) -> Tensor:
    """(batch, time, length) what was seen (batch, time) at each step and before it; -1 before the beginning."""
    before = torch.full((len(seen), length - 1), -1, dtype=seen.dtype, device=seen.device)
    return torch.cat([before, seen], 1).unfold(1, length, 1)


def _windowed(batch: EpisodeBatch, rows: Tensor, length: int) -> EpisodeBatch:
    """The same episodes with windows as observations: numbers of observations (length,)."""
    mask = batch.mask
    distinct, places = torch.unique(windows(rows[batch.seen], length)[mask], dim=0, return_inverse=True)
    seen = torch.zeros_like(batch.seen)
    seen[mask] = places
    return batch._replace(observations=distinct, seen=seen)


def _wanted(found: _Found, batch: EpisodeBatch, rows: Tensor) -> Tensor:
    """(steps, symbols) what a table says of each step of a batch whose observations have the numbers `rows`."""
    known = {tuple(window): row for row, window in enumerate(found.tables.observations.tolist())}
    made = windows(rows[batch.seen], found.length)[batch.mask].tolist()
    sharp = found.tables.said.sharpened(found.table, SMOOTHING)
    return sharp[[known[tuple(window)] for window in made]]
