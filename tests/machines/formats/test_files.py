"""What is written reads back equal, and what cannot be read says why."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nrm
from nrm import MooreMachine, Task
from nrm.errors import FileError, MachineError, NrmError, TaskFileError
from nrm.logic import Formula
from nrm.machines import draw, load_machine, load_task, machine_from_dict, save_machine, save_task
from nrm.machines.formats.dot import from_dot, to_dot
from nrm.machines.formats.json import machine_json, machine_to_dict
from nrm.machines.formats.task_file import task_from_toml, task_toml
from tests.strategies import formulas, machines


@given(machines())
def test_json_reads_back_equal(machine: MooreMachine) -> None:
    assert machine_from_dict(machine_to_dict(machine)) == machine
    assert machine_from_dict(json.loads(machine_json(machine))) == machine


@given(machines())
def test_dot_reads_back_equal(machine: MooreMachine) -> None:
    assert from_dot(to_dot(machine, title='with "quotes" and \\ signs')) == machine


@given(formulas(), st.booleans(), st.sampled_from(["distance", "three_value", (1.0, 2.5)]), st.text(max_size=20))
def test_task_files_read_back_equal(formula: Formula, exclusive: bool, reward: str, name: str) -> None:
    alphabet = nrm.Alphabet.of_kind(("a", "b", "empty-cell"), "exclusive" if exclusive else "propositional")
    task = Task(nrm.parse(str(formula)), alphabet, reward, name or "task")
    assert task_from_toml(task_toml(task)) == task


def test_machines_and_tasks_in_files(tmp_path: Path) -> None:
    task = Task.from_paper(5)
    save_task(task, tmp_path / "task.toml")
    assert load_task(tmp_path / "task.toml") == task
    machine = task.machine()
    save_machine(machine, tmp_path / "machine.json")
    assert load_machine(tmp_path / "machine.json") == machine
    data = json.loads((tmp_path / "machine.json").read_text())
    assert data["symbols"] == ["a", "b", "c", "d", "e"]
    assert data["kind"] == "exclusive"
    assert len(data["transitions"]) == len(data["accepting"]) == len(data["outputs"]) == 5
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["machine.json", "task.toml"]


def test_propositional_json_lists_its_letters() -> None:
    data = machine_to_dict(nrm.compile("F(a & b)"))
    assert data["symbols"] == ["a", "b"]
    assert data["letters"] == [[], ["a"], ["b"], ["a", "b"]]
    assert data["transitions"] == [[0, 0, 0, 1], [1, 1, 1, 1]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON: .* at line 1, column 2"),
        ("[]", "a machine is a dictionary, not list"),
        ("{}", "symbols"),
        ('{"symbols": ["a", "b"], "transitions": [[0]], "outputs": [0]}', "1 columns.* 2 letters"),
        ('{"symbols": ["a"], "transitions": [[0, 0]], "outputs": [0]}', "2 columns.* 1 letters"),
        ('{"symbols": ["a"], "transitions": [["q"]], "outputs": [0]}', r"transitions\[0\]\[0\]"),
        ('{"symbols": ["a"], "transitions": [[4]], "outputs": [0]}', "4 is not a state"),
        ('{"symbols": ["a"], "transitions": [[0]], "outputs": [0], "accepting": [1]}', "accepting"),
        (
            '{"symbols": ["a"], "transitions": [[0]], "outputs": [0], "initial": "x"}',
            "initial",
        ),
        ('{"symbols": ["a"], "transitions": [[0]], "outputs": 5}', "outputs"),
        ('{"symbols": ["a"], "transitions": 5, "outputs": [0]}', "transitions"),
        ("[" * 100_000, "nested too deep"),
        ("9" * 5000, "is too long"),
        ('{"symbols": ["a", "F"], "transitions": [[0, 0]], "outputs": [0]}', "machine.json: 'F' cannot name a symbol"),
    ],
)
def test_bad_machine_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "machine.json"
    path.write_text(text)
    with pytest.raises(NrmError, match=message):
        load_machine(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('formula = "F a"\nsymbols = ["a"\n', "is not TOML"),
        ('name = "x"\nformula = "F a &"\nsymbols = ["a"]', r"line 2: in 'formula': the formula ends too early"),
        ('formula = "F a"\n', "'symbols' is missing"),
        ('symbols = ["a"]\n', "'formula' is missing"),
        ('formula = "F a"\nsymbls = ["a"]', r"line 2: unknown key 'symbls'; did you mean 'symbols'"),
        ('formula = "F b"\nsymbols = ["a"]', r"line 1: in 'formula': unknown symbol 'b'"),
        ('formula = "F a"\nsymbols = ["a", "a"]', r"line 2: in 'symbols': symbol 'a' is listed 2 times"),
        ('formula = "F a"\nsymbols = "a"', "line 2: 'symbols'"),
        ('formula = 3\nsymbols = ["a"]', "line 1: 'formula'"),
        ('formula = "F a"\nsymbols = ["a"]\nreward = "distanc"', r"line 3: in 'reward': unknown reward scheme"),
        ('formula = "F a"\nsymbols = ["a"]\nlevels = ["x"]', "line 3: 'levels'"),
        ('formula = "F a"\nsymbols = ["a"]\nlevels = [1]\nreward = "distance"', "'reward' or 'levels', not both"),
        ('formula = "F a"\nsymbols = ["a"]\npropositions = ["a"]', r"line 3: give either 'symbols' or 'propositions'"),
        ("task = 12", r"line 1: in 'task': unknown paper task '12'"),
        ("task = true", "line 1: 'task'"),
        ("task = " + "[" * 5000, "is not TOML"),
        ("task = " + "9" * 5000, "is not TOML"),
        ('formula = "F a"\nsymbols = ["a"]\nlevels = [1' + "0" * 400 + "]", "line 3: 'levels'"),
    ],
)
def test_bad_task_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "task.toml"
    path.write_text(text)
    with pytest.raises(TaskFileError, match=message):
        load_task(path)


def test_a_paper_task_with_its_own_symbols(tmp_path: Path) -> None:
    path = tmp_path / "task.toml"
    path.write_text('task = "visit-2"\nsymbols = ["pickaxe", "lava", "empty"]\nreward = "three_value"\n')
    task = load_task(path)
    assert str(task.formula) == "F pickaxe & F lava"
    assert task.machine().levels.tolist() == [0, 100]


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no file"):
        load_machine(tmp_path / "none.json")
    with pytest.raises(FileError, match="cannot read"):
        load_task(tmp_path)
    with pytest.raises(FileError, match="file or folder"):
        save_machine(nrm.compile("F a"), tmp_path / "no" / "machine.json")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match="not UTF-8"):
        load_task(tmp_path / "binary")


def test_what_is_no_plain_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    machine = nrm.compile("F a")
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    save_machine(machine, tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert load_machine(tmp_path / "real.json") == machine
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    save_machine(machine, tmp_path / "pipe")
    assert os.read(reader, 1) == b"{"
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()
    with pytest.raises(FileError, match="it is a folder"):
        save_machine(machine, tmp_path)
    with pytest.raises(FileError, match="null byte"):
        save_machine(machine, "a\0b")
    with pytest.raises(FileError, match=r"\.svg or \.png"):
        draw(machine, tmp_path / "machine.pdf")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "machine.json"
    path.write_text("old")

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(FileError, match="No space left"):
        save_machine(nrm.compile("F a"), path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["machine.json"]


def test_task_files_hold_no_functions() -> None:
    task = Task(nrm.parse("F a"), nrm.Alphabet.exclusive("ab"), reward=lambda machine: machine.outputs)
    with pytest.raises(TaskFileError, match="not a function"):
        task_toml(task)


def test_dot_from_elsewhere_is_refused() -> None:
    with pytest.raises(MachineError, match="DOT"):
        from_dot("digraph { a -> b }")
    with pytest.raises(FileError, match="not DOT text"):
        from_dot("no graph {")
