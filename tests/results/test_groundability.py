"""The paper's groundability tables come out, with what was not run said to be so."""

from dataclasses import replace

import pytest

import nrm.results.groundability as groundability
from nrm.errors import NrmError
from nrm.logic import PAPER_TASKS
from nrm.results.groundability import (
    GroundabilityRow,
    groundability_markdown,
    measure_groundability,
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
    assert "| 668.4 |" in text
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


def test_ways_of_counting_that_disagree_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groundability, "brute_force", lambda machine: iter([{}]))
    with pytest.raises(NrmError, match=r"paper task 1.*54.*1"):
        measure_groundability(budget=0, tasks=PAPER_TASKS[:1], least_seconds=0)
