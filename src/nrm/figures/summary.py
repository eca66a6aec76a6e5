"""All tasks at a glance: interquartile means, probability of improvement and performance profiles."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from nrm.figures.curves import Named
from nrm.figures.series import Runs, Series, count_note
from nrm.figures.style import BLACK, legend_above, name_axes, new_figure, plain, title
from nrm.results import (
    Group,
    Interval,
    Record,
    Strata,
    iqm,
    performance_profile,
    probability_of_improvement,
    subject_word,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCORES: dict[str, Callable[[Record], float]] = {
    "last 100 episodes": lambda run: run.last_return(100),
    "all episodes (area)": lambda run: float(run.returns.mean()),
}
"""What the score of a run is: where it ended, and how fast it came there."""


ROW_LETTERS = 20
"""Letters of a row's name that fit in a line beside two panels."""
LEAST_SPAN = 5.0
"""Least width of an axis of returns, of the 100 that an episode can pay."""


def summary_figures(runs: Runs, seed: int = 0) -> Iterator[Named]:
    """The three figures; those that compare need two series with a task in common."""
    yield "iqm", _figure(runs, _intervals, seed, "return, interquartile mean and 95 % interval")
    yield "profiles", _figure(runs, _profiles, seed, "return", height=2.3)
    if any(_pairs(runs, env) for env in runs.envs):
        yield "improvement", _figure(runs, _improvements, seed, "probability of improvement and 95 % interval")


def _figure(
    runs: Runs, draw: Callable[[Axes, Runs, str, str, int], str], seed: int, xlabel: str, height: float = 1.3
) -> Figure:
    """A row of panels for each environment: one panel for each kind of score."""
    envs = [env for env in runs.envs if draw is not _improvements or _pairs(runs, env)]
    if draw is not _profiles:
        named = [_labels(runs, env, draw is _improvements) for env in envs]
        height = 0.75 + 0.24 * max(sum(label.count("\n") + 1 for label in labels) for labels in named)
    figure, panels = new_figure(len(envs) * len(SCORES), height, tall=draw is _profiles)
    places = [(env, score) for env in envs for score in SCORES]
    for (env, score), panel in zip(places, panels, strict=True):
        note = draw(panel, runs, env, score, seed)
        title(panel, f"{env}, {score}", note)
    if draw is _profiles:
        legend_above(figure, runs.looks)
    name_axes(figure, xlabel, "share of runs that return more" if draw is _profiles else "", runs.left_out)
    return figure


def _intervals(panel: Axes, runs: Runs, env: str, score: str, seed: int) -> str:
    found, note = _comparable(runs, env, score)
    rows = [(series, iqm(strata, np.random.default_rng(seed))) for series, strata in found]
    for place, (series, interval) in enumerate(rows):
        _interval(panel, interval, place, series.look.colour, series.look.marker)
    _name_rows(panel, [_wrapped(series.label) for series, _ in rows])
    panel.locator_params(axis="x", nbins=6)
    # A difference that does not matter should not look as if it did.
    low, high = panel.get_xlim()
    missing = max(0.0, LEAST_SPAN - (high - low)) / 2
    panel.set_xlim(low - missing, high + missing)
    return note


def _improvements(panel: Axes, runs: Runs, env: str, score: str, seed: int) -> str:
    for place, (ours, theirs, tasks) in enumerate(_pairs(runs, env)):
        strata = [_strata(runs, tasks, series, score) for series in (ours, theirs)]
        interval = probability_of_improvement(strata[0], strata[1], np.random.default_rng(seed))
        _interval(panel, interval, place, BLACK, "o")
    _name_rows(panel, _labels(runs, env, True))
    panel.axvline(0.5, color=BLACK, linewidth=0.8, linestyle=(0, (4, 2)))
    panel.set_xlim(-0.03, 1.03)
    pairs = [tasks for _, _, tasks in _pairs(runs, env)]
    return f"over {_span(pairs)} in common"


def _profiles(panel: Axes, runs: Runs, env: str, score: str, seed: int) -> str:
    found, note = _comparable(runs, env, score)
    pooled = np.concatenate([scores for _, strata in found for scores in strata])
    margin = max(LEAST_SPAN - float(np.ptp(pooled)), 0.06 * float(np.ptp(pooled))) / 2
    thresholds = np.linspace(pooled.min() - margin, pooled.max() + margin, 201)
    for series, strata in found:
        profile = performance_profile(strata, thresholds, np.random.default_rng(seed))
        colour, line = series.look.colour, series.look.line
        panel.fill_between(thresholds, profile.low, profile.high, color=colour, alpha=0.15, linewidth=0)
        panel.plot(thresholds, profile.share, color=colour, linestyle=line, linewidth=1.4)
    panel.set_ylim(-0.03, 1.03)
    return note


def _comparable(runs: Runs, env: str, score: str) -> tuple[list[tuple[Series, Strata]], str]:
    """Scores of every series on the tasks that all have; on its own tasks where there is none, and what to say."""
    tasks = runs.tasks_in(env)
    present = [series for series in runs.series if any(runs.of(task, series) for task in tasks)]
    common = [task for task in tasks if all(runs.of(task, series) for series in present)]
    found = []
    for series in present:
        own = common or [task for task in tasks if runs.of(task, series)]
        found.append((series, _strata(runs, own, series, score)))
    note = count_note([(series.label, sum(map(len, strata))) for series, strata in found])
    if not common:
        return found, f"{_plural(subject_word(tasks))} differ; {note}"
    return found, f"{_span([common])}{' in common' if len(common) < len(tasks) else ''}; {note}"


def _strata(runs: Runs, tasks: list[Group], series: Series, score: str) -> Strata:
    return [np.array([SCORES[score](run) for run in runs.of(task, series)]) for task in tasks]


def _pairs(runs: Runs, env: str) -> list[tuple[Series, Series, list[Group]]]:
    """Every two series with tasks in common that differ in the method or in the variant, not in both."""
    found = []
    for ours, theirs in combinations(runs.series, 2):
        if ours.method != theirs.method and ours.variant != theirs.variant:
            continue
        tasks = [task for task in runs.tasks_in(env) if runs.of(task, ours) and runs.of(task, theirs)]
        if tasks:
            found.append((ours, theirs, tasks))
    return found


def _interval(panel: Axes, interval: Interval, place: int, colour: str, marker: str) -> None:
    panel.plot(
        [interval.low, interval.high], [place, place], color=colour, linewidth=5, alpha=0.35, solid_capstyle="butt"
    )
    panel.plot([interval.estimate], [place], color=colour, marker=marker, markersize=5)


def _labels(runs: Runs, env: str, pairs: bool) -> list[str]:
    """What rows are called: series, or pairs of them. Long names take several lines."""
    if not pairs:
        return [_wrapped(series.label) for series in runs.series]
    return [_wrapped(f"{ours.label} > {theirs.label}") for ours, theirs, _ in _pairs(runs, env)]


def _wrapped(label: str) -> str:
    return textwrap.fill(label, ROW_LETTERS)


def _name_rows(panel: Axes, labels: list[str]) -> None:
    panel.set_yticks(range(len(labels)), [plain(label) for label in labels])
    panel.set_ylim(len(labels) - 0.4, -0.6)


def _span(parts: Sequence[Sequence[Group]]) -> str:
    """How many tasks, or families of them, some lists have: `3 tasks`, `1 to 2 families`."""
    numbers = sorted({len(tasks) for tasks in parts})
    word = subject_word(task for tasks in parts for task in tasks)
    if len(numbers) > 1:
        return f"{numbers[0]} to {numbers[-1]} {_plural(word)}"
    return f"{numbers[0]} {word if numbers[0] == 1 else _plural(word)}"


def _plural(word: str) -> str:
    return word.replace("task", "tasks").replace("family", "families")
