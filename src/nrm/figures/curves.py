"""Learning curves: the paper's figure 2, its appendix' figures of single tasks, and grounding accuracy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from nrm.figures.series import (
    Curve,
    Runs,
    Series,
    class_curve,
    count_note,
    grounding_curves,
    learning_curve,
)
from nrm.figures.style import (
    ACCURACY_LOOKS,
    REFERENCE_LOOKS,
    Look,
    file_part,
    legend_above,
    name_axes,
    new_figure,
    title,
)
from nrm.results import Group, without_memory

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
        _references(panel, tasks)
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
                    _references(panel, [task])
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


def _references(panel: Axes, tasks: Sequence[Group]) -> None:
    """Lines of what the best policies without memory earn, as a mean over the tasks, where that can be computed."""
    found = [without_memory(task.finished[0]) for task in tasks]
    for name, (_, look) in REFERENCE_LOOKS.items():
        earned = [getattr(one, name) for one in found if one is not None]
        if len(earned) == len(tasks):
            panel.axhline(sum(earned) / len(earned), color=look.colour, linestyle=look.line, linewidth=1.0, gid=name)


def _finish(
    figure: Figure,
    panels: Sequence[Axes],
    runs: Runs,
    ylabel: str,
    over: str = "episode",
    looks: Sequence[tuple[str, Look]] | None = None,
) -> None:
    """The legend of some looks, those of the runs if absent, and of what any panel shows; the names of the axes."""
    drawn = {line.get_gid() for panel in panels for line in panel.lines}
    references = (shown for name, shown in REFERENCE_LOOKS.items() if name in drawn)
    band = "± deviation over runs" if any(panel.collections for panel in panels) else ""
    legend_above(figure, [*(runs.looks if looks is None else looks), *references], band)
    name_axes(figure, over, ylabel, runs.left_out)
