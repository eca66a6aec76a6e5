"""The panels of all figures: learning curves (the paper's figure 2 and its appendix), and all tasks at a glance."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nrm.errors import counted
from nrm.figures.series import Curve, Runs, Series, class_curve, count_note, grounding_curves, learning_curve
from nrm.figures.style import (
    ACCURACY_LOOKS,
    Look,
    file_part,
    legend_above,
    name_axes,
    new_figure,
    title,
)
from nrm.results import Group, Record, Strata, iqm

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Named = tuple[str, "Figure"]
"""A figure and the name of its files."""
LETTERS = {("map", 1): "(a) ", ("map", 2): "(b) ", ("image", 1): "(c) ", ("image", 2): "(d) "}
"""The panels of the paper's figure 2."""


def figure_2(runs: Runs) -> Iterator[Named]:
    """The paper's figure 2: a panel for each environment and class of tasks."""
    panels_of: dict[tuple[str, int], list[Group]] = {}
    for task in (task for env in runs.envs for task in runs.tasks_in(env)):
        if (paper := task.about.paper) is not None:
            panels_of.setdefault((task.env, paper.task_class), []).append(task)
    if not panels_of:
        return
    figure, panels = new_figure(len(panels_of), 2.3, sharey=True)
    for ((env, number), tasks), panel in zip(panels_of.items(), panels, strict=True):
        curves = []
        for series in runs.series:
            parts = [learning_curve(found, runs.window) for task in tasks if (found := runs.of(task, series))]
            if parts:
                curves.append((series, class_curve(parts)))
        numbers = ", ".join(str(paper.number) for task in tasks if (paper := task.about.paper))
        named = f"{LETTERS.get((env, number), '')}{env}, class {number}"
        _draw(panel, curves, named, f"{'task' if len(tasks) == 1 else 'tasks'} {numbers}; ")
    _finish(figure, panels, runs, f"return, mean of {runs.window} episodes")
    yield "figure-2", figure


def task_figures(runs: Runs) -> Iterator[Named]:
    """The paper's appendix: a panel for each task, or family of tasks; a figure for each environment."""
    for env in runs.envs:
        for axis, tasks in runs.by_axis(env):
            for part, page in _pages(tasks):
                figure, panels = new_figure(len(page), 1.95, sharex=True, sharey=True)
                for task, panel in zip(page, panels, strict=True):
                    cells = [(series, found) for series in runs.series if (found := runs.of(task, series))]
                    curves = [(series, learning_curve(found, runs.window, axis)) for series, found in cells]
                    _draw(panel, curves, _titled(task))
                what = f"{env}: {axis.shown}, mean of {runs.window} episodes"
                _finish(figure, panels, runs, what, axis.name)
                yield f"{axis.files}-{file_part(env)}{part}", figure


def grounding_figures(runs: Runs) -> Iterator[Named]:
    """Accuracy of the grounder, for every series that has one: a panel for each task, or for each family of tasks."""
    grounding = {group.method for group in runs.groups if any(run.grounding for run in group.finished)}
    for env in runs.envs:
        for series in runs.series:
            for axis, tasks in runs.by_axis(env):
                found = [(task, grounding_curves(runs.of(task, series))) for task in tasks]
                method = series.method if len(grounding) > 1 else ""
                words = ("grounding", axis.files.removeprefix("tasks"), env, series.variant, method)
                name = "-".join(file_part(word) for word in words if word)
                for part, page in _pages([(task, curves) for task, curves in found if curves]):
                    yield f"{name}{part}", _grounding(page, runs, env, series, axis.name)


def _grounding(
    page: Sequence[tuple[Group, dict[str, Curve]]], runs: Runs, env: str, series: Series, over: str
) -> Figure:
    figure, panels = new_figure(len(page), 1.95, sharex=True, sharey=True)
    for (task, curves), panel in zip(page, panels, strict=True):
        for name, curve in curves.items():
            _line(panel, curve, ACCURACY_LOOKS[name][1])
        title(panel, _titled(task), count_note([(series.label, max(curve.runs for curve in curves.values()))]))
    shown = [ACCURACY_LOOKS[name] for name in ACCURACY_LOOKS if any(name in curves for _, curves in page)]
    _finish(figure, panels, runs, f"{env}: grounding accuracy of {series.label}", over, shown)
    return figure


def _titled(task: Group) -> str:
    paper = task.about.paper
    return f"Task {paper.number}: {paper.formula()}" if paper else task.task


def _pages(items: Sequence[Any]) -> Iterator[tuple[str, Sequence[Any]]]:
    """Panels that share a figure, at most 8, with what the names of further figures end in."""
    for start in range(0, len(items), 8):
        yield f"-{start // 8 + 1}" if start else "", items[start : start + 8]


def _draw(panel: Axes, curves: Sequence[tuple[Series, Curve]], named: str, note: str = "") -> None:
    for series, curve in curves:
        _line(panel, curve, series.look)
    panel.set_xlim(left=0)
    title(panel, named, note + count_note([(series.label, curve.runs) for series, curve in curves]))


def _line(panel: Axes, curve: Curve, look: Look) -> None:
    """A line; with a band of its deviation, where there is any. What is a share is shown in percent."""
    if curve.deviation.any():
        low, high = ((curve.mean + sign * curve.deviation).clip(*curve.bounds) for sign in (-1, 1))
        panel.fill_between(curve.at, low, high, color=look.colour, alpha=0.18, linewidth=0)
    marker = look.marker if len(curve.at) == 1 else ""
    panel.plot(curve.at, curve.mean, color=look.colour, linestyle=look.line, linewidth=1.4, marker=marker)
    if curve.bounds[1] == 1:
        panel.set_ylim(-0.03, 1.03)
        panel.yaxis.set_major_formatter("{x:.0%}")


def _finish(
    figure: Figure,
    panels: Sequence[Axes],
    runs: Runs,
    ylabel: str,
    over: str = "episode",
    looks: Sequence[tuple[str, Look]] | None = None,
) -> None:
    """The legend of some looks, those of the runs if absent, and of what any panel shows; the names of the axes."""
    band = "± deviation over runs" if any(panel.collections for panel in panels) else ""
    legend_above(figure, runs.looks if looks is None else looks, band)
    name_axes(figure, over, ylabel, runs.left_out)


SCORES: dict[str, Callable[[Record], float]] = {
    "last 100 episodes": lambda run: run.last_return(100),
    "all episodes (area)": lambda run: float(run.returns.mean()),
}
"""What the score of a run is: where it ended, and how fast it came there."""
LEAST_SPAN = 5.0
"""Least width of an axis of returns, of the 100 that an episode can pay."""


def summary_figure(runs: Runs, seed: int = 0) -> Iterator[Named]:
    """The interquartile means of each environment, in a row of panels: one panel for each kind of score."""
    names = [_wrapped(series.label) for series in runs.series]
    places = [(env, score) for env in runs.envs for score in SCORES]
    # Inches that rows with these names take.
    height = 0.75 + 0.24 * sum(name.count("\n") + 1 for name in names)
    figure, panels = new_figure(len(places), height, tall=False)
    for (env, score), panel in zip(places, panels, strict=True):
        title(panel, f"{env}, {score}", _intervals(runs, seed, panel, env, score))
    name_axes(figure, "return, interquartile mean and 95 % interval", "", runs.left_out)
    yield "iqm", figure


def _intervals(runs: Runs, seed: int, panel: Axes, env: str, score: str) -> str:
    """Draw an environment and a kind of score, and say what to note above it."""
    found, note = _comparable(runs, env, score)
    for place, (series, strata) in enumerate(found):
        interval, look = iqm(strata, np.random.default_rng(seed)), series.look
        ends = [interval.low, interval.high]
        panel.plot(ends, [place, place], color=look.colour, linewidth=5, alpha=0.35, solid_capstyle="butt")
        panel.plot([interval.estimate], [place], color=look.colour, marker=look.marker, markersize=5)
    panel.set_yticks(range(len(found)), [_wrapped(series.label) for series, _ in found])
    panel.set_ylim(len(found) - 0.4, -0.6)
    panel.locator_params(axis="x", nbins=6)
    # A difference that does not matter should not look as if it did.
    low, high = panel.get_xlim()
    missing = max(0.0, LEAST_SPAN - (high - low)) / 2
    panel.set_xlim(low - missing, high + missing)
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


def _wrapped(label: str) -> str:
    """The name of a row; long ones take several lines beside two panels."""
    return textwrap.fill(label, 20)
