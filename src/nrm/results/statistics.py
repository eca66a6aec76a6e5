"""What a handful of runs says, and how sure one can be of it.

Mean and deviation as the paper shows them, and the measures of Agarwal et al., "Deep Reinforcement Learning at the Edge
of the Statistical Precipice" (2021): interquartile mean, probability of improvement and performance profiles, with
stratified bootstrap intervals. Scores come as *strata*: one array of runs for each task. Where every task has equally
many runs this is what the package `rliable` computes; here tasks may differ in their number of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nrm.errors import StatisticsError

Values = np.ndarray[Any, np.dtype[np.float64]]
Strata = Sequence[Values]
"""The scores of one method: an array of runs for each task."""


@dataclass(frozen=True)
class Spread:
    """A mean, and the deviation around it."""

    mean: float
    deviation: float
    """Of the population (divided by n): the paper's tables come out this way."""

    @classmethod
    def of(cls, values: Sequence[float] | Values) -> Spread:
        """Mean and deviation of some values."""
        (checked,) = _checked([np.asarray(values, dtype=np.float64)])
        return cls(float(checked.mean()), float(checked.std()))


@dataclass(frozen=True)
class Interval:
    """An estimate and its 95 % bootstrap interval: numbers, or arrays with intervals point by point."""

    estimate: Any
    low: Any
    high: Any

    @classmethod
    def of(cls, estimate: Any, samples: Values) -> Interval:
        """The percentile interval along the first axis of what resamples gave."""
        low, high = np.percentile(samples, [2.5, 97.5], axis=0)
        return cls(estimate, low, high) if np.ndim(low) else cls(float(estimate), float(low), float(high))


def interquartile_mean(scores: Values) -> Any:
    """The mean of the middle half of the last axis: a quarter of the runs, rounded down, is cut at either end."""
    count = scores.shape[-1]
    cut = count // 4
    return np.sort(scores, axis=-1)[..., cut : count - cut].mean(axis=-1)


def bootstrap(
    strata: Strata, statistic: Callable[[Values], Any], generator: np.random.Generator, resamples: int = 10_000
) -> Interval:
    """Any statistic of all runs, `(..., runs) -> (...)`, with its stratified bootstrap interval."""
    pooled = np.concatenate(_checked(strata))
    return Interval.of(statistic(pooled), statistic(_resampled(strata, generator, resamples)))


def iqm(strata: Strata, generator: np.random.Generator, resamples: int = 10_000) -> Interval:
    """The interquartile mean over the runs of all tasks, with its interval."""
    return bootstrap(strata, interquartile_mean, generator, resamples)


def probability_of_improvement(
    ours: Strata, theirs: Strata, generator: np.random.Generator, resamples: int = 2000
) -> Interval:
    """The probability that a run of ours scores more than one of theirs on the same task; ties count half.

    The mean over tasks of the Mann-Whitney U statistic over the number of pairs. Either side's runs are resampled on
    their own.
    """
    if len(_checked(ours)) != len(_checked(theirs)):
        raise StatisticsError(f"both sides must have the same tasks, but they have {len(ours)} and {len(theirs)}")
    pairs = list(zip(ours, theirs, strict=True))
    drawn = [[_resampled([runs], generator, resamples) for runs in pair] for pair in pairs]
    won = np.mean([_wins(x, y) for x, y in pairs])
    return Interval.of(won, np.mean([_wins(x, y) for x, y in drawn], axis=0))


def performance_profile(
    strata: Strata, thresholds: Values, generator: np.random.Generator, resamples: int = 2000
) -> Interval:
    """At each threshold the share of runs, over all tasks, that score strictly more, with pointwise intervals."""
    return bootstrap(strata, lambda runs: (runs[..., None] > thresholds).mean(axis=-2), generator, resamples)


def moving_mean(values: Values, window: int = 100) -> Values:
    """(..., n - window + 1) means of `window` neighbours along the last axis; one mean of all where there are fewer."""
    window = min(window, values.shape[-1])
    sums = np.cumsum(np.concatenate([np.zeros((*values.shape[:-1], 1)), values], axis=-1), axis=-1)
    means: Values = (sums[..., window:] - sums[..., :-window]) / window
    return means


def _resampled(strata: Strata, generator: np.random.Generator, resamples: int) -> Values:
    """(resamples, runs) sampled with replacement within each task."""
    parts = [runs[generator.integers(len(runs), size=(resamples, len(runs)))] for runs in strata]
    return np.concatenate(parts, axis=1)


def _wins(ours: Values, theirs: Values) -> Any:
    """The share of pairs along the last axes that ours win; ties count half."""
    difference = ours[..., :, None] - theirs[..., None, :]
    return ((np.sign(difference) + 1) / 2).mean(axis=(-2, -1))


def _checked(strata: Strata) -> Strata:
    if not len(strata):
        raise StatisticsError("there are no runs to summarise")
    for task, runs in enumerate(strata):
        if runs.ndim != 1 or not len(runs):
            raise StatisticsError(f"the scores of task {task} are no list of runs: shape {runs.shape}")
        if not np.isfinite(runs).all():
            raise StatisticsError(f"the scores of task {task} are not all numbers: {runs}")
    return strata
