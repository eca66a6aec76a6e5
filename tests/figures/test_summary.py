"""Summaries compare what can be compared."""

from __future__ import annotations

from dataclasses import replace

from nrm.figures.series import collect
from nrm.figures.summary import summary_figures
from tests.figures.drawn import texts
from tests.results.synthetic import record


def test_methods_without_a_task_in_common_are_not_compared() -> None:
    found = collect([record([10] * 8, task="1"), record([90] * 8, task="F gem", method="rnn")])
    summary = dict(summary_figures(found))
    assert sorted(summary) == ["iqm", "profiles"]
    assert "tasks differ; 1 run each" in texts(summary["iqm"])


def test_only_one_thing_is_compared_at_a_time() -> None:
    cells = (("rm", ""), ("nrm", ""), ("nrm", "wide"), ("rnn", "wide"))
    found = collect([record([1, 2, 3], method=method, variant=variant) for method, variant in cells])
    rows = [text for text in texts(dict(summary_figures(found))["improvement"]) if ">" in text]
    assert list(dict.fromkeys(rows)) == ["RM > NRM", "NRM > NRM wide", "NRM wide > RNN wide"]


def test_families_are_called_families() -> None:
    runs = [record([10] * 8, method=method) for method in ("rm", "rnn")]
    many = [replace(run, task=None, config=replace(run.config, tasks="mixture")) for run in runs]
    summary = dict(summary_figures(collect(many)))
    assert "1 family; 1 run each" in texts(summary["iqm"])
    assert "over 1 family in common" in texts(summary["improvement"])
