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

RESAMPLES = 10_000
"""Bootstrap resamples behind an interval."""
CONFIDENCE = 0.95


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
    """An estimate and its bootstrap confidence interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Profile:
    """A performance profile: (thresholds,) the share of runs that score more than each threshold."""

    share: Values
    low: Values
    """(thresholds,) lower ends of the pointwise intervals."""
    high: Values


def interquartile_mean(scores: Values) -> Any:
    """The mean of the middle half of the last axis: a quarter of the runs, rounded down, is cut at either end."""
    count = scores.shape[-1]
    cut = count // 4
    return np.sort(scores, axis=-1)[..., cut : count - cut].mean(axis=-1)


def iqm(strata: Strata, generator: np.random.Generator, resamples: int = RESAMPLES) -> Interval:
    """The interquartile mean over the runs of all tasks, with its interval."""
    return bootstrap(strata, interquartile_mean, generator, resamples)


def improvement(ours: Strata, theirs: Strata) -> float:
    """The probability that a run of ours scores more than one of theirs on the same task; ties count half.

    The mean over tasks of the Mann-Whitney U statistic over the number of pairs.
    """
    _checked(ours), _checked(theirs)
    if len(ours) != len(theirs):
        raise StatisticsError(f"both sides must have the same tasks, but they have {len(ours)} and {len(theirs)}")
    return float(np.mean([_wins(x, y) for x, y in zip(ours, theirs, strict=True)]))


def probability_of_improvement(
    ours: Strata, theirs: Strata, generator: np.random.Generator, resamples: int = 2000
) -> Interval:
    """The probability of improvement with its interval; either side's runs are resampled on their own."""
    estimate = improvement(ours, theirs)
    samples = np.zeros(resamples)
    for x, y in zip(ours, theirs, strict=True):
        samples += _wins(_resampled([x], generator, resamples), _resampled([y], generator, resamples))
    low, high = _interval(samples / len(ours))
    return Interval(estimate, float(low), float(high))


def performance_profile(
    strata: Strata, thresholds: Values, generator: np.random.Generator, resamples: int = 2000
) -> Profile:
    """At each threshold the share of runs, over all tasks, that score strictly more, with pointwise intervals."""
    pooled = np.concatenate(_checked(strata))
    share = (pooled[:, None] > thresholds).mean(axis=0)
    samples = np.sort(_resampled(strata, generator, resamples), axis=1)
    above = np.stack([samples.shape[1] - np.searchsorted(row, thresholds, side="right") for row in samples])
    low, high = _interval(above / samples.shape[1])
    return Profile(share, low, high)


def bootstrap(
    strata: Strata, statistic: Callable[[Values], Any], generator: np.random.Generator, resamples: int = RESAMPLES
) -> Interval:
    """Any statistic of all runs, `(..., runs) -> (...)`, with its stratified bootstrap interval."""
    pooled = np.concatenate(_checked(strata))
    low, high = _interval(np.asarray(statistic(_resampled(strata, generator, resamples))))
    return Interval(float(statistic(pooled)), float(low), float(high))


def moving_mean(values: Values, window: int = 100) -> Values:
    """(..., n - window + 1) means of `window` neighbours along the last axis; one mean of all where there are fewer."""
    window = min(window, values.shape[-1])
    sums = np.cumsum(np.concatenate([np.zeros((*values.shape[:-1], 1)), values], axis=-1), axis=-1)
    means: Values = (sums[..., window:] - sums[..., :-window]) / window
    return means


def _resampled(strata: Strata, generator: np.random.Generator, resamples: int) -> Values:
    """(resamples, runs) runs drawn anew, with replacement, within each task."""
    parts = [runs[generator.integers(len(runs), size=(resamples, len(runs)))] for runs in strata]
    return np.concatenate(parts, axis=1)


def _interval(samples: Values) -> tuple[Any, Any]:
    """The percentile interval along the first axis."""
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(samples, [tail, 100 - tail], axis=0)
    return low, high


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
            run = int(np.flatnonzero(~np.isfinite(runs))[0])
            raise StatisticsError(f"the score of run {run} of task {task} is {runs[run]}, not a number")
    return strata
