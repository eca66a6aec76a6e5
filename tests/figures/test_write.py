"""Figures draw what there is, say how many runs it is, and leave matplotlib as they found it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nrm.errors import FileError, MissingExtraError, StatisticsError
from nrm.figures import style, write_figures, write_groundability
from nrm.figures.curves import figure_2, grounding_figures, task_figures
from nrm.figures.groundability import draw_groundability
from nrm.figures.series import Curve, class_curve, collect, count_note, grounding_curves, learning_curve
from nrm.figures.summary import summary_figures
from nrm.logic import PAPER_TASKS
from nrm.results import Record
from nrm.results.groundability import GroundabilityRow
from tests.results.synthetic import grid, record

EIGHT = tuple(str(number) for number in range(1, 9))


def texts(figure: Any) -> list[str]:
    """Everything that a figure says."""
    from matplotlib.text import Text

    return [text for item in figure.findobj(Text) if (text := item.get_text())]


def drawn(figures: Any) -> dict[str, Any]:
    return dict(figures)


def test_a_full_grid_gives_every_figure_twice(tmp_path: Path) -> None:
    before = dict(matplotlib.rcParams), matplotlib.get_backend()
    paths = write_figures(grid(tasks=("1", "5"), worlds=("map", "image"), episodes=120), tmp_path / "new")
    assert (dict(matplotlib.rcParams), matplotlib.get_backend()) == before
    assert sorted({path.stem for path in paths}) == [
        *("figure-2", "grounding-image", "grounding-map", "improvement", "iqm", "profiles", "tasks-image", "tasks-map")
    ]
    assert {path.suffix for path in paths} == {".svg", ".png"}
    assert len(paths) == 16
    for path in paths:
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG" if path.suffix == ".png" else b"<?xml")


def test_equal_runs_give_equal_files(tmp_path: Path) -> None:
    runs = grid(tasks=("1",), methods=("nrm",), episodes=60)
    first = write_figures(runs, tmp_path / "a")
    second = write_figures(runs[::-1], tmp_path / "b")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name


def test_pyplot_is_not_imported() -> None:
    code = (
        "import sys, pathlib, tempfile\nfrom nrm.figures import write_figures\n"
        "assert 'matplotlib' not in sys.modules\n"
        "from tests.results.synthetic import grid\n"
        "write_figures(grid(tasks=('1',), methods=('rm',), episodes=20), pathlib.Path(tempfile.mkdtemp()))\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_figure_2_has_the_papers_panels() -> None:
    ((name, figure),) = figure_2(collect(grid(tasks=EIGHT, worlds=("map", "image"), seeds=(0, 1))))
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
    assert drawn(grounding_figures(found)) == {}
    summary = drawn(summary_figures(found))
    assert "1 task in common; runs: RM 2, RNN 1" in texts(summary["iqm"])
    assert "RM > RNN" in texts(summary["improvement"])


def test_methods_without_a_task_in_common_are_not_compared() -> None:
    found = collect([record([10] * 8, task="1"), record([90] * 8, task="F gem", method="rnn")])
    summary = drawn(summary_figures(found))
    assert sorted(summary) == ["iqm", "profiles"]
    assert "tasks differ; 1 run each" in texts(summary["iqm"])


def test_own_tasks_and_odd_names() -> None:
    runs = [record([1, 2, 3, 4], task="F gem"), record([4, 3, 2, 1], task="F gem", variant="$wide_")]
    found = collect(runs)
    assert drawn(figure_2(found)) == {}
    ((name, figure),) = task_figures(found)
    assert name == "tasks-map"
    assert r"RM \$wide_" in texts(figure)
    figure.draw_without_rendering()
    assert len({series.look.colour for series in found.series}) == 2


def test_only_one_thing_is_compared_at_a_time() -> None:
    cells = (("rm", ""), ("nrm", ""), ("nrm", "wide"), ("rnn", "wide"))
    found = collect([record([1, 2, 3], method=method, variant=variant) for method, variant in cells])
    rows = [text for text in texts(drawn(summary_figures(found))["improvement"]) if ">" in text]
    assert list(dict.fromkeys(rows)) == ["RM > NRM", "NRM > NRM wide", "NRM wide > RNN wide"]


def test_many_tasks_take_more_figures() -> None:
    runs = [record([1, 2, 3], task=f"F gem & {'X ' * number}true") for number in range(1, 11)]
    assert list(drawn(task_figures(collect(runs)))) == ["tasks-map", "tasks-map-2"]


def test_grounding_holds_between_bursts() -> None:
    runs = [record([0] * 8, method="nrm", seed=seed) for seed in (0, 1)]
    curve = grounding_curves(runs)["accuracy_modulo_shortcuts"]
    assert curve.episodes.tolist() == list(range(9))
    assert curve.mean.tolist() == [0, 0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1]
    assert curve.runs == 2


def test_learning_curve_is_the_mean_of_moving_means() -> None:
    runs = [record([0, 10, 20, 30]), record([10, 10, 10, 10, 99], seed=1)]
    curve = learning_curve(runs, window=2)
    assert curve.episodes.tolist() == [2, 3, 4]  # as far as the shorter one goes
    assert curve.mean.tolist() == [7.5, 12.5, 17.5]
    assert curve.deviation.tolist() == [2.5, 2.5, 7.5]


@given(st.integers(1, 3000), st.integers(1, 120))
def test_curves_are_thinned_and_keep_their_ends(length: int, window: int) -> None:
    returns = np.arange(length, dtype=np.float64)
    curve = learning_curve([record(returns.tolist())], window)
    width = min(window, length)
    assert len(curve.episodes) <= 250
    assert (curve.episodes[0], curve.episodes[-1]) == (width, length)
    assert curve.mean == pytest.approx(curve.episodes - (width + 1) / 2)


def test_a_class_weighs_its_tasks_alike() -> None:
    episodes = np.array([1.0, 2.0])
    first = Curve(episodes, np.array([0.0, 0.0]), np.array([3.0, 3.0]), 5)
    second = Curve(np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0]), np.array([4.0, 4.0, 4.0]), 1)
    both = class_curve([first, second])
    assert both.episodes[-1] == 2
    assert both.mean[[0, -1]].tolist() == [5, 10]
    assert both.deviation[0] == pytest.approx(np.sqrt((9 + 16) / 2))
    assert both.runs == 6


def test_notes_count_runs() -> None:
    assert count_note([("RM", 1)]) == "1 run"
    assert count_note([("RM", 5), ("NRM", 5)]) == "5 runs each"
    assert count_note([("RM", 5), ("NRM", 3)]) == "runs: RM 5, NRM 3"


@pytest.mark.parametrize(
    ("runs", "message"),
    [([], "no runs to draw"), ([record([1, 2], missing=1)], "none of the 1 runs is finished")],
)
def test_nothing_to_draw(runs: list[Record], message: str, tmp_path: Path) -> None:
    with pytest.raises(StatisticsError, match=message):
        write_figures(runs, tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot make the folder"):
        write_figures([record([1.0])], tmp_path / "file" / "below")


def test_matplotlib_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"neural-reward-machines\[figures\]"):
        write_figures([record([1.0])], tmp_path)
    with pytest.raises(MissingExtraError, match="tables work without it"):
        write_groundability(tmp_path, rows=[row()])
    assert (tmp_path / "groundability.md").exists()


def row(maps: int = 3125) -> GroundabilityRow:
    return GroundabilityRow(PAPER_TASKS[0], 54, 1e-5, 0.1, 0.01, 2.0, maps, 3125)


@pytest.mark.parametrize(
    ("maps", "labels"), [(3125, ["formulas"]), (7, ["formulas (stopped there)"]), (0, [])], ids=str
)
def test_groundability_shows_what_was_run(maps: int, labels: list[str], tmp_path: Path) -> None:
    figure = draw_groundability([row(maps)])
    said = [text for text in texts(figure) if "formulas" in text]
    assert said == [f"brute force, {label}" for label in labels]
    names = [path.name for path in write_groundability(tmp_path, rows=[row(maps)])]
    assert names == ["groundability.md", "groundability.csv", "groundability.svg", "groundability.png"]


def test_methods_look_different_in_grey() -> None:
    looks = [*style.METHOD_LOOKS.values()]
    assert len({str(look.line) for look in looks}) == len({look.colour for look in looks}) == 3
