"""All figures of some runs, as files."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from nrm.figures.curves import figure_2, grounding_figures, summary_figure, task_figures
from nrm.figures.series import collect
from nrm.figures.style import matplotlib_or_error, save
from nrm.results import Record


def write_figures(records: Iterable[Record], out: Path, seed: int = 0) -> list[Path]:
    """Draw figures of all finished runs, each as SVG and PNG; returns their paths.

    `figure-2`: returns by environment and class of tasks. `tasks-ENV`: returns by task. `families-ENV`: success of
    agents of many tasks. `grounding-ENV`: accuracy of the grounder. `iqm`: all tasks together. Curves are moving means
    over 100 episodes with the standard deviation over runs. `seed`: of the bootstrap. Without a finished run,
    `StatisticsError` is raised.
    """
    runs = collect(records)
    paths: list[Path] = []
    with matplotlib_or_error().rc_context({"text.parse_math": False}):  # names may have dollar signs
        curves = figure_2(runs), task_figures(runs), grounding_figures(runs), summary_figure(runs, seed)
        for name, figure in chain(*curves):
            paths.extend(save(figure, out, name))
    return paths
