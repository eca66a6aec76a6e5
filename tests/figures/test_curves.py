"""Learning curves draw what there is, and say how many runs it is."""

from __future__ import annotations

from nrm.figures.curves import figure_2, grounding_figures, summary_figure, task_figures
from nrm.figures.series import collect
from tests.figures.drawn import texts
from tests.results.synthetic import grid, record

EIGHT = tuple(str(number) for number in range(1, 9))


def test_figure_2_has_the_papers_panels() -> None:
    ((name, figure),) = figure_2(collect(grid(tasks=EIGHT, envs=("map", "image"), seeds=(0, 1))))
    assert name == "figure-2"
    titles = [panel.get_title(loc="left") for panel in figure.axes]
    assert titles == ["(a) map, class 1", "(b) map, class 2", "(c) image, class 1", "(d) image, class 2"]
    notes = [text for text in texts(figure) if "runs each" in text]
    assert notes == ["tasks 1, 2, 3, 4; 8 runs each", "tasks 5, 6, 7, 8; 8 runs each"] * 2
    assert [len(panel.lines) for panel in figure.axes] == [3] * 4


def test_partial_grids_draw_what_there_is_and_say_it() -> None:
    runs = [
        *grid(tasks=("1", "5"), methods=("rm",), seeds=(0, 1)),
        *grid(tasks=("5",), methods=("rnn",), seeds=(0,)),
        record([0] * 10, task="1", method="nrm", missing=5),
    ]
    found = collect(runs)
    ((_, figure),) = figure_2(found)
    assert [panel.get_title(loc="left") for panel in figure.axes] == ["(a) map, class 1", "(b) map, class 2"]
    said = texts(figure)
    assert "task 1; 2 runs" in said
    assert "task 5; runs: RM 2, RNN 1" in said
    assert "episode  (1 unfinished run left out)" in said
    assert "NRM" not in said
    assert dict(grounding_figures(found)) == {}
    summary = dict(summary_figure(found))
    assert "1 task in common; runs: RM 2, RNN 1" in texts(summary["iqm"])


def test_own_tasks_and_odd_names() -> None:
    runs = [record([1, 2, 3, 4], task="F gem"), record([4, 3, 2, 1], task="F gem", variant="$wide_")]
    found = collect(runs)
    assert dict(figure_2(found)) == {}
    ((name, figure),) = task_figures(found)
    assert name == "tasks-map"
    assert "RM $wide_" in texts(figure)
    assert len({series.look.colour for series in found.series}) == 2


def test_many_tasks_take_more_figures() -> None:
    runs = [record([1, 2, 3], task=f"F gem & {'X ' * number}true") for number in range(1, 11)]
    assert list(dict(task_figures(collect(runs)))) == ["tasks-map", "tasks-map-2"]
