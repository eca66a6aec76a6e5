"""All tasks at a glance: interquartile means, probability of improvement and performance profiles."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from nrm.errors import counted
from nrm.figures.curves import Named
from nrm.figures.series import Runs, Series, count_note
from nrm.figures.style import BLACK, legend_above, name_axes, new_figure, title
from nrm.results import (
    Group,
    Interval,
    Record,
    Strata,
    iqm,
    performance_profile,
    probability_of_improvement,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCORES: dict[str, Callable[[Record], float]] = {
    "last 100 episodes": lambda run: run.last_return(100),
    "all episodes (area)": lambda run: float(run.returns.mean()),
}
"""What the score of a run is: where it ended, and how fast it came there."""


LEAST_SPAN = 5.0
"""Least width of an axis of returns, of the 100 that an episode can pay."""
Draw = Callable[["Axes", str, str], str]
"""Draws an environment and a kind of score into a panel, and says what to note above it."""


def summary_figures(runs: Runs, seed: int = 0) -> Iterator[Named]:
    """The three figures; those that compare need two series with a task in common."""
    intervals, profiles = partial(_intervals, runs, seed), partial(_profiles, runs, seed)
    names = [_wrapped(series.label) for series in runs.series]
    yield "iqm", _figure(runs, runs.envs, intervals, _height(names), "return, interquartile mean and 95 % interval")
    yield "profiles", _figure(runs, runs.envs, profiles, 2.3, "return", "share of runs that return more")
    pairs = {env: found for env in runs.envs if (found := _pairs(runs, env))}
    if pairs:
        height = max(_height(_pair_names(found)) for found in pairs.values())
        improvements = partial(_improvements, runs, seed)
        yield "improvement", _figure(runs, pairs, improvements, height, "probability of improvement and 95 % interval")


def _figure(runs: Runs, envs: Iterable[str], draw: Draw, height: float, xlabel: str, ylabel: str = "") -> Figure:
    """A row of panels for each environment: one panel for each kind of score. A legend where `ylabel` names an axis."""
    places = [(env, score) for env in envs for score in SCORES]
    figure, panels = new_figure(len(places), height, tall=bool(ylabel))
    for (env, score), panel in zip(places, panels, strict=True):
        title(panel, f"{env}, {score}", draw(panel, env, score))
    if ylabel:
        legend_above(figure, runs.looks)
    name_axes(figure, xlabel, ylabel, runs.left_out)
    return figure


def _height(names: Sequence[str]) -> float:
    """Inches that rows with these names take."""
    return 0.75 + 0.24 * sum(name.count("\n") + 1 for name in names)


def _intervals(runs: Runs, seed: int, panel: Axes, env: str, score: str) -> str:
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


def _improvements(runs: Runs, seed: int, panel: Axes, env: str, score: str) -> str:
    pairs = _pairs(runs, env)
    for place, (ours, theirs, tasks) in enumerate(pairs):
        strata = [_strata(runs, tasks, series, score) for series in (ours, theirs)]
        interval = probability_of_improvement(strata[0], strata[1], np.random.default_rng(seed))
        _interval(panel, interval, place, BLACK, "o")
    _name_rows(panel, _pair_names(pairs))
    panel.axvline(0.5, color=BLACK, linewidth=0.8, linestyle=(0, (4, 2)))
    panel.set_xlim(-0.03, 1.03)
    numbers = sorted({len(tasks) for *_, tasks in pairs})
    least = f"{numbers[0]} to " if len(numbers) > 1 else ""
    return f"over {least}{counted(numbers[-1], 'task')} in common"


def _profiles(runs: Runs, seed: int, panel: Axes, env: str, score: str) -> str:
    found, note = _comparable(runs, env, score)
    pooled = np.concatenate([scores for _, strata in found for scores in strata])
    margin = max(LEAST_SPAN - float(np.ptp(pooled)), 0.06 * float(np.ptp(pooled))) / 2
    thresholds = np.linspace(pooled.min() - margin, pooled.max() + margin, 201)
    for series, strata in found:
        profile = performance_profile(strata, thresholds, np.random.default_rng(seed))
        colour, line = series.look.colour, series.look.line
        panel.fill_between(thresholds, profile.low, profile.high, color=colour, alpha=0.15, linewidth=0)
        panel.plot(thresholds, profile.estimate, color=colour, linestyle=line, linewidth=1.4)
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
        return found, f"tasks differ; {note}"
    return found, f"{counted(len(common), 'task')}{' in common' if len(common) < len(tasks) else ''}; {note}"


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


def _pair_names(pairs: Sequence[tuple[Series, Series, list[Group]]]) -> list[str]:
    return [_wrapped(f"{ours.label} > {theirs.label}") for ours, theirs, _ in pairs]


def _wrapped(label: str) -> str:
    """The name of a row; long ones take several lines beside two panels."""
    return textwrap.fill(label, 20)


def _name_rows(panel: Axes, labels: list[str]) -> None:
    panel.set_yticks(range(len(labels)), labels)
    panel.set_ylim(len(labels) - 0.4, -0.6)
