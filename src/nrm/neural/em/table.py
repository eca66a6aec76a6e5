"""Expectation-maximisation where observations are few: the grounder is a table, and the M-step a division.

Restarts run side by side, first on a few episodes, the best on all; then a network learns the best table.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from nrm.neural.config import Attempt, FitConfig, Reason
from nrm.neural.descent import Labelled, LearningProblem, likelihood_loss
from nrm.neural.em.distillation import Distiller, finish, redraw
from nrm.neural.em.expectation import expected_letters
from nrm.neural.episodes import EpisodeBatch, FrameTable

DRAFTS, FULL = 15, 6
"""Iterations on drafted episodes, and on all of them."""
SMOOTHING = 1e-3
"""Ignorance mixed into a table, which keeps every possible episode possible."""
LESSONS = 2
"""How often a network tries to learn a table, from fresh parameters after the first time."""
BETWEEN_CHECKS = 10
"""Passes over the rows of a table between two looks at what the network has become."""
MAX_CELLS = 20_000_000
"""Most numbers in the chains of one batch of restarts."""


def table_suits(problems: Sequence[LearningProblem]) -> bool:
    """Whether observations are so few, and met so often, that each can have a row; not for recurrent grounders."""
    if problems[0].model.recurrent:
        return False
    rows = sum(len(problem.everything.observations) for problem in problems)
    steps = sum(problem.everything.steps for problem in problems)
    # What is met once can only be told by what it looks like.
    return rows <= 4096 and steps >= 4.0 * rows


class Tables:
    """Tables (restarts, rows, symbols) for the observations of some problems, and EM on them."""

    def __init__(self, problems: Sequence[LearningProblem], labelled: Labelled | None) -> None:
        self.problems = problems
        self.said = problems[0].model.distribution
        table, device = FrameTable(), problems[0].everything.lengths.device
        # Row numbers of each problem's observations: equal observations share a row, also across tasks.
        self.rows = [table.numbers(problem.everything.observations) for problem in problems]
        self.labels: tuple[Tensor, Tensor, Tensor] | None = None
        if labelled is not None:
            numbers = table.numbers(labelled.observations)
            steps = sum(problem.everything.steps for problem in problems)
            weight = labelled.weight * steps / len(numbers)
            known = self.said.of_letters(labelled.letters)
            self.labels = numbers, weight * known, torch.full((len(numbers),), weight, device=device)
        self.observations = torch.from_numpy(table[:]).to(device)
        self.symbols = self.said.outputs
        self.occurrences = torch.zeros(len(self.observations), device=device)
        for problem, numbers in zip(problems, self.rows, strict=True):
            batch = problem.everything
            made = torch.bincount(batch.seen[batch.mask], minlength=len(numbers)).float()
            self.occurrences.index_add_(0, numbers, made)

    def improved(self, tables: Tensor, share: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Tables after one iteration on a share of the episodes, and how likely they made these before, a step."""
        restarts, rows, _ = tables.shape
        counts, seen = torch.zeros_like(tables), tables.new_zeros(rows)
        likelihood, steps = tables.new_zeros(restarts), 0
        for problem, numbers in zip(self.problems, self.rows, strict=True):
            batch = _drafted(problem.everything, share, generator)
            said = tables[:, numbers]
            side_by_side = _repeated(batch, restarts, said.shape[1])
            found = expected_letters(problem.model, side_by_side, said.flatten(0, 1))
            counts.index_add_(1, numbers, found.counts.view(said.shape))
            seen.index_add_(0, numbers, found.occurrences.view(restarts, -1)[0])
            likelihood += found.log_likelihood.view(restarts, -1).sum(1)
            steps += batch.steps
        total = self.said.total(counts, seen)
        if self.labels is not None:
            numbers, labels, weights = self.labels
            counts = counts.index_add(1, numbers, labels.expand(restarts, -1, -1))
            total = total + tables.new_zeros(rows).index_add(0, numbers, weights)[None, :, None]
        shares = torch.where(total > 0, counts / total.clamp_min(1e-12), tables)
        return self.said.smoothed(shares, SMOOTHING), likelihood / steps

    def begun(self, restarts: int, first: Tensor | None, generator: torch.Generator) -> Tensor:
        """Fresh tables; the first may be what a grounder says now."""
        logits = 2.0 * torch.randn(restarts, len(self.observations), self.symbols, generator=generator)
        tables = self.said.probabilities(logits).to(self.occurrences.device)
        if first is not None:
            tables[0] = first
        return self.said.smoothed(tables, SMOOTHING)


def table_attempts(
    problems: Sequence[LearningProblem], config: FitConfig, labelled: Labelled | None, target: float
) -> Iterator[Attempt]:
    """Rounds of restarts until one explains the episodes, then the grounder learns the best; an attempt a round."""
    model = problems[0].model
    generator = torch.Generator().manual_seed(config.seed)
    tables = Tables(problems, labelled)
    with torch.no_grad():
        present: Tensor | None = model.eval().said(tables.observations)
    untaught = _losses(problems)
    best, least = torch.empty(0), math.inf
    done, size = 0, 4
    while done < config.restarts:
        started = time.perf_counter()
        size = min(size, config.restarts - done, _most_restarts(problems))
        found, losses = best_table(tables, size, present, target / 2, generator)
        done += size
        if losses[-1] < least:
            best, least = found, losses[-1]
        train, held_out = untaught  # a table that explains little is no reason to teach a network
        if losses[-1] <= target or done >= config.restarts:
            train, held_out = _teach(problems, tables, best, config, target, generator)
        stopped: Reason = "target reached" if max(train, held_out) <= target else "no more improvement"
        yield Attempt(done - size, losses, train, held_out, stopped, time.perf_counter() - started, size)
        size, present = 2 * size, None


def best_table(
    tables: Tables, restarts: int, present: Tensor | None, enough: float, generator: torch.Generator
) -> tuple[Tensor, tuple[float, ...]]:
    """The best table (rows, symbols) of some restarts, and minus the likelihood a step of the best, by iteration."""
    now = tables.begun(restarts, present, generator)
    losses: list[float] = []
    drafted = []
    for _ in range(DRAFTS):
        now, likelihood = tables.improved(now, 0.1, generator)
        drafted.append(likelihood)
        losses.append(-float(likelihood.max()))
        if max(losses[-2:]) <= enough and len(losses) > 1:
            break
    # The best few go on. A few drafts tell which these are; all episodes would cost as much as all drafts together.
    lately = torch.stack(drafted[-4:]).mean(0)
    now = now[lately.topk(-(-restarts // 4)).indices]
    for iteration in range(FULL + 1):
        after, likelihood = tables.improved(now, 1.0, generator)
        losses.append(-float(likelihood.max()))
        if losses[-1] <= enough or iteration == FULL:
            break
        now = after
    return now[int(likelihood.argmax())], tuple(losses)


def _teach(
    problems: Sequence[LearningProblem],
    tables: Tables,
    table: Tensor,
    config: FitConfig,
    target: float,
    generator: torch.Generator,
) -> tuple[float, float]:
    """Let the grounder learn a table; minus the likelihood a step that it comes to, of train and held-out episodes."""
    model = problems[0].model
    sharp = tables.said.sharpened(table, SMOOTHING)
    weights = tables.occurrences.clamp_min(1.0).sqrt()  # what is rare must be learned too
    observations = tables.observations
    # What is so sure of something else unlearns it slower than a fresh grounder learns.
    if float(tables.said.divergence(model.said(observations), sharp).max()) > 8.0:
        redraw(model.grounder)
    losses = math.inf, math.inf
    for lesson in range(LESSONS):
        if lesson:
            redraw(model.grounder)
        distiller = Distiller(model, config.learning_rate, generator)
        parts = -(-config.epochs // (LESSONS * BETWEEN_CHECKS))
        for part in range(parts + 1):
            if part:
                distiller.teach(observations, sharp, weights, BETWEEN_CHECKS)
            finished = finish(model.eval(), observations, sharp)
            if not finished and part < min(6, parts):
                continue
            losses = _losses(problems)
            if max(losses) <= 0.75 * target:
                return losses
    return losses


def _losses(problems: Sequence[LearningProblem]) -> tuple[float, float]:
    """Minus the likelihood a step, of episodes learned from and held out, by the grounder as it is."""
    batches = zip(*((problem.train, problem.held_out) for problem in problems), strict=True)
    train, held_out = (likelihood_loss(problems, each) for each in batches)
    return train, held_out


def _drafted(batch: EpisodeBatch, share: float, generator: torch.Generator) -> EpisodeBatch:
    """Some of the episodes, drawn evenly, cut to the longest of them."""
    count = len(batch.lengths)
    wanted = max(8, math.ceil(share * count))
    if share >= 1 or wanted >= count:
        return batch
    chosen = torch.randperm(count, generator=generator)[:wanted].to(batch.seen.device)
    longest = int(batch.lengths[chosen].max())
    return EpisodeBatch(
        batch.observations,
        batch.seen[chosen, :longest],
        batch.levels[chosen, :longest],
        batch.lengths[chosen],
        None if batch.tasks is None else batch.tasks[chosen],
    )


def _repeated(batch: EpisodeBatch, restarts: int, rows: int) -> EpisodeBatch:
    """The episodes once for each restart, with row numbers into the restarts' tables one after the other."""
    offsets = rows * torch.arange(restarts, device=batch.seen.device).repeat_interleave(len(batch.lengths))
    return EpisodeBatch(
        batch.observations,
        batch.seen.repeat(restarts, 1) + offsets[:, None],
        batch.levels.repeat(restarts, 1),
        batch.lengths.repeat(restarts),
        None if batch.tasks is None else batch.tasks.repeat(restarts),
    )


def _most_restarts(problems: Sequence[LearningProblem]) -> int:
    """How many restarts fit into one batch."""
    return max(1, MAX_CELLS // max(problem.model.machine.cells(problem.everything) for problem in problems))
