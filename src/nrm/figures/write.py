"""All figures of some runs, as files."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from nrm.figures.curves import family_figures, figure_2, grounding_figures, task_figures
from nrm.figures.series import collect
from nrm.figures.style import matplotlib_or_error, save
from nrm.figures.summary import summary_figures
from nrm.results import Record


def write_figures(records: Iterable[Record], out: Path, seed: int = 0) -> list[Path]:
    """Draw what the finished runs show, each figure as SVG and PNG, and say where.

    `figure-2` (returns by environment and class of tasks), `tasks-ENV` (by task), `families-ENV` (success of agents of
    many tasks, over steps), `grounding-ENV` (accuracy of the grounder), `iqm`, `profiles` and `improvement` (all
    tasks together). Curves are moving means over 100 episodes with the deviation over runs. A grid may be partial:
    there is a panel for what there is, and it says how many runs are behind it. `seed`: of the bootstrap. Without a
    finished run: `StatisticsError`.
    """
    matplotlib_or_error()
    runs = collect(records)
    paths: list[Path] = []
    curves = chain(figure_2(runs), task_figures(runs), family_figures(runs), grounding_figures(runs))
    for name, figure in chain(curves, summary_figures(runs, seed)):
        paths.extend(save(figure, out, name))
    return paths
