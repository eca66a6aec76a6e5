from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import nrm
from nrm import Alphabet, MooreMachine
from nrm.errors import AlphabetError, MachineError, UnknownSymbolError
from nrm.machines import machine_from_dict
from tests.strategies import machines

AB = Alphabet.exclusive(["a", "b"])
DOOR = nrm.compile("F a & G !b", ["a", "b", "c"])


def test_a_run_shows_states_levels_and_rewards() -> None:
    run = DOOR.run(["c", "a", "c", "b"])
    assert run.states == (0, 0, 1, 1, 2)
    assert run.outputs == (0.0, 0.0, 100.0, 100.0, -100.0)
    assert run.rewards == (0.0, 100.0, 0.0, -200.0)
    assert not run.accepted
    assert DOOR.accepts(["c", "a"])
    assert DOOR.run([]).states == (0,)


def test_stepping_is_a_function() -> None:
    assert DOOR.step(0, "a") == 1
    assert DOOR.step(0, "a") == 1
    assert DOOR.next_state(1, 1) == 2
    with pytest.raises(MachineError, match="no state 7"):
        DOOR.step(7, "a")
    with pytest.raises(UnknownSymbolError, match="unknown symbol 'd'"):
        DOOR.step(0, "d")


def test_what_is_known_of_states() -> None:
    assert DOOR.absorbing.tolist() == [False, False, True]
    assert DOOR.dead.tolist() == [False, False, True]
    assert DOOR.distance_to_acceptance.tolist() == [1, 0, -1]
    assert DOOR.levels.tolist() == [-100.0, 0.0, 100.0]
    assert DOOR.level_of_state.tolist() == [1, 2, 0]


def test_a_thousand_symbols_share_three_columns() -> None:
    machine = nrm.compile("F s1 & F s2", [f"s{index}" for index in range(1000)])
    assert machine.columns.shape == (4, 3)
    assert machine.transitions.shape == (4, 1000)
    assert machine.step(0, "s999") == 0


@given(machines())
def test_equality_is_by_value(machine: MooreMachine) -> None:
    table = machine.transitions
    twin = MooreMachine.from_table(machine.alphabet, table, machine.accepting, machine.outputs, machine.initial)
    assert machine == twin
    assert hash(machine) == hash(twin)
    assert machine != machine.with_outputs(machine.outputs + 1)
    assert machine != "machine"


def test_machines_are_frozen() -> None:
    for array in (DOOR.columns, DOOR.letter_class, DOOR.accepting, DOOR.outputs, DOOR.transitions):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        DOOR.initial = 1  # type: ignore[misc]


def test_a_machine_does_not_share_the_arrays_that_it_was_given() -> None:
    outputs = np.array([0.0, 1.0])
    machine = MooreMachine.from_table(AB, [[0, 1], [1, 1]], [False, True], outputs)
    outputs[0] = 5.0
    assert machine.outputs.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("table", "accepting", "outputs", "initial", "message"),
    [
        ([[0, 1]], [True], [0.0], 0, "state 0 has no valid transition for 'b': 1 is not a state"),
        ([[0, -1]], [True], [0.0], 0, "state 0 has no valid transition for 'b': -1"),
        ([[0]], [True], [0.0], 0, "1 columns, but the alphabet has 2 letters"),
        ([[0, 0], [0]], [True], [0.0], 0, "rows of different lengths"),
        ([[0, 0]], [True, False], [0.0], 0, "'accepting' has 2 entries for 1 states"),
        ([[0, 0]], [True], [], 0, "'outputs' has 0 entries for 1 states"),
        ([[0, 0]], [True], [float("nan")], 0, "output of state 0 is nan"),
        ([[0, 0]], [True], [0.0], 3, "initial state 3 is not a state"),
        ([[0.5, 0]], [True], [0.0], 0, "'transitions' must hold whole numbers"),
        ([[0, 0]], [True], ["x"], 0, "'outputs' must hold numbers"),
        ([[4294967296, 0]], [True], [0.0], 0, "4294967296, which is no state"),
        ([0, 0], [True], [0.0], 0, "2 dimension"),
    ],
)
def test_malformed_machines(
    table: list[list[int]], accepting: list[bool], outputs: list[float], initial: int, message: str
) -> None:
    with pytest.raises(MachineError, match=message):
        MooreMachine.from_table(AB, table, accepting, outputs, initial)


def test_a_bad_entry_in_a_class_without_letters() -> None:
    with pytest.raises(MachineError, match=r"state 0.*class 1.*\b7\b"):
        MooreMachine(AB, np.array([0, 0]), np.array([[0, 7]]), np.array([True]), np.array([0.0]))


def test_compiling_checks_its_alphabet() -> None:
    assert nrm.compile("F a & F b").alphabet == Alphabet.propositional(["a", "b"])
    assert nrm.compile("F a", "a b c").alphabet == nrm.compile("F a", "a,b,c").alphabet
    assert nrm.compile("F a", propositions="a b").alphabet == Alphabet.propositional(["a", "b"])
    with pytest.raises(AlphabetError, match="not both"):
        nrm.compile("F a", "a", propositions="a")
    with pytest.raises(AlphabetError, match="names no symbol"):
        nrm.compile("true")
    with pytest.raises(UnknownSymbolError, match="unknown symbol 'c'"):
        nrm.compile("F c", "a b")
    with pytest.raises(AlphabetError, match="a list of names, or text"):
        nrm.compile("F a", 5)  # type: ignore[arg-type]


def test_a_symbol_of_every_step_leaves_no_room_for_others() -> None:
    # Over {a} alone every step is an `a`; over {a, b} it need not be.
    assert nrm.compile("G a", "a").states == 1
    assert nrm.compile("G a", "a b").states == 2


HAND_WRITTEN = {
    "symbols": ["a", "b", "c"],
    "initial": "start",
    "transitions": {"won": {"true": "won"}, "start": {"a | b": "won", "else": "start"}},
    "outputs": {"start": 0, "won": 100},
    "accepting": ["won"],
}


def test_a_machine_by_hand() -> None:
    machine = machine_from_dict(HAND_WRITTEN)
    assert machine.initial == 1
    numbered = {"symbols": ["a"], "transitions": {0: {"a": 1}, 1: {"a": 1}}, "outputs": {0: 0, 1: 1}, "accepting": [1]}
    assert machine_from_dict(numbered).accepting.tolist() == [False, True]
    assert nrm.equivalent(machine, nrm.compile("F(a | b)", "a b c"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"transitions": {"start": {"a": "won", "b": "won"}, "won": {"true": "won"}}}, "state 'start' .* 'c'"),
        (
            {"transitions": {"start": {"a | b": "won", "b": "start", "else": "start"}, "won": {"true": "won"}}},
            "state 'start' is not deterministic: .* 'b'",
        ),
        ({"transitions": {"start": {"true": "strat"}}}, "unknown state 'strat' in .*; did you mean 'start'"),
        ({"transitions": {"start": {"F a": "won"}, "won": {"true": "won"}}}, "'F a'"),
        ({"transitions": {}}, "outputs"),
        ({"transitions": {"start": "start"}}, "transitions"),
        ({"outputs": {"start": 0}}, "'outputs' must have .* won"),
        ({"initial": "strt"}, "unknown state 'strt' in 'initial'; did you mean 'start'"),
        ({"accepting": ["lost"]}, "unknown state 'lost' in 'accepting'"),
        ({"accepting": {"won": False}}, "accepting"),
        ({"transitions": {"start": {"true": ["start"]}}}, "transitions"),
        ({"simbols": []}, "unknown key 'simbols' in the machine; did you mean 'symbols'"),
        ({"version": 4}, "4 .*version"),
        ({"format": "other"}, "other.*format"),
        ({"symbols": "abc"}, "symbols"),
    ],
)
def test_bad_machines_by_hand(change: dict[str, object], message: str) -> None:
    with pytest.raises((MachineError, nrm.NrmError), match=message):
        machine_from_dict(HAND_WRITTEN | change)
