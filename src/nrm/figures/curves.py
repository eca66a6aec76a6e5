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
    success_curve,
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
TASKS_A_FIGURE = 8
LETTERS = {("map", 1): "(a) ", ("map", 2): "(b) ", ("image", 1): "(c) ", ("image", 2): "(d) "}
"""The panels of the paper's figure 2."""


def figure_2(runs: Runs) -> Iterator[Named]:
    """The paper's figure 2: a panel for each environment and class of tasks."""
    panels_of = [
        (env, number, tasks)
        for env in runs.envs
        for number in (1, 2)
        if (tasks := [task for task in runs.tasks_in(env) if task.paper and task.paper.task_class == number])
    ]
    if not panels_of:
        return
    figure, panels = new_figure(len(panels_of), 2.3, sharey=True)
    for (env, number, tasks), panel in zip(panels_of, panels, strict=True):
        curves = []
        for series in runs.series:
            parts = [learning_curve(found, runs.window) for task in tasks if (found := runs.of(task, series))]
            if parts:
                curves.append((series, class_curve(parts)))
        numbers = ", ".join(str(task.paper.number) for task in tasks if task.paper)
        named = f"{LETTERS.get((env, number), '')}{env}, class {number}"
        _draw(panel, curves, named, f"{'task' if len(tasks) == 1 else 'tasks'} {numbers}; ")
        _references(panel, tasks)
    _finish(figure, _with_references(panels, runs.looks), runs, f"return, mean of {runs.window} episodes")
    yield "figure-2", figure


def task_figures(runs: Runs) -> Iterator[Named]:
    """The paper's appendix: a panel for each task, a figure for each environment."""
    for env in runs.envs:
        for part, tasks in _pages(runs.split(env)[0]):
            figure, panels = new_figure(len(tasks), 1.95, sharex=True, sharey=True)
            for task, panel in zip(tasks, panels, strict=True):
                cells = [(series, found) for series in runs.series if (found := runs.of(task, series))]
                _draw(panel, [(series, learning_curve(found, runs.window)) for series, found in cells], _titled(task))
                _references(panel, [task])
            looks = _with_references(panels, runs.looks)
            _finish(figure, looks, runs, f"{env}: return, mean of {runs.window} episodes")
            yield f"tasks-{file_part(env)}{part}", figure


def family_figures(runs: Runs) -> Iterator[Named]:
    """Agents of many tasks: success over steps, a panel for each family, a figure for each environment."""
    from matplotlib.ticker import PercentFormatter

    for env in runs.envs:
        for part, families in _pages(runs.split(env)[1]):
            figure, panels = new_figure(len(families), 2.3, sharey=True)
            for family, panel in zip(families, panels, strict=True):
                cells = [(series, found) for series in runs.series if (found := runs.of(family, series))]
                curves = [(series, success_curve(found, runs.window)) for series, found in cells]
                _draw(panel, curves, _titled(family), most=1.0)
                panel.set_ylim(-0.03, 1.03)
                panel.yaxis.set_major_formatter(PercentFormatter(1.0))
            _finish(figure, runs.looks, runs, f"{env}: success, mean of {runs.window} episodes", "step")
            yield f"families-{file_part(env)}{part}", figure


def grounding_figures(runs: Runs) -> Iterator[Named]:
    """Accuracy of the grounder, for every series that has one: a panel for each task, or for each family of tasks."""
    grounding = {group.method for group in runs.groups if any(run.grounding for run in group.finished)}
    for env in runs.envs:
        for series in runs.series:
            for many, tasks in enumerate(runs.split(env)):
                found = [(task, grounding_curves(runs.of(task, series))) for task in tasks]
                method = series.method if len(grounding) > 1 else ""
                words = ("grounding", "families" if many else "", env, series.variant, method)
                name = "-".join(file_part(word) for word in words if word)
                for part, page in _pages([(task, curves) for task, curves in found if curves]):
                    yield f"{name}{part}", _grounding(page, runs, env, series, "step" if many else "episode")


def _grounding(
    page: Sequence[tuple[Group, dict[str, Curve]]], runs: Runs, env: str, series: Series, over: str
) -> Figure:
    from matplotlib.ticker import PercentFormatter

    figure, panels = new_figure(len(page), 1.95, sharex=True, sharey=True)
    for (task, curves), panel in zip(page, panels, strict=True):
        for name, curve in curves.items():
            _line(panel, curve, ACCURACY_LOOKS[name][1], most=1.0)
        title(panel, _titled(task), count_note([(series.label, max(curve.runs for curve in curves.values()))]))
        panel.set_ylim(-0.03, 1.03)
        panel.yaxis.set_major_formatter(PercentFormatter(1.0))
    shown = [ACCURACY_LOOKS[name] for name in ACCURACY_LOOKS if any(name in curves for _, curves in page)]
    _finish(figure, shown, runs, f"{env}: grounding accuracy of {series.label}", over)
    return figure


def _titled(task: Group) -> str:
    return f"Task {task.paper.number}: {task.paper.formula()}" if task.paper else task.task


def _pages(items: Sequence[Any]) -> Iterator[tuple[str, Sequence[Any]]]:
    """Panels that share a figure, with what the names of further figures end in."""
    for start in range(0, len(items), TASKS_A_FIGURE):
        yield f"-{start // TASKS_A_FIGURE + 1}" if start else "", items[start : start + TASKS_A_FIGURE]


def _draw(
    panel: Axes, curves: Sequence[tuple[Series, Curve]], named: str, note: str = "", most: float | None = None
) -> None:
    for series, curve in curves:
        _line(panel, curve, series.look, most)
    panel.set_xlim(left=0)
    title(panel, named, note + count_note([(series.label, curve.runs) for series, curve in curves]))


def _line(panel: Axes, curve: Curve, look: Look, most: float | None = None) -> None:
    low, high = curve.mean - curve.deviation, curve.mean + curve.deviation
    if most is not None:
        low, high = low.clip(0, most), high.clip(0, most)
    panel.fill_between(curve.at, low, high, color=look.colour, alpha=0.18, linewidth=0)
    marker = look.marker if len(curve.at) == 1 else ""
    panel.plot(curve.at, curve.mean, color=look.colour, linestyle=look.line, linewidth=1.4, marker=marker)


def _references(panel: Axes, tasks: Sequence[Group]) -> None:
    """Lines of what the best policies without memory earn, as a mean over the tasks, where that can be computed."""
    found = [without_memory(task.finished[0]) for task in tasks]
    for name, (_, look) in REFERENCE_LOOKS.items():
        earned = [getattr(one, name) for one in found if one is not None]
        if len(earned) == len(tasks):
            panel.axhline(sum(earned) / len(earned), color=look.colour, linestyle=look.line, linewidth=1.0, gid=name)


def _with_references(panels: Sequence[Axes], looks: Sequence[tuple[str, Look]]) -> list[tuple[str, Look]]:
    """What a legend says, with the references that any panel shows."""
    drawn = {line.get_gid() for panel in panels for line in panel.lines}
    return [*looks, *(shown for name, shown in REFERENCE_LOOKS.items() if name in drawn)]


def _finish(figure: Figure, looks: Sequence[tuple[str, Look]], runs: Runs, ylabel: str, over: str = "episode") -> None:
    legend_above(figure, looks, band="± deviation over runs")
    name_axes(figure, over, ylabel, runs.left_out)
