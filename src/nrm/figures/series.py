"""Finished runs in the shape that figures need: by environment and task, one series for each method and variant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nrm.errors import StatisticsError, counted
from nrm.figures.style import Look, further_look
from nrm.results import ACCURACIES, Group, Record, Values, group_runs, method_named, method_order, moving_mean

POINTS = 250
"""Most points of a curve: more look the same in print, and make a vector file large."""


class Axis(NamedTuple):
    """What curves are drawn along."""

    column: str
    """Of metrics.csv."""
    name: str
    shown: str
    """The column that is drawn along it."""
    bounds: tuple[float, float]
    """Between which all its values are."""
    files: str
    """What the names of figures begin with."""


AXES = (
    Axis("episode", "episode", "return", (-np.inf, np.inf), "tasks"),
    Axis("steps", "step", "success", (0, 1), "families"),
)
"""Of one task in every episode, and of many, whose episodes differ in length."""


@dataclass(frozen=True)
class Series:
    """A method, with or without a change of configuration."""

    method: str
    variant: str
    label: str
    look: Look


@dataclass(frozen=True)
class Curve:
    """A mean over runs along episodes, or steps, and the deviation around it."""

    at: Values
    """(points,) how many of them were done."""
    mean: Values
    deviation: Values
    runs: int
    bounds: tuple[float, float] = (-np.inf, np.inf)
    """Between which all values are."""

    @classmethod
    def over(cls, at: Values, rows: Values, bounds: tuple[float, float] = (-np.inf, np.inf)) -> Curve:
        """Mean and deviation of rows (runs, points)."""
        return cls(at, rows.mean(0), rows.std(0), len(rows), bounds)


@dataclass(frozen=True)
class Runs:
    """The finished runs of a grid, whole or in part."""

    groups: tuple[Group, ...]
    """In reading order, each with a finished run."""
    series: tuple[Series, ...]
    unfinished: int
    """How many runs are left out."""

    @property
    def envs(self) -> list[str]:
        """The environments that any run is in."""
        return list(dict.fromkeys(group.env for group in self.groups))

    def tasks_in(self, env: str) -> list[Group]:
        """A group for each task that any series ran on in an environment."""
        return list({group.task: group for group in reversed(self.groups) if group.env == env}.values())[::-1]

    def by_axis(self, env: str) -> list[tuple[Axis, list[Group]]]:
        """The same by what they are drawn along, as far as there are any."""
        found = [(axis, [task for task in self.tasks_in(env) if task.about.axis == axis.column]) for axis in AXES]
        return [(axis, tasks) for axis, tasks in found if tasks]

    def of(self, task: Group, series: Series) -> tuple[Record, ...]:
        """The runs of a series on a task, in the environment of that group; perhaps none."""
        wanted = (task.env, task.task, series.method, series.variant)
        found = (one for one in self.groups if (one.env, one.task, one.method, one.variant) == wanted)
        return next((group.finished for group in found), ())

    @property
    def window(self) -> int:
        """Episodes of the moving means: 100 (paper, "Other Details"), or a quarter of the shortest run."""
        shortest = min(len(run.returns) for group in self.groups for run in group.finished)
        return max(1, min(100, shortest // 4))

    @property
    def looks(self) -> list[tuple[str, Look]]:
        """What a legend says."""
        return [(series.label, series.look) for series in self.series]

    @property
    def left_out(self) -> str:
        """What to say about the runs that are left out."""
        return f"{counted(self.unfinished, 'unfinished run')} left out" if self.unfinished else ""


def collect(records: Iterable[Record]) -> Runs:
    """The finished ones of some runs."""
    groups = group_runs(records).groups
    total = sum(len(group.records) for group in groups)
    if not total:
        raise StatisticsError("there are no runs to draw; train some with 'nrm train' or 'nrm reproduce'")
    finished = sum(len(group.finished) for group in groups)
    if not finished:
        raise StatisticsError(f"nothing to draw: none of the {total} runs is finished")
    drawn = tuple(group for group in groups if group.finished)
    return Runs(drawn, _series(drawn), total - finished)


def learning_curve(runs: Sequence[Record], window: int, axis: Axis = AXES[0]) -> Curve:
    """The moving mean of what is shown along an axis: mean and deviation, as far as the shortest run goes."""
    smooth = [moving_mean(run.metrics[axis.shown], window) for run in runs]
    ends = [run.metrics[axis.column][-len(line) :] for run, line in zip(runs, smooth, strict=True)]
    end = min(float(line[-1]) for line in ends)
    at = _places(min(end, max(float(line[0]) for line in ends)), end)
    lines = np.stack([np.interp(at, steps, line) for steps, line in zip(ends, smooth, strict=True)])
    return Curve.over(at, lines, axis.bounds)


def class_curve(curves: Sequence[Curve]) -> Curve:
    """Several tasks as one: the mean of their means, and the root mean square of their deviations over seeds."""
    end = min(float(curve.at[-1]) for curve in curves)
    episodes = _places(min(end, max(float(curve.at[0]) for curve in curves)), end)
    means = np.stack([np.interp(episodes, curve.at, curve.mean) for curve in curves])
    deviations = np.stack([np.interp(episodes, curve.at, curve.deviation) for curve in curves])
    runs = sum(curve.runs for curve in curves)
    return Curve(episodes, means.mean(0), np.sqrt((deviations**2).mean(0)), runs)


def grounding_curves(runs: Sequence[Record]) -> dict[str, Curve]:
    """Each accuracy along the axis of the runs."""
    known = [run for run in runs if run.grounding is not None and len(run.grounding["episode"])]
    if not known:
        return {}
    along = [run.metrics[run.about.axis] for run in known]
    at = _places(0, min(float(ends[-1]) for ends in along))
    done = [np.searchsorted(ends, at, side="right") for ends in along]
    curves = {}
    for name in ACCURACIES:
        rows = np.stack([run.accuracy_at(name, episodes) for run, episodes in zip(known, done, strict=True)])
        rows = rows[np.isfinite(rows).all(axis=1)]
        if len(rows):
            curves[name] = Curve.over(at, rows, (0, 1))
    return curves


def count_note(counts: Sequence[tuple[str, int]]) -> str:
    """How many runs are behind each of some series: `5 runs each`, or a number for each."""
    if len({count for _, count in counts}) > 1:
        return "runs: " + ", ".join(f"{label} {count}" for label, count in counts)
    return counted(counts[0][1], "run") + (" each" if len(counts) > 1 else "")


def _places(start: float, end: float) -> Values:
    """At most `POINTS` whole numbers along an axis, the first and the last among them."""
    return np.unique(np.linspace(start, end, POINTS).round())


def _series(groups: Sequence[Group]) -> tuple[Series, ...]:
    """The series in the order of variants and methods; methods as such look as they ask for, unless that is taken."""
    pairs = dict.fromkeys((group.variant, group.method) for group in groups)
    ordered = sorted(pairs, key=lambda pair: (pair[0] != "", method_order(pair[1])))
    one_variant = len({variant for variant, _ in pairs}) == 1
    found: list[Series] = []
    further = 0
    for variant, name in ordered:
        method = method_named(name)
        look = Look(method.colour, (0, method.dash) if method.dash else "-", method.marker)
        usual = one_variant or not variant
        if not usual or look in [series.look for series in found]:
            look, further = further_look(further), further + 1
        found.append(Series(name, variant, method.label if usual else f"{method.label} {variant}", look))
    return tuple(found)
