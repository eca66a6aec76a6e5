"""The table of results says what the runs say."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nrm.errors import StatisticsError
from nrm.results import ACCURACIES, results_table, write_results
from nrm.results.table import COLUMNS, UNKNOWN, results_csv, results_markdown
from tests.results.synthetic import grid, record


def test_a_row_by_hand() -> None:
    runs = [record([0, 50, last, 100], method="nrm", seed=seed) for seed, last in enumerate((0, 60, 80, 90, 100))]
    (row,) = results_table(runs, last=2)
    found = row.scores
    expected = [50, 80, 90, 95, 100]
    assert (row.runs, row.unfinished, found["last_worst"]) == (5, 0, 50)
    assert found["last_mean"] == pytest.approx(np.mean(expected))
    assert found["last_deviation"] == pytest.approx(np.std(expected))
    assert found["iqm"] == pytest.approx(np.mean([80, 90, 95]))
    assert 50 <= found["iqm_low"] <= found["iqm"] <= found["iqm_high"] <= 100
    assert found["area"] == pytest.approx(np.mean([37.5, 52.5, 57.5, 60, 62.5]))
    assert found["success"] == pytest.approx(6 / 10)
    assert [found[name] for name in ACCURACIES] == pytest.approx([0.4, 0.3, 1.0])
    assert found["cpu_seconds"] == 1.0


def test_a_row_depends_on_its_own_runs_only() -> None:
    runs = grid()
    everything = results_table(runs)
    alone = results_table(run for run in runs if run.method == "nrm" and "5" in run.subject)
    assert alone == [row for row in everything if row.group.method == "nrm" and "5" in row.group.task]


def test_unfinished_runs_are_counted_and_left_out() -> None:
    runs = [record([100] * 4), record([0] * 3, seed=1, missing=1), record([], seed=0, method="nrm", missing=4)]
    first, second = results_table(runs)
    assert (first.runs, first.unfinished, first.scores["last_worst"]) == (1, 1, 100)
    assert (second.runs, second.unfinished, second.scores) == (0, 1, {})
    text = results_markdown([first, second])
    assert "unfinished" in text
    assert UNKNOWN in text
    assert results_csv([second]).splitlines()[1].endswith("nrm,0,1" + "," * 12)


def test_accuracy_that_is_unknown_is_left_out() -> None:
    known, unknown = record([1] * 4, method="nrm"), record([1] * 4, method="nrm", seed=1)
    assert unknown.grounding is not None
    column = np.full(len(unknown.grounding["episode"]), np.nan)
    unknown = replace(unknown, grounding={**unknown.grounding, "accuracy_modulo_shortcuts": column})
    (both,), (alone,) = results_table([known, unknown]), results_table([unknown])
    assert both.texts["up to equivalence"] == "100.0%"
    assert alone.texts["up to equivalence"] == UNKNOWN
    assert alone.texts["accuracy"] == "40.0%"
    assert "nan" not in results_csv([alone])


def test_variants_are_told_apart() -> None:
    plain, wide = results_table([record([0] * 3), record([100] * 3, variant="wide|er")])
    assert (plain.group.variant, wide.group.variant) == ("", "wide|er")
    lines = results_markdown([plain, wide]).splitlines()
    assert lines[0].split(" | ")[2] == "variant"
    assert {line.replace("\\|", "").count("|") for line in lines} == {lines[0].count("|")}
    assert "variant" not in results_markdown([plain])


def test_csv_reads_back() -> None:
    rows = results_table(grid())
    read = list(csv.DictReader(io.StringIO(results_csv(rows))))
    assert tuple(read[0]) == COLUMNS
    assert len(read) == 6
    for row, line in zip(rows, read, strict=True):
        assert (row.group.env, row.group.task, row.group.method) == (line["env"], line["task"], line["method"])
        assert float(line["last_mean"]) == pytest.approx(row.scores["last_mean"], rel=1e-5)
        assert (line["accuracy"] == "") == (row.group.method != "nrm")


def test_written(tmp_path: Path) -> None:
    paths = write_results(grid(), tmp_path / "new" / "folder")
    assert [path.name for path in paths] == ["results.csv", "results.md"]
    assert all(path.read_text() for path in paths)
    with pytest.raises(StatisticsError, match="no runs"):
        write_results([], tmp_path)


def test_what_was_not_used_is_named(tmp_path: Path) -> None:
    runs = [record([1, 2], path="a"), record([1, 2], path="b")]
    table, text = write_results(runs, tmp_path, {Path("c"): "not\nJSON"})
    assert len(table.read_text().splitlines()) == 2
    notes = text.read_text().split("Not used, or in part:\n\n")[1].splitlines()
    assert notes == ["- `b`: the same run as a; it is counted once", "- `c`: not JSON"]
