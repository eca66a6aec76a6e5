"""Runs become series and curves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nrm.figures.series import AXES, Curve, class_curve, collect, count_note, grounding_curves, learning_curve
from nrm.results import Record
from nrm.runs import Family
from tests.results.synthetic import record


def test_learning_curve_is_the_mean_of_moving_means() -> None:
    runs = [record([0, 10, 20, 30]), record([10, 10, 10, 10, 99], seed=1)]
    curve = learning_curve(runs, window=2)
    assert curve.at.tolist() == [2, 3, 4]  # as far as the shorter one goes
    assert curve.mean.tolist() == [7.5, 12.5, 17.5]
    assert curve.deviation.tolist() == [2.5, 2.5, 7.5]


@given(st.integers(1, 3000), st.integers(1, 120))
def test_curves_are_thinned_and_keep_their_ends(length: int, window: int) -> None:
    returns = np.arange(length, dtype=np.float64)
    curve = learning_curve([record(returns.tolist())], window)
    width = min(window, length)
    assert len(curve.at) <= 250
    assert (curve.at[0], curve.at[-1]) == (width, length)
    assert curve.mean == pytest.approx(curve.at - (width + 1) / 2)


def test_a_class_weighs_its_tasks_alike() -> None:
    episodes = np.array([1.0, 2.0])
    first = Curve(episodes, np.array([0.0, 0.0]), np.array([3.0, 3.0]), 5)
    second = Curve(np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0]), np.array([4.0, 4.0, 4.0]), 1)
    both = class_curve([first, second])
    assert both.at[-1] == 2
    assert both.mean[[0, -1]].tolist() == [5, 10]
    assert both.deviation[0] == pytest.approx(np.sqrt((9 + 16) / 2))
    assert both.runs == 6


def test_grounding_holds_between_updates() -> None:
    runs = [record([0] * 8, method="nrm", seed=seed) for seed in (0, 1)]
    curve = grounding_curves(runs)["accuracy_modulo_shortcuts"]
    assert curve.at.tolist() == list(range(9))
    assert curve.mean.tolist() == [0, 0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1]
    assert curve.runs == 2


def test_notes_count_runs() -> None:
    assert count_note([("RM", 1)]) == "1 run"
    assert count_note([("RM", 5), ("NRM", 5)]) == "5 runs each"
    assert count_note([("RM", 5), ("NRM", 3)]) == "runs: RM 5, NRM 3"


def test_accuracy_that_is_unknown_has_no_curve() -> None:
    run = record([0] * 8, method="nrm")
    assert run.grounding is not None
    unknown = np.full(len(run.grounding["episode"]), np.nan)
    other = replace(run, grounding={**run.grounding, "accuracy_modulo_shortcuts": unknown})
    assert set(grounding_curves([other])) == {"accuracy", "balanced_accuracy"}
    both = grounding_curves([run, other])
    assert (both["accuracy"].runs, both["accuracy_modulo_shortcuts"].runs) == (2, 1)


def told(method: str, variant: str = "") -> Record:
    run = record([1, 2, 3], variant=variant)
    return replace(run, config=replace(run.config, method=method))


def test_methods_look_as_they_ask_for() -> None:
    runs = collect([told(name) for name in ("rnn", "nrm", "rm")])
    assert [series.label for series in runs.series] == ["RM", "NRM", "RNN"]
    assert [series.look.colour for series in runs.series] == ["#0072b2", "#d55e00", "#009e73"]
    assert len({str(series.look.line) for series in runs.series}) == 3  # to be read in grey
    assert runs.series[0].look.line == "-"


def test_further_series_and_methods_that_are_gone_look_different() -> None:
    runs = collect([told("rm"), told("rm", "wide"), told("gone:A"), told("gone:B"), told("gone:A", "wide")])
    assert [series.label for series in runs.series] == ["RM", "gone:A", "gone:B", "RM wide", "gone:A wide"]
    assert len({series.look for series in runs.series}) == 5


def test_tasks_come_in_order_in_every_env() -> None:
    runs = collect([record([1], task=task, env=env) for task, env in (("2", "map"), ("2", "image"), ("1", "image"))])
    assert runs.envs == ["map", "image"]
    assert [task.about.paper and task.about.paper.number for task in runs.tasks_in("image")] == [1, 2]


def test_success_over_steps_by_hand() -> None:
    one = record([100, 0, 100, 100])
    other = replace(record([0, 0, 100]), metrics={**record([0, 0, 100]).metrics, "steps": np.array([5.0, 15.0, 45.0])})
    # Means of two episodes: of one 0.5, 0.5, 1 at steps 20, 30, 40; of the other 0 and 0.5 at 15 and 45.
    curve = learning_curve([one, other], 2, AXES[1])
    assert (curve.at[0], curve.at[-1], curve.runs) == (20, 40, 2)
    assert curve.mean[0] == pytest.approx((0.5 + 0.5 * 5 / 30) / 2)
    assert curve.mean[-1] == pytest.approx((1 + 0.5 * 25 / 30) / 2)


def test_grounding_of_many_tasks_is_over_steps() -> None:
    run = replace(record([0, 100, 100, 100], method="nrm"), about=Family("reach"))
    curve = grounding_curves([run])["accuracy"]
    assert curve.at[-1] == 40
    # An update after every episode of 10 steps: 0, 0.1, 0.2, 0.3, 0.4.
    assert curve.mean[[0, 9, 10, 25, 40]].tolist() == pytest.approx([0, 0, 0.1, 0.2, 0.4])
