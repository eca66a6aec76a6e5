"""Summaries compare what can be compared."""

from __future__ import annotations

from nrm.figures.curves import summary_figure
from nrm.figures.series import collect
from tests.figures.drawn import texts
from tests.results.synthetic import record


def test_methods_without_a_task_in_common_are_not_compared() -> None:
    found = collect([record([10] * 8, task="1"), record([90] * 8, task="F gem", method="rnn")])
    ((name, figure),) = summary_figure(found)
    assert name == "iqm"
    assert "tasks differ; 1 run each" in texts(figure)
