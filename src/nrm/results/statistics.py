"""What a handful of runs says, and how sure one can be of it.

Mean and deviation as the paper shows them, and the interquartile mean of Agarwal et al., "Deep Reinforcement Learning
at the Edge of the Statistical Precipice" (2021), with a stratified bootstrap interval. Scores come as *strata*: one
array of runs for each task. Where every task has equally many runs this is what the package `rliable` computes; here
tasks may differ in their number of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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


class Interval(NamedTuple):
    """An estimate and its 95 % bootstrap interval."""

    estimate: float
    low: float
    high: float


def interquartile_mean(scores: Values) -> Any:
    """The mean of the middle half of the last axis: a quarter of the runs, rounded down, is cut at either end."""
    count = scores.shape[-1]
    cut = count // 4
    return np.sort(scores, axis=-1)[..., cut : count - cut].mean(axis=-1)


def bootstrap(
    strata: Strata, statistic: Callable[[Values], Any], generator: np.random.Generator, resamples: int = 10_000
) -> Interval:
    """A statistic of all runs, `(..., runs) -> (...)`; each task's runs are resampled on their own."""
    pooled = np.concatenate(_checked(strata))
    low, high = np.percentile(statistic(_resampled(strata, generator, resamples)), [2.5, 97.5])
    return Interval(float(statistic(pooled)), float(low), float(high))


def iqm(strata: Strata, generator: np.random.Generator, resamples: int = 10_000) -> Interval:
    """The interquartile mean over the runs of all tasks, with its interval."""
    return bootstrap(strata, interquartile_mean, generator, resamples)


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


def _checked(strata: Strata) -> Strata:
    if not len(strata):
        raise StatisticsError("there are no runs to summarise")
    for task, runs in enumerate(strata):
        if runs.ndim != 1 or not len(runs):
            raise StatisticsError(f"the scores of task {task} are no list of runs: shape {runs.shape}")
        if not np.isfinite(runs).all():
            raise StatisticsError(f"the scores of task {task} are not all numbers: {runs}")
    return strata
