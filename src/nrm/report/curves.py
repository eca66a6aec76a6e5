"""The numbers and curves of a group of runs, small enough for a page."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from nrm.aliases import FloatArray, Json
from nrm.report.groups import Group
from nrm.results import Record
from nrm.results.results import LAST
from nrm.results.statistics import Spread, iqm

POINTS = 200
"""Most points of a curve."""
_MEASURES = {"return": 1, "success": 3, "length": 1}
"""Columns of metrics.csv that are shown, and the decimals that are kept."""
_GROUNDING = {"plain": "accuracy", "modulo": "accuracy_modulo_shortcuts"}


def summary(group: Group) -> Json:
    """What a group reached: mean and standard deviation over its counted runs."""
    runs = group.counted
    return {
        "seeds": [record.seed for record in group.records],
        "finished": sum(record.done for record in group.records),
        "counted": len(runs),
        "episodes": max(len(record.returns) for record in runs),
        "last": spread(record.last_return(LAST) for record in runs),
        "iqm": _interval([record.last_return(LAST) for record in runs]),
        "area": spread(float(record.returns.mean()) for record in runs),
        "plain": spread(_final(record, "plain") for record in runs),
        "modulo": spread(_final(record, "modulo") for record in runs),
        "cpu": spread(record.cpu_seconds for record in runs),
    }


def curves(group: Group) -> Json:
    """Each counted run, binned: the mean of every `size` episodes, so that a long run keeps its shape."""
    size = max(1, math.ceil(max(record.config.episodes for record in group.records) / POINTS))
    return {"size": size, "runs": [_run(record, size) for record in group.counted]}


def spread(values: Iterable[float | None]) -> list[float] | None:
    """[mean, standard deviation] over runs; None unless every run has a finite value."""
    numbers = list(values)
    known = [number for number in numbers if number is not None and math.isfinite(number)]
    if not known or len(known) < len(numbers):
        return None
    found = Spread.of(np.array(known))
    return [round(found.mean, 4), round(found.deviation, 4)]


def finite(values: FloatArray, decimals: int) -> list[float | None]:
    """Rounded numbers for JSON, which has no NaN."""
    return [round(value, decimals) if math.isfinite(value) else None for value in values.tolist()]


def _run(record: Record, size: int) -> Json:
    shown: Json = {"seed": record.seed, "done": record.done}
    starts = np.arange(0, len(record.returns), size)
    counts = np.diff([*starts, len(record.returns)])
    for name, decimals in _MEASURES.items():
        if name in record.metrics:
            shown[name] = finite(np.add.reduceat(record.metrics[name], starts) / counts, decimals)
    if record.grounding is not None and len(record.grounding["episode"]):
        ends = starts + counts
        # Accuracy is known after bursts of learning only; in between the grounder stays what it is.
        rows = np.searchsorted(record.grounding["episode"], ends, side="right") - 1
        for name, column in _GROUNDING.items():
            shown[name] = finite(record.grounding[column][np.maximum(rows, 0)], 4)
    return shown


def _interval(scores: list[float]) -> list[float] | None:
    """[interquartile mean, low, high] as in results.csv; None where a score is no number."""
    if not all(map(math.isfinite, scores)):
        return None
    found = iqm([np.array(scores)], np.random.default_rng(0))
    return [round(number, 4) for number in (found.estimate, found.low, found.high)]


def _final(record: Record, name: str) -> float | None:
    if record.grounding is None or not len(record.grounding["episode"]):
        return None
    return float(record.grounding[_GROUNDING[name]][-1])
