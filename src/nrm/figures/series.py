"""Finished runs in the shape that figures need: by environment and task, one series for each method and variant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nrm.errors import StatisticsError, counted
from nrm.figures.style import Look, further_look
from nrm.results import ACCURACIES, Group, Record, Values, group_runs, method_named, method_order, moving_mean

POINTS = 250
"""Most points of a curve: more look the same in print, and make a vector file large."""


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

    def split(self, env: str) -> tuple[list[Group], list[Group]]:
        """The same of runs on one task, and of runs on many, which are drawn over steps."""
        tasks = self.tasks_in(env)
        return [task for task in tasks if not task.many], [task for task in tasks if task.many]

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


def learning_curve(runs: Sequence[Record], window: int) -> Curve:
    """The moving mean of returns: mean and deviation over runs, as far as the shortest run goes."""
    length = min(len(run.returns) for run in runs)
    smooth = moving_mean(np.stack([run.returns[:length] for run in runs]), window)
    places = _places(smooth.shape[1])
    return Curve.over(places.astype(np.float64) + min(window, length), smooth[:, places])


def success_curve(runs: Sequence[Record], window: int) -> Curve:
    """The moving mean of successes over steps: mean and deviation over runs, as far as the shortest run goes."""
    smooth = [moving_mean(run.metrics["success"], window) for run in runs]
    ends = [run.metrics["steps"][len(run.returns) - len(line) :] for run, line in zip(runs, smooth, strict=True)]
    start, end = max(float(steps[0]) for steps in ends), min(float(steps[-1]) for steps in ends)
    at: Values = np.linspace(start, end, POINTS) if end > start else np.array([end])
    lines = np.stack([np.interp(at, steps, line) for steps, line in zip(ends, smooth, strict=True)])
    return Curve.over(at, lines, (0, 1))


def class_curve(curves: Sequence[Curve]) -> Curve:
    """Several tasks as one: the mean of their means, and the root mean square of their deviations over seeds."""
    end = min(curve.at[-1] for curve in curves)
    start = max(curve.at[0] for curve in curves)
    longest = max(len(curve.at) for curve in curves)
    episodes: Values = np.linspace(start, end, longest) if end > start else np.array([end])
    means = np.stack([np.interp(episodes, curve.at, curve.mean) for curve in curves])
    deviations = np.stack([np.interp(episodes, curve.at, curve.deviation) for curve in curves])
    runs = sum(curve.runs for curve in curves)
    return Curve(episodes, means.mean(0), np.sqrt((deviations**2).mean(0)), runs)


def grounding_curves(runs: Sequence[Record]) -> dict[str, Curve]:
    """Each accuracy over episodes; of runs on many tasks over steps."""
    known = [run for run in runs if run.grounding is not None and len(run.grounding["episode"])]
    if not known:
        return {}
    many = known[0].task is None
    end = min(int(run.metrics["steps"][-1]) if many else len(run.returns) for run in known)
    at = _places(end + 1).astype(np.float64)
    curves = {}
    for name in ACCURACIES:
        done = [np.searchsorted(run.metrics["steps"], at, side="right") if many else at for run in known]
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


def _places(length: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """At most `POINTS` places along an axis, its first and its last among them."""
    return np.unique(np.linspace(0, length - 1, min(POINTS, length)).round().astype(np.int64))


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
