"""Tasks that are machines."""

from __future__ import annotations

from pathlib import Path

import pytest

import nrm
from nrm.errors import TaskFileError
from nrm.machines import Task, is_machine_file, task_of_machine_file
from nrm.machines.formats.task_file import task_from_toml, task_toml

MACHINE = nrm.compile("F(a & F b)", "a b c", reward="three_value")


@pytest.mark.parametrize("ending", ["json", "hoa", "txt", "dot"])
def test_a_machine_file_is_a_task(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"order.{ending}"
    nrm.save_machine(MACHINE, path)
    assert is_machine_file(str(path))
    task = task_of_machine_file(path)
    assert task.name == f"order.{ending}"
    assert nrm.equivalent(task.machine(), MACHINE)
    again = task_from_toml(task_toml(task))
    assert again.machine() == task.machine()
    assert (again.name, again.alphabet) == (task.name, task.alphabet)


def test_formulas_are_no_machine_files() -> None:
    for text in ("F a", "task.toml", "1", "visit-2", "F(a & F b)"):
        assert not is_machine_file(text)


def test_it_keeps_what_no_formula_says() -> None:
    """Potentials of its own, and a state that a minimal machine would not have."""
    machine = nrm.compile("F a", "a b").with_outputs([5.0, 7.0])
    task = Task.from_machine(machine, "own")
    assert task.machine() == machine
    assert task_from_toml(task_toml(task)) == task
    assert str(task.formula) == "a machine of 2 states over a, b"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('machine = "{"\n', "line 1: in 'machine'"),
        ('machine = "{}"\n', "symbols"),
        ('machine = "{}"\nformula = "F a"\n', "line 2: a machine says everything itself; drop 'formula'"),
    ],
)
def test_malformed_ones(text: str, message: str) -> None:
    with pytest.raises(TaskFileError, match=message):
        task_from_toml(text)
