"""Summaries compare what can be compared."""

from __future__ import annotations

from nrm.figures.curves import summary_figures
from nrm.figures.series import collect
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
