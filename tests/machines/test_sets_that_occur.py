"""Alphabets of the sets of propositions that occur: nothing is asked of what never holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nrm
from nrm import Alphabet
from nrm.errors import AlphabetError, FileError, TraceError
from nrm.logic import parse
from nrm.machines import Task, TaskSet
from nrm.machines.formats.json import machine_from_dict, machine_to_dict
from nrm.machines.formats.pool_file import pool_bytes, pool_from_bytes
from nrm.machines.formats.task_file import task_from_toml, task_toml
from nrm.machines.guards import guard, letters_where
from nrm.shortcuts import shortcuts

PLANE = Alphabet.of_sets(["red", "blue", "green"], [(), ("red",), ("blue",), ("green",), ("green", "blue")])


def test_letters_are_the_sets_that_were_named() -> None:
    assert PLANE.occurring == (0, 1, 2, 4, 6)
    assert PLANE.size == 5
    assert PLANE.letter_names == ("-", "red", "blue", "green", "blue&green")
    assert PLANE.encode([(), ["green", "blue"], "green"]) == [0, 4, 3]
    assert PLANE.decode([4, 0]) == [("blue", "green"), ()]
    assert PLANE.letter_masks().tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]]
    assert PLANE.propositions is None
    assert not PLANE.is_exclusive
    assert [PLANE.letter(PLANE.read_step(name)) for name in PLANE.letter_names] == [0, 1, 2, 3, 4]


def test_what_never_holds_together_is_no_letter() -> None:
    with pytest.raises(TraceError, match=r"\{green, red\}.*step 2.*blue&green"):
        PLANE.encode(["red", ("red", "green")])


@pytest.mark.parametrize("sets", [(), (1, 0), (0, 0), (-1,), (8,)])
def test_sets_that_are_none(sets: tuple[int, ...]) -> None:
    with pytest.raises(AlphabetError, match="below 2\\^3, ascending"):
        Alphabet.of_kind(("red", "blue", "green"), "propositional", sets)
    with pytest.raises(AlphabetError, match="exactly one symbol holds"):
        Alphabet.of_kind(("red", "blue"), "exclusive", (0, 1))


def test_a_task_takes_as_many_steps_as_the_env_asks_for() -> None:
    formula = "F red & F(blue & green)"
    anything = nrm.compile(formula, propositions=PLANE.symbols)
    assert anything.distance_to_acceptance[anything.initial] == 1  # all at once
    machine = nrm.compile(formula, PLANE)
    assert machine.distance_to_acceptance[machine.initial] == 2
    assert machine.transitions.shape == (4, 5)
    assert machine.accepts(["red", (), ("blue", "green")])
    assert not machine.accepts(["red", "blue", "green"])
    # What differs on sets that never occur only is one task.
    assert nrm.compile("F(red & green)", PLANE) == nrm.compile("false", PLANE)
    assert nrm.compile("F(green & blue)", PLANE) != nrm.compile("F green", PLANE)


@pytest.mark.parametrize("number", range(32))
def test_guards_hold_at_their_letters_alone(number: int) -> None:
    letters = np.array([bool(number >> letter & 1) for letter in range(5)])
    assert letters_where(guard(PLANE, letters), PLANE).tolist() == letters.tolist()


def test_guards_do_not_speak_of_what_never_occurs() -> None:
    red = np.array([False, True, False, False, False])
    assert str(guard(PLANE, red)) == "red"


def test_files_keep_the_sets(tmp_path: Path) -> None:
    task = Task(parse("F(red & F(blue & green))"), PLANE)
    machine = task.machine()
    assert machine_from_dict(machine_to_dict(machine)) == machine
    assert task_from_toml(task_toml(task)) == Task(task.formula, PLANE, name=task.name)
    pool, _ = pool_from_bytes(pool_bytes(TaskSet.of([machine])), "here")
    assert pool.machines == (machine,)
    for ending in ("json", "dot"):
        nrm.save_machine(machine, tmp_path / f"m.{ending}")
        assert nrm.load_machine(tmp_path / f"m.{ending}") == machine
    for ending in ("hoa", "txt"):
        with pytest.raises(FileError, match=r"sets of propositions.*\.json"):
            nrm.save_machine(machine, tmp_path / f"m.{ending}")


def test_shortcuts_are_of_letters() -> None:
    found = shortcuts(nrm.compile("F(red & F(blue & green))", PLANE))
    told = {verdict.symbol: verdict.groundable for verdict in found.verdicts}
    assert told == {"-": False, "red": True, "blue": False, "green": False, "blue&green": True}
    assert found.count == 3**3  # the three letters that do nothing, in any way
    assert found.labels_needed == ("-", "blue", "green")
    with pytest.raises(AlphabetError, match="every subset is a letter"):
        _ = found.renamings


def test_few_sets_of_many_propositions_are_a_small_table() -> None:
    names = [f"p{number}" for number in range(30)]
    few = Alphabet.of_sets(names, [(), *([name] for name in names), ["p3", "p29"]])
    machine = nrm.compile("F(p3 & F(p29 & p3)) & G !p7", few)
    assert machine.transitions.shape[1] == few.size == 32
    assert machine.accepts(["p3", (), "p1", ("p29", "p3")])
    assert not machine.accepts(["p3", "p7", ("p29", "p3")])
    assert machine == nrm.compile("F(p3 & F(p29 & p3)) & !F p7", few)
    pool = TaskSet.of([machine, "F p1"], few)
    assert pool.union.transitions.shape[1] == 32
    assert machine_from_dict(machine_to_dict(machine)) == machine
