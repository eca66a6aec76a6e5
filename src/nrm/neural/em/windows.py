"""Expectation-maximisation for recurrent grounders where observations are few: tables of short windows teach them.

The explanation that needs the least memory is wanted, so windows of one observation come first, then of two.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nrm.neural.config import Attempt, FitConfig, Reason
from nrm.neural.descent import LearningProblem, likelihood_loss
from nrm.neural.em.distillation import Distiller, redraw
from nrm.neural.em.table import BETWEEN_CHECKS, LESSONS, SMOOTHING, Tables, best_table, table_suits
from nrm.neural.episodes import EpisodeBatch, FrameTable
from nrm.neural.model import NeuralRewardMachine


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


def window_attempts(
    problems: Sequence[LearningProblem], config: FitConfig, target: float, generator: torch.Generator
) -> Iterator[Attempt]:
    """One attempt that teaches the grounder the shortest windows that explain the episodes; none where none helps."""
    started = time.perf_counter()
    present = likelihood_loss(problems, [problem.everything for problem in problems])
    found = _shortest(problems, config, target, generator)
    if found is None or found.loss > max(target, 0.9 * present):
        return
    train, held_out = _teach(problems, found, config, target, generator)
    stopped: Reason = "target reached" if max(train, held_out) <= target else "all epochs done"
    yield Attempt(0, found.losses, train, held_out, stopped, time.perf_counter() - started, found.restarts)


def _shortest(
    problems: Sequence[LearningProblem], config: FitConfig, target: float, generator: torch.Generator
) -> _Found | None:
    """The first table that explains the episodes; where none does, that of the best length by Schwarz's criterion."""
    numbers = FrameTable()
    rows = [numbers.numbers(problem.everything.observations) for problem in problems]
    said = [problem.model.eval().said_batch(problem.everything) for problem in problems]
    steps = sum(problem.everything.steps for problem in problems)
    best: _Found | None = None
    for length in range(1, 6):
        windowed = [_windowed(*pair, length) for pair in zip(problems, rows, strict=True)]
        if not table_suits(windowed):
            break
        tables = Tables(windowed, None)
        found = _search(length, tables, _present(tables, windowed, said), config, target, generator)
        if best is None or found.criterion(steps) < best.criterion(steps):
            best = found
        if found.loss <= target:
            return found
    return best


def _search(
    length: int, tables: Tables, present: Tensor, config: FitConfig, target: float, generator: torch.Generator
) -> _Found:
    """Rounds of restarts, the first from what the grounder says at present."""
    best: _Found | None = None
    done = 0
    for size in (4, 8):  # restarts side by side
        size = min(size, config.restarts - done)
        if size < 1 or (best is not None and best.loss <= target):
            break
        table, losses = best_table(tables, size, None if done else present, target / 2, generator)
        done += size
        if best is None or losses[-1] < best.loss:
            best = _Found(length, tables, table, losses, done)
    assert best is not None
    return best._replace(restarts=done)


def windows(seen: Tensor, length: int) -> Tensor:
    """(batch, time, length) what was seen (batch, time) at each step and before it; -1 before the beginning."""
    before = torch.full((len(seen), length - 1), -1, dtype=seen.dtype, device=seen.device)
    return torch.cat([before, seen], 1).unfold(1, length, 1)


def _windowed(problem: LearningProblem, rows: Tensor, length: int) -> LearningProblem:
    """The same problem for a plain grounder that sees windows: numbers of observations (length,)."""
    batch = problem.everything
    mask = batch.mask
    distinct, places = torch.unique(windows(rows[batch.seen], length)[mask], dim=0, return_inverse=True)
    seen = torch.zeros_like(batch.seen)
    seen[mask] = places
    model = problem.model
    plain = NeuralRewardMachine(nn.Identity(), model.machine, model.emission)
    everything = EpisodeBatch(distinct, seen, batch.levels, batch.lengths)
    return LearningProblem(plain, everything, everything, everything, None)


def _present(tables: Tables, windowed: Sequence[LearningProblem], said: Sequence[Tensor]) -> Tensor:
    """(rows, symbols) what the grounder says of each window now, in the mean."""
    total = torch.zeros(len(tables.observations), tables.symbols, device=tables.occurrences.device)
    for problem, rows, now in zip(windowed, tables.rows, said, strict=True):
        batch = problem.everything
        total.index_add_(0, rows[batch.seen[batch.mask]], now.to(total.dtype))
    return total / tables.occurrences[:, None]


def _wanted(found: _Found, batch: EpisodeBatch, rows: Tensor) -> Tensor:
    """(steps, symbols) what a table says of each step of a batch whose observations have the numbers `rows`."""
    known = {tuple(window): row for row, window in enumerate(found.tables.observations.tolist())}
    made = windows(rows[batch.seen], found.length)[batch.mask].tolist()
    sharp = found.tables.said.sharpened(found.table, SMOOTHING)
    return sharp[[known[tuple(window)] for window in made]]


def _teach(
    problems: Sequence[LearningProblem],
    found: _Found,
    config: FitConfig,
    target: float,
    generator: torch.Generator,
) -> tuple[float, float]:
    """Let the grounder learn what windows say; minus the likelihood a step, of episodes learned from and held out."""
    model, numbers = problems[0].model, FrameTable()
    for problem in problems:  # in the same order as before, so that numbers are the same
        numbers.numbers(problem.everything.observations)
    learned = [numbers.numbers(problem.train.observations) for problem in problems]
    lessons = [
        (problem.train, _wanted(found, problem.train, rows)) for problem, rows in zip(problems, learned, strict=True)
    ]
    train = held_out = float("inf")
    for lesson in range(LESSONS):
        if lesson:
            redraw(model.grounder)
        # Steps through time add up, so they are smaller.
        distiller = Distiller(model, config.learning_rate / 3.0, generator)
        for _ in range(-(-config.epochs // (LESSONS * BETWEEN_CHECKS))):
            distiller.teach_episodes(lessons, 4)
            train = likelihood_loss(problems, [problem.train for problem in problems])
            held_out = likelihood_loss(problems, [problem.held_out for problem in problems])
            if max(train, held_out) <= 0.75 * target:
                return train, held_out
    return train, held_out
