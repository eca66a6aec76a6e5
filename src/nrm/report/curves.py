"""The numbers and curves of a group of runs, small enough for a page."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nrm.aliases import FloatArray, Json
from nrm.results import Record, Scores
from nrm.results.statistics import Spread

POINTS = 200
"""Most points of a curve."""
_MEASURES = {"return": 1, "success": 3, "length": 1}
"""Columns of metrics.csv that are shown, and the decimals that are kept."""
_GROUNDING = {"plain": "accuracy", "modulo": "accuracy_modulo_shortcuts"}


def summary(runs: Sequence[Record]) -> Json:
    """What some runs reached: [mean, standard deviation] of each score, None where it is unknown."""
    scores = Scores.of(runs)
    plain, _, modulo = scores.accuracies
    interval = scores.iqm
    return {
        "counted": len(runs),
        "episodes": max(len(record.returns) for record in runs),
        "last": _pair(scores.last),
        "iqm": [round(number, 4) for number in (interval.estimate, interval.low, interval.high)],
        "area": _pair(scores.area),
        "plain": _pair(plain),
        "modulo": _pair(modulo),
        "cpu": _pair(scores.cpu_seconds),
    }


def curves(runs: Sequence[Record]) -> Json:
    """Each run, binned: the mean of every `size` episodes, so that a long run keeps its shape."""
    size = max(1, math.ceil(max(record.config.episodes for record in runs) / POINTS))
    return {"size": size, "runs": [_run(record, size) for record in runs]}


def _run(record: Record, size: int) -> Json:
    shown: Json = {"seed": record.seed, "done": record.done}
    starts = np.arange(0, len(record.returns), size)
    counts = np.diff([*starts, len(record.returns)])
    for name, decimals in _MEASURES.items():
        shown[name] = _rounded(np.add.reduceat(record.metrics[name], starts) / counts, decimals)
    if record.grounding is not None and len(record.grounding["episode"]):
        for name, column in _GROUNDING.items():
            values = record.accuracy_at(column, starts + counts)
            if np.isfinite(values).any():
                shown[name] = _rounded(values, 4)
    return shown


def _rounded(values: FloatArray, decimals: int) -> list[float | None]:
    """Numbers for JSON, which has no NaN."""
    return [round(value, decimals) if math.isfinite(value) else None for value in values.tolist()]


def _pair(spread: Spread | None) -> list[float] | None:
    return None if spread is None else [round(spread.mean, 4), round(spread.deviation, 4)]
