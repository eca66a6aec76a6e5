from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

import nrm
from nrm import Alphabet, Task
from nrm.automata import Limits
from nrm.errors import AlphabetError, LimitError, MachineError
from nrm.machines import as_machine, load_machine
from nrm.machines.operations import canonical

AB = Alphabet.exclusive("ab")


def test_a_task_is_compiled_once() -> None:
    task = Task(nrm.parse("F a"), AB)
    assert task.machine() is task.machine()
    assert task.machine() == nrm.compile("F a", "a b")
    assert replace(task, reward="acceptance").machine() == nrm.compile("F a", "a b", reward="acceptance")
    for other in (pickle.loads(pickle.dumps(task)), copy.copy(task), Task(nrm.parse("F a"), AB)):
        assert other == task
        assert other.machine() == task.machine()
    with pytest.raises(LimitError, match="limits: 1 states"):
        task.machine(Limits(states=1))


def test_tasks_machines_and_formulas_go_wherever_a_machine_does(tmp_path: Path) -> None:
    task, machine = Task(nrm.parse("F a"), AB), nrm.compile("F a", "a b")
    assert nrm.equivalent(task, machine)
    assert nrm.equivalent("F a", task)
    assert nrm.equivalent(machine, nrm.parse("true U a"))
    assert nrm.difference("F b", task) == nrm.difference(nrm.compile("F b", "a b"), machine)
    assert nrm.machines.product(task, "F b") == nrm.machines.product(machine, nrm.compile("F b", "a b"))
    assert nrm.machines.minimise(task) == canonical(machine)
    assert nrm.shortcuts(task) == nrm.shortcuts(machine)
    assert nrm.shortcuts([task, "F b"]) == nrm.shortcuts([machine, nrm.compile("F b", "a b")])
    nrm.save_machine(task, tmp_path / "task.json")
    assert load_machine(tmp_path / "task.json") == machine


@pytest.mark.parametrize("given", [3, None, ["F a"]])
def test_what_is_no_machine_is_told_what_is_needed(given: object) -> None:
    with pytest.raises(MachineError, match=r"task.*formula"):
        as_machine(given)  # type: ignore[arg-type]
    assert as_machine("F a", AB) == nrm.compile("F a", "a b")
    assert as_machine(nrm.parse("F a & F b")) == nrm.compile("F a & F b", propositions="a b")
    with pytest.raises(AlphabetError, match="different alphabets"):
        nrm.equivalent(Task(nrm.parse("F a"), AB), nrm.compile("F a", "a b c"))
