"""Zones: what is computed from rows, by hand."""

from __future__ import annotations

import pytest
from benchmarks.headline import benchmark
from benchmarks.zones import FORMULAS, jobs, means

from nrm.envs import ZonesConfig
from nrm.machines import as_machine


def test_means_are_over_seeds_and_steps_over_seeds_with_a_success() -> None:
    scores = {"sampled_formulas": [0.5, 1.0], "sampled_steps": [None, 100.0], "best_formulas": [], "best_steps": []}
    other = {**scores, "sampled_formulas": [0.7, 0.0], "sampled_steps": [80.0, None]}
    found = means([{"method": "rm", **scores}, {"method": "rm", **other}])
    assert found == pytest.approx(
        {"rm sampled 1": 0.6, "rm sampled 2": 0.5, "rm sampled 1, steps": 80, "rm sampled 2, steps": 100}
    )


def test_every_formula_can_be_satisfied_and_lost_or_not() -> None:
    alphabet = ZonesConfig().alphabet
    machines = [as_machine(formula, alphabet) for formula in FORMULAS]
    assert all(machine.distance_to_acceptance[machine.initial] > 0 for machine in machines)
    assert [bool(machine.dead.any()) for machine in machines] == [False, True, False, True, True, True]


def test_both_methods_are_measured_with_every_seed() -> None:
    assert len(jobs(benchmark("zones").seeds)) == 10
