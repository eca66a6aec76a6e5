"""Figures are written for what there is, and leave matplotlib as they found it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest

from nrm.errors import FileError, MissingExtraError, StatisticsError
from nrm.figures import write_figures
from nrm.results import Record, read_records
from tests.results.folders import many_run, run
from tests.results.synthetic import grid, record


def test_a_full_grid_gives_every_figure_twice(tmp_path: Path) -> None:
    before = dict(matplotlib.rcParams), matplotlib.get_backend()
    paths = write_figures(grid(tasks=("1", "5"), envs=("map", "image"), episodes=120), tmp_path / "new")
    assert (dict(matplotlib.rcParams), matplotlib.get_backend()) == before
    assert sorted({path.stem for path in paths}) == [
        *("figure-2", "grounding-image", "grounding-map", "iqm", "tasks-image", "tasks-map")
    ]
    assert {path.suffix for path in paths} == {".svg", ".png"}
    assert len(paths) == 12
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


def test_agents_of_many_tasks_have_figures_of_their_own(tmp_path: Path) -> None:
    many_run(tmp_path / "runs" / "many", "nrm", steps=600)
    names = {path.stem for path in write_figures(read_records(tmp_path / "runs")[0], tmp_path / "out")}
    assert names == {"families-letter", "grounding-families-letter", "iqm"}
    run(tmp_path / "runs" / "one", "nrm", episodes=20)
    names = {path.stem for path in write_figures(read_records(tmp_path / "runs")[0], tmp_path / "all")}
    assert {"families-letter", "grounding-families-letter", "tasks-map", "grounding-map"} <= names
