"""The paper's groundability tables come out, with what was not run said to be so."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

import nrm.results.groundability as groundability
from nrm.errors import NrmError
from nrm.logic import PAPER_TASKS
from nrm.results.groundability import (
    COLUMNS,
    GroundabilityRow,
    groundability_csv,
    groundability_markdown,
    measure_groundability,
    write_groundability_tables,
)


@pytest.fixture(scope="module")
def rows() -> list[GroundabilityRow]:
    return measure_groundability(budget=0.01, least_seconds=0)


def test_counts_are_the_papers(rows: list[GroundabilityRow]) -> None:
    assert [row.count for row in rows] == [54, 24, 27, 4, 8, 8, 4, 4]
    for row in rows:
        assert min(row.closed_form, row.algorithm_1, row.brute_force, row.formulas) > 0
        assert 0 < row.formulas_maps < row.maps == 3125


def test_what_did_not_finish_is_said(rows: list[GroundabilityRow]) -> None:
    text = groundability_markdown(rows)
    assert text.count("stopped at") == 8
    assert text.count("not finished") == 2
    assert "| 27.25 ± 17.80 | 27.3 ± 17.8 |" in text
    assert "| 6.00 ± 2.00 | 6 ± 2 |" in text
    none = [replace(row, formulas=0.0, formulas_maps=0) for row in rows]
    assert groundability_markdown(none).count("not run") == 8
    done = [replace(row, formulas=12.5, formulas_maps=row.maps) for row in rows]
    text = groundability_markdown(done)
    assert "stopped" not in text
    assert "| 12.5 | 270.4 |" in text
    assert "| 12.5 ± 0 | 434.6 ± 195.6 |" in text


def test_no_budget_runs_nothing() -> None:
    (row,) = measure_groundability(budget=0, tasks=PAPER_TASKS[:1], least_seconds=0)
    assert (row.formulas_maps, row.formulas, row.finished) == (0, 0.0, False)


def test_files(rows: list[GroundabilityRow], tmp_path: Path) -> None:
    markdown, table = write_groundability_tables(rows, tmp_path / "out")
    lines = list(csv.DictReader(io.StringIO(table.read_text())))
    assert tuple(lines[0]) == COLUMNS
    assert lines[1]["paper_brute_force_s"] == "668.362"
    assert lines[1]["brute_force_formulas_s"] == ""
    assert float(lines[1]["algorithm_1_s"]) == pytest.approx(rows[1].algorithm_1, rel=1e-4)
    assert markdown.read_text() == groundability_markdown(rows)
    assert groundability_csv(rows) == table.read_text()


def test_ways_of_counting_that_disagree_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groundability, "brute_force", lambda machine: iter([{}]))
    with pytest.raises(NrmError, match=r"paper task 1.*54.*1"):
        measure_groundability(budget=0, tasks=PAPER_TASKS[:1], least_seconds=0)
