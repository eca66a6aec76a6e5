"""Curves are small, and keep their shape."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nrm.report.building import curves
from tests.results.synthetic import record


def test_a_curve_is_the_mean_of_bins() -> None:
    episodes = 1003
    returns = np.random.default_rng(0).normal(size=episodes)
    run = record(returns.tolist(), method="nrm")
    grounding = {
        "episode": np.array([0.0, 400.0]),
        "accuracy": np.array([0.25, 0.75]),
        "accuracy_modulo_shortcuts": np.array([0.5, 1.0]),
    }
    shown = curves([replace(run, grounding=grounding)])
    size, (line,) = shown["size"], shown["runs"]
    assert size == 6
    assert len(line["return"]) == -(-episodes // size) <= 200
    slow = [returns[start : start + size].mean() for start in range(0, episodes, size)]
    assert line["return"] == pytest.approx(slow, abs=0.051)
    assert line["modulo"] == [0.5 if min((n + 1) * size, episodes) < 400 else 1.0 for n in range(len(slow))]


def test_what_is_unknown_at_times_is_null_there() -> None:
    run = record([1.0, 2.0], method="nrm")
    accuracy = np.array([0.5, np.nan])
    grounding = {"episode": np.array([0.0, 2.0]), "accuracy": accuracy, "accuracy_modulo_shortcuts": accuracy}
    (line,) = curves([replace(run, grounding=grounding)])["runs"]
    assert line["modulo"] == [0.5, None]


def test_runs_that_count_steps_are_binned_by_steps() -> None:
    run = record([0.0, 100.0, 100.0, 0.0], method="nrm")
    config = replace(run.config, total_timesteps=2000)
    # Episodes end at steps 4, 9, 25 and 26 of a run of 2,000: bins of 10 steps.
    steps = np.array([4.0, 9.0, 25.0, 26.0])
    metrics = {**run.metrics, "steps": steps, "success": np.array([0.0, 1.0, 1.0, 0.0])}
    grounding = {
        "episode": np.array([0.0, 3.0]),
        "accuracy": np.array([0.5, 1.0]),
        "accuracy_modulo_shortcuts": np.array([0.5, 1.0]),
    }
    counted = replace(run, config=config, metrics=metrics, grounding=grounding)
    shown = curves([counted])
    assert (shown["unit"], shown["size"], shown["length"]) == ("steps", 10, 26)
    (line,) = shown["runs"]
    assert line["success"] == [0.5, None, 0.5]
    assert line["plain"] == [0.5, 0.5, 1.0]
    assert counted.right_from == 25.0
    assert not counted.done
    assert replace(counted, steps=2000).done
