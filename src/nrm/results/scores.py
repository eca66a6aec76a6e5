"""What some runs reached."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nrm.results.records import ACCURACIES, Record
from nrm.results.statistics import Interval, Spread, iqm

LAST = 100
"""Episodes at the end of a run whose mean return is the run's score."""


@dataclass(frozen=True)
class Scores:
    """The numbers of a group of runs: means and deviations over runs."""

    last: Spread
    """Mean return of the last episodes."""
    last_worst: float
    """The same of the worst run."""
    iqm: Interval
    """The same as interquartile mean over runs, with its 95 % bootstrap interval."""
    area: Spread
    """Mean return over all episodes: the area under the learning curve, per episode."""
    success: float
    """Share of the last episodes that succeeded."""
    accuracies: tuple[Spread | None, Spread | None, Spread | None]
    """The grounder's accuracy at the end: plain, balanced, modulo shortcuts. None where no run knows it."""
    cpu_seconds: Spread | None
    """The cost of a run; None where no run knows it."""

    @classmethod
    def of(cls, runs: Sequence[Record], last: int = LAST, seed: int = 0) -> Scores:
        """The scores of some runs, of which each has episodes. `seed`: of the bootstrap."""
        returns = np.array([run.last_return(last) for run in runs])
        plain, balanced, modulo = (_known(run.last_accuracy(name) for run in runs) for name in ACCURACIES)
        return cls(
            last=Spread.of(returns),
            last_worst=float(returns.min()),
            iqm=iqm([returns], np.random.default_rng(seed)),
            area=Spread.of([float(run.returns.mean()) for run in runs]),
            success=float(np.mean([run.metrics["success"][-last:].mean() for run in runs])),
            accuracies=(plain, balanced, modulo),
            cpu_seconds=_known(run.cpu_seconds for run in runs),
        )


def _known(values: Iterable[float | None]) -> Spread | None:
    """Mean and deviation over the runs that know a value."""
    known = [value for value in values if value is not None]
    return Spread.of(known) if known else None
