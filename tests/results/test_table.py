"""The table of results says what the runs say."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nrm.errors import StatisticsError
from nrm.results import results_csv, results_markdown, results_table, write_results
from nrm.results.results import COLUMNS, paper_task_of
from tests.results.synthetic import grid, record


def test_a_row_by_hand() -> None:
    runs = [record([0, 50, last, 100], method="nrm", seed=seed) for seed, last in enumerate((0, 60, 80, 90, 100))]
    (row,) = results_table(runs, last=2)
    assert row.last is not None
    assert row.iqm is not None
    scores = [50, 80, 90, 95, 100]
    assert (row.runs, row.unfinished, row.last_worst) == (5, 0, 50)
    assert row.last.mean == pytest.approx(np.mean(scores))
    assert row.last.deviation == pytest.approx(np.std(scores))
    assert row.iqm.estimate == pytest.approx(np.mean([80, 90, 95]))
    assert 50 <= row.iqm.low <= row.iqm.estimate <= row.iqm.high <= 100
    assert row.area == pytest.approx(np.mean([37.5, 52.5, 57.5, 60, 62.5]))
    assert row.success == pytest.approx(6 / 10)
    assert row.accuracies == pytest.approx((0.4, 0.3, 1.0))
    assert row.cpu_seconds == 1.0


def test_rows_come_in_the_papers_order_whatever_the_order_of_runs() -> None:
    runs = grid(tasks=("F gem", "8", "2"), worlds=("image", "map"))
    rows = results_table(reversed(runs))
    assert rows == results_table(runs)
    tasks = ["paper task 2", "paper task 8", "F gem"]
    heads = [(row.world, row.task.split(":")[0], row.method) for row in rows]
    assert heads == [(w, t, m) for w in ("map", "image") for t in tasks for m in ("rm", "nrm", "rnn")]


def test_a_row_depends_on_its_own_runs_only() -> None:
    runs = grid()
    everything = results_table(runs)
    alone = results_table(run for run in runs if run.method == "nrm" and "5" in run.task)
    assert alone == [row for row in everything if row.method == "nrm" and "5" in row.task]


def test_unfinished_runs_are_counted_and_left_out() -> None:
    runs = [record([100] * 4), record([0] * 3, seed=1, missing=1), record([], seed=0, method="nrm", missing=4)]
    first, second = results_table(runs)
    assert (first.runs, first.unfinished, first.last_worst) == (1, 1, 100)
    assert (second.runs, second.unfinished, second.last, second.iqm) == (0, 1, None, None)
    text = results_markdown([first, second])
    assert "unfinished" in text
    assert "–" in text
    assert results_csv([second]).splitlines()[1].endswith("nrm,0,1" + "," * 12)


def test_variants_are_told_apart() -> None:
    runs = [record([0] * 3), record([100] * 3, variant="wide|er")]
    plain, wide = results_table(runs)
    assert (plain.variant, wide.variant) == ("", "wide|er")
    lines = results_markdown([plain, wide]).splitlines()
    assert lines[0].split(" | ")[1] == "variant"
    assert {line.replace("\\|", "").count("|") for line in lines} == {lines[0].count("|")}
    assert "variant" not in results_markdown([plain])


def test_runs_with_other_settings_are_not_averaged_with_the_rest() -> None:
    usual = [record([100] * 4, seed=seed) for seed in range(3)]
    odd = record([0] * 4, seed=3)
    agent = replace(odd.config.agent, learning_rate=0.5)
    odd = replace(odd, config=replace(odd.config, agent=agent))
    plain, other = results_table([odd, *usual])
    assert (plain.variant, plain.runs, plain.last_worst) == ("", 3, 100)
    assert (other.variant, other.runs, other.last_worst) == ("learning_rate=0.5", 1, 0)


def test_csv_reads_back() -> None:
    rows = results_table(grid())
    read = list(csv.DictReader(io.StringIO(results_csv(rows))))
    assert tuple(read[0]) == COLUMNS
    assert len(read) == 6
    for row, line in zip(rows, read, strict=True):
        assert (row.world, row.task, row.method) == (line["world"], line["task"], line["method"])
        assert row.last is not None
        assert float(line["last_mean"]) == pytest.approx(row.last.mean, rel=1e-5)
        assert (line["accuracy"] == "") == (row.method != "nrm")


def test_written(tmp_path: Path) -> None:
    paths = write_results(grid(), tmp_path / "new" / "folder")
    assert [path.name for path in paths] == ["results.csv", "results.md"]
    assert all(path.read_text() for path in paths)
    with pytest.raises(StatisticsError, match="no runs"):
        write_results([], tmp_path)


def test_paper_tasks_are_known_by_their_formula() -> None:
    first = paper_task_of(record([1], task="F lava & F pickaxe"))
    assert first is None  # another order of the conjuncts is another formula
    second = paper_task_of(record([1], task="F pickaxe & F lava"))
    assert second is not None
    assert second.number == 1
    assert paper_task_of(record([1], task="F gem")) is None
