"""Machines on the letters of many environments: by classes and along diagrams."""

from __future__ import annotations

import numpy as np
import pytest

import nrm
from nrm.envs.task_runner import stepper

TEXT = " & ".join(f"response(a{number}, b{number})" for number in range(7))


def test_both_ways_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = nrm.compile(TEXT)
    by_classes = stepper(machine)
    monkeypatch.setattr("nrm.automata.move_diagram.MAX_CELLS", 1)
    by_diagram = stepper(nrm.compile(TEXT))
    assert by_classes.__qualname__ != by_diagram.__qualname__
    generator = np.random.default_rng(0)
    states = generator.integers(machine.states, size=200)
    letters = generator.integers(1 << 14, size=200)
    (one, paid), (two, same) = (found(states, letters) for found in (by_classes, by_diagram))
    expected = [
        machine.next_state(state, letter) for state, letter in zip(states.tolist(), letters.tolist(), strict=True)
    ]
    assert one.tolist() == two.tolist() == expected
    assert paid.tolist() == same.tolist() == (machine.outputs[one] - machine.outputs[states]).tolist()
