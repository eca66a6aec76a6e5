"""The picture of the times of counting shows what was run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nrm.errors import MissingExtraError
from nrm.figures import write_groundability
from nrm.figures.write import draw_groundability
from nrm.logic import PAPER_TASKS
from nrm.results.groundability import GroundabilityRow
from tests.figures.drawn import texts


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
    assert names == ["groundability.md", "groundability.svg", "groundability.png"]


def test_the_tables_need_no_matplotlib(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match="without"):
        write_groundability(tmp_path, rows=[row()])
    assert (tmp_path / "groundability.md").exists()
