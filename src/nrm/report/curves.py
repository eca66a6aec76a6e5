"""The numbers and curves of a group of runs, small enough for a page."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nrm.aliases import FloatArray, Json
from nrm.results import Record, Scores, Spread


def summary(runs: Sequence[Record]) -> Json:
    """What some runs reached: [mean, standard deviation] of each score, None where it is unknown."""
    scores = Scores.of(runs)
    plain, _, modulo = scores.accuracies
    interval = scores.iqm
    return {
        "counted": len(runs),
        "episodes": max(len(record.returns) for record in runs),
        "success": round(scores.success, 4),
        "right_from": [record.right_from for record in runs],
        "last": _pair(scores.last),
        "iqm": [round(number, 4) for number in (interval.estimate, interval.low, interval.high)],
        "area": _pair(scores.area),
        "plain": _pair(plain),
        "modulo": _pair(modulo),
        "cpu": _pair(scores.cpu_seconds),
    }


def curves(runs: Sequence[Record]) -> Json:
    """Each run in at most 200 bins, so that a long run keeps its shape: means over every `size` episodes, or steps.

    Over steps where a run counts these, or where it had many tasks, whose episodes differ in length.
    """
    unit = "steps" if any(record.config.unit == "steps" or record.task is None for record in runs) else "episodes"
    reached = max(_places(record, unit)[-1] for record in runs)
    amount = max(record.config.amount if record.config.unit == unit else reached for record in runs)
    size = max(1, math.ceil(amount / 200))
    return {"unit": unit, "size": size, "length": int(reached), "runs": [_run(record, unit, size) for record in runs]}


def _places(record: Record, unit: str) -> FloatArray:
    """(episodes,) how many episodes, or steps, were done when each episode was."""
    return record.metrics["steps" if unit == "steps" else "episode"]


def _run(record: Record, unit: str, size: int) -> Json:
    shown: Json = {"seed": record.seed, "done": record.done}
    # An episode counts where it ended; with 8 episodes in bins of 5, the bins end at 5 and at 10.
    bins = ((_places(record, unit) - 1) // size).astype(np.int64)
    counts = np.bincount(bins)
    for name, decimals in (("return", 1), ("success", 3), ("length", 1)):
        with np.errstate(invalid="ignore"):
            shown[name] = _rounded(np.bincount(bins, record.metrics[name]) / counts, decimals)
    if record.grounding is not None and len(record.grounding["episode"]):
        for name, column in (("plain", "accuracy"), ("modulo", "accuracy_modulo_shortcuts")):
            values = record.accuracy_at(column, counts.cumsum())
            if np.isfinite(values).any():
                shown[name] = _rounded(values, 4)
    return shown


def _rounded(values: FloatArray, decimals: int) -> list[float | None]:
    """Numbers for JSON, which has no NaN."""
    return [round(value, decimals) if math.isfinite(value) else None for value in values.tolist()]


def _pair(spread: Spread | None) -> list[float] | None:
    return None if spread is None else [round(spread.mean, 4), round(spread.deviation, 4)]
