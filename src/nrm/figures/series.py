"""Finished runs in the shape that figures need: by world and task, one series for each method and variant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nrm.errors import StatisticsError
from nrm.figures.style import METHOD_LOOKS, Look, further_look, unique
from nrm.logic import PaperTask
from nrm.results import Record
from nrm.results.results import grouped, paper_task_of
from nrm.results.statistics import Values, moving_mean

POINTS = 250
"""Most points of a curve: more cannot be told apart in print, and make a vector file large."""
WINDOW = 100
"""Episodes of a moving mean (paper, "Other Details")."""
ACCURACIES = ("accuracy", "balanced_accuracy", "accuracy_modulo_shortcuts")


@dataclass(frozen=True)
class Series:
    """A method, with or without a change of configuration."""

    method: str
    variant: str
    label: str
    look: Look


@dataclass(frozen=True)
class Subject:
    """A task as the figures name it."""

    name: str
    title: str
    paper: PaperTask | None


@dataclass(frozen=True)
class Curve:
    """A mean over runs along episodes, and the deviation around it."""

    episodes: Values
    mean: Values
    deviation: Values
    runs: int


@dataclass(frozen=True)
class Runs:
    """The finished runs of a grid, whole or in part."""

    worlds: tuple[str, ...]
    tasks: tuple[Subject, ...]
    series: tuple[Series, ...]
    cells: dict[tuple[str, str, str, str], tuple[Record, ...]]
    """World, task, method and variant of some runs, to the runs."""
    unfinished: int
    """How many runs were left out."""

    def of(self, world: str, task: Subject, series: Series) -> tuple[Record, ...]:
        """The runs of one cell, perhaps none."""
        return self.cells.get((world, task.name, series.method, series.variant), ())

    def tasks_in(self, world: str) -> list[Subject]:
        """The tasks that any series ran on in a world."""
        return [task for task in self.tasks if any(self.of(world, task, series) for series in self.series)]

    @property
    def window(self) -> int:
        """Episodes of the moving means: 100, or a quarter of the shortest run."""
        shortest = min(len(run.returns) for runs in self.cells.values() for run in runs)
        return max(1, min(WINDOW, shortest // 4))

    @property
    def left_out(self) -> str:
        """What to say about the runs that were left out."""
        if not self.unfinished:
            return ""
        return f"{self.unfinished} unfinished {'run' if self.unfinished == 1 else 'runs'} left out"


def collect(records: Iterable[Record]) -> Runs:
    """The finished ones of some runs."""
    everything = list(records)
    finished = [record for record in everything if record.done]
    if not everything:
        raise StatisticsError("there are no runs to draw; train some with 'nrm train' or 'nrm reproduce'")
    if not finished:
        raise StatisticsError(f"nothing to draw: none of the {len(everything)} runs is finished")
    groups = grouped(finished)
    papers: dict[str, PaperTask | None] = {}
    for (_, _, task, _), runs in groups.items():
        if task not in papers:
            papers[task] = paper_task_of(runs[0])
    number = {task: paper.number if paper else 99 for task, paper in papers.items()}
    subjects = tuple(_subject(task, papers[task]) for task in sorted(papers, key=lambda task: (number[task], task)))
    return Runs(
        worlds=tuple(unique(world for world, _, _, _ in groups)),
        tasks=subjects,
        series=_series([(method, variant) for _, variant, _, method in groups]),
        cells={(world, task, method, variant): tuple(runs) for (world, variant, task, method), runs in groups.items()},
        unfinished=len(everything) - len(finished),
    )


def learning_curve(runs: Sequence[Record], window: int) -> Curve:
    """The moving mean of returns: mean and deviation over runs, as far as the shortest run goes."""
    length = min(len(run.returns) for run in runs)
    smooth = moving_mean(np.stack([run.returns[:length] for run in runs]), window)
    places = _places(smooth.shape[1])
    picked = smooth[:, places]
    return Curve(places.astype(np.float64) + min(window, length), picked.mean(0), picked.std(0), len(runs))


def class_curve(curves: Sequence[Curve]) -> Curve:
    """Several tasks as one: the mean of their means, and the root mean square of their deviations over seeds."""
    end = min(curve.episodes[-1] for curve in curves)
    start = max(curve.episodes[0] for curve in curves)
    longest = max(len(curve.episodes) for curve in curves)
    episodes: Values = np.linspace(start, end, longest) if end > start else np.array([end])
    means = np.stack([np.interp(episodes, curve.episodes, curve.mean) for curve in curves])
    deviations = np.stack([np.interp(episodes, curve.episodes, curve.deviation) for curve in curves])
    runs = sum(curve.runs for curve in curves)
    return Curve(episodes, means.mean(0), np.sqrt((deviations**2).mean(0)), runs)


def grounding_curves(runs: Sequence[Record]) -> dict[str, Curve]:
    """Each accuracy over episodes: a burst's accuracy holds until the next burst."""
    known = [run for run in runs if run.grounding is not None and len(run.grounding["episode"])]
    if not known:
        return {}
    end = min(len(run.returns) for run in known)
    episodes = _places(end + 1).astype(np.float64)
    curves = {}
    for name in ACCURACIES:
        rows = np.stack([_held(run, name, episodes) for run in known])
        curves[name] = Curve(episodes, rows.mean(0), rows.std(0), len(known))
    return curves


def count_note(counts: Sequence[tuple[str, int]]) -> str:
    """How many runs are behind each of some series: `5 runs each`, or a number for each."""
    numbers = {count for _, count in counts}
    if len(numbers) > 1:
        return "runs: " + ", ".join(f"{label} {count}" for label, count in counts)
    (number,) = numbers
    return f"{number} {'run' if number == 1 else 'runs'}{' each' if len(counts) > 1 else ''}"


def _held(run: Record, name: str, episodes: Values) -> Values:
    """The last accuracy known at each episode."""
    assert run.grounding is not None
    known_at, values = run.grounding["episode"], run.grounding[name]
    places = np.searchsorted(known_at, episodes, side="right") - 1
    held: Values = values[np.maximum(places, 0)]
    return held


def _places(length: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """At most `POINTS` places along an axis, its first and its last among them."""
    return np.unique(np.linspace(0, length - 1, min(POINTS, length)).round().astype(np.int64))


def _subject(name: str, paper: PaperTask | None) -> Subject:
    return Subject(name, f"Task {paper.number}: {paper.formula()}" if paper else name, paper)


def _series(pairs: Sequence[tuple[str, str]]) -> tuple[Series, ...]:
    """The series in the order of methods and variants; methods as such have looks of their own."""
    methods = [*METHOD_LOOKS, *(method for method, _ in pairs if method not in METHOD_LOOKS)]
    ordered = sorted(set(pairs), key=lambda pair: (pair[1] != "", methods.index(pair[0]), pair[1]))
    one_variant = len({variant for _, variant in pairs}) == 1
    found, further = [], 0
    for method, variant in ordered:
        if method in METHOD_LOOKS and (one_variant or not variant):
            look = METHOD_LOOKS[method]
        else:
            look, further = further_look(further), further + 1
        label = method.upper() if one_variant or not variant else f"{method.upper()} {variant}"
        found.append(Series(method, variant, label, look))
    return tuple(found)
