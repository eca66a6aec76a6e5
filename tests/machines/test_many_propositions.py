"""Machines over many propositions, held against those over few and against direct meaning."""

from __future__ import annotations

import json
import random
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings

import nrm
from nrm.automata.letters import LetterFunction
from nrm.automata.move_diagram import MoveDiagram
from nrm.errors import LimitError, MachineError, NrmWarning
from nrm.logic import Formula, holds
from nrm.machines import Alphabet, MooreMachine, TaskSet, machine_from_dict, text_picture
from nrm.machines.formats.json import machine_json, machine_to_dict
from nrm.machines.guards import machine_of_moves, moves
from nrm.machines.reward_machine import RewardEdge, RewardMachine
from tests.automata.diagrams import use_diagrams
from tests.machines.paid import rewards
from tests.strategies import formulas

HAZARDS = [f"h{number}" for number in range(20)]
TASK = f"F(a & F(b & F(c & F d))) & global_avoidance({', '.join(HAZARDS)})"


@pytest.fixture
def diagrams(monkeypatch: pytest.MonkeyPatch) -> None:
    """Diagrams for few propositions too."""
    use_diagrams(monkeypatch)


@pytest.fixture(scope="module")
def machine() -> MooreMachine:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NrmWarning)
        return nrm.compile(TASK)


@settings(max_examples=80, deadline=None)
@given(formulas(atoms=("a", "b", "c")))
def test_diagrams_give_the_same_machine_as_arrays(formula: Formula) -> None:
    alphabet = nrm.Alphabet.propositional(["c", "a", "b", "d"])
    expected = nrm.compile(formula, alphabet)
    assert not isinstance(expected.letters, LetterFunction)
    with pytest.MonkeyPatch.context() as patch:
        use_diagrams(patch)
        found = nrm.compile(formula, alphabet)
        assert isinstance(found.moves, MoveDiagram)
        assert isinstance(found.letters, LetterFunction)
    # States are numbered by the first proposition first, and otherwise by the last one first.
    assert (found.states, found.classes) == (expected.states, expected.classes)
    assert np.array_equal(found.letter_class, expected.letter_class)
    assert found.class_sizes == expected.class_sizes
    pairs = {(found.initial, expected.initial)}
    for a, b in (queue := list(pairs)):
        fresh = set(zip(found.columns[a].tolist(), expected.columns[b].tolist(), strict=True)) - pairs
        pairs |= fresh
        queue += fresh
    assert len(pairs) == found.states
    assert all(found.accepting[a] == expected.accepting[b] for a, b in pairs)
    assert all(found.outputs[a] == expected.outputs[b] for a, b in pairs)


def test_products_of_parts_too(diagrams: None) -> None:
    """Formulas whose parts are translated by themselves, and subformulas as known automata."""
    text = " & ".join(f"response(a{i}, b{i})" for i in range(5)) + " & (G(a0 U b0) | F(a1 & X(a2 U b2)))"
    found = nrm.compile(text)
    generator = random.Random(0)
    for _ in range(100):
        steps, names = generator.randint(1, 6), found.alphabet.symbols
        trace = [[name for name in names if generator.random() < 0.4] for _ in range(steps)]
        assert found.accepts(trace) == holds(text, trace)


@pytest.mark.parametrize(
    ("logic", "text"),
    [("ldlf", "<(!{h})*; a; (!{h})*; b>tt"), ("re", "(!{h})*; a; (!{h})*; b; .*"), ("ppltl", "O(b & Y O a) & H !{h}")],
)
def test_every_language(logic: str, text: str) -> None:
    found = nrm.compile(text.replace("{h}", f"({' | '.join(HAZARDS)})"), logic=logic)
    assert found.accepts([["a"], ["b"]])
    assert not found.accepts([["h7"], ["a"], ["b"]])


def test_patterns_over_many_in_regular_expressions() -> None:
    found = nrm.compile(f"global_avoidance({', '.join(HAZARDS)}); a", logic="re")
    assert found.accepts([["a"], ["a"]])
    assert not found.accepts([["h3"], ["a"]])


def test_by_hand(machine: MooreMachine) -> None:
    assert machine.alphabet.size == 2**24
    assert (machine.states, machine.classes) == (6, 17)
    assert sorted(machine.class_sizes) == [1] * 16 + [2**24 - 16]
    assert machine.run([["a"], ["b", "c"], [], ["d"]]).accepted
    assert not machine.accepts([["a"], ["b", "c"], ["h19"], ["d"]])
    assert machine.run([["h0"]]).outputs[-1] == -100.0
    assert "2^24 propositional letters in diagrams of 104 nodes" in repr(machine)


def test_equality_does_not_depend_on_how_the_formula_is_written(machine: MooreMachine) -> None:
    turned = " & ".join([*(f"G !{hazard}" for hazard in reversed(HAZARDS)), "F(a & F(b & F(c & F d)))"])
    other = nrm.compile(turned, propositions=machine.alphabet.symbols)
    assert other == machine
    assert hash(other) == hash(machine)
    assert nrm.equivalent(other, machine)
    without = nrm.compile(turned.replace("G !h7 & ", ""), propositions=machine.alphabet.symbols)
    assert without != machine
    found = nrm.difference(without, machine)
    assert found is not None
    assert found.trace == (("h7",),)
    assert nrm.machines.minimise(machine) == machine
    # Both go on (5 states), the first one is lost by h7 while the other goes on (5), or both are lost.
    assert nrm.machines.product(machine, without).states == 11


def test_files(machine: MooreMachine, tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    nrm.save_machine(machine, path)
    assert path.stat().st_size < 20_000
    assert nrm.load_machine(path) == machine
    for name in ("machine.dot", "machine.hoa", "machine.txt"):
        nrm.save_machine(machine, tmp_path / name)
        assert (tmp_path / name).stat().st_size < 60_000
    task = nrm.Task.from_machine(machine)
    nrm.machines.save_task(task, tmp_path / "task.toml")
    assert nrm.load_task(tmp_path / "task.toml").machine() == machine


def test_dot_and_hoa_are_read_back(machine: MooreMachine, tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz")
    nrm.save_machine(machine, tmp_path / "machine.dot")
    assert nrm.load_machine(tmp_path / "machine.dot") == machine
    nrm.save_machine(machine, tmp_path / "machine.hoa")
    assert nrm.load_machine(tmp_path / "machine.hoa") == machine
    lines = (tmp_path / "machine.hoa").read_text().splitlines()
    lines.remove(next(line for line in lines if line.startswith("[t]")))
    (tmp_path / "without.hoa").write_text("\n".join(lines))
    # Where no edge fires the trace is lost, in a state of its own.
    assert nrm.load_machine(tmp_path / "without.hoa").states == machine.states + 1


def test_guards_are_readable(machine: MooreMachine) -> None:
    assert "h0 | h1 | h2" in text_picture(machine)


@pytest.mark.parametrize("further", [0, 24])
def test_json_is_as_small_as_the_diagram(further: int) -> None:
    # Each of the 256 states leads to all 256: 65,536 guards, in 21 MB.
    responses = " & ".join(f"G(a{number} -> F b{number})" for number in range(8))
    symbols = [f"{name}{number}" for number in range(8) for name in "ab"] + [f"h{number}" for number in range(further)]
    machine = nrm.compile(responses, propositions=symbols)
    text = machine_json(machine)
    assert len(text) < 40 * (len(json.loads(text)["diagram"]["levels"]) + machine.states + len(symbols))
    assert machine_from_dict(json.loads(text)) == machine


@settings(max_examples=60, deadline=None)
@given(formulas(atoms=("a", "b", "c")))
def test_json_with_a_diagram_reads_back_as_the_same_machine(formula: Formula) -> None:
    with pytest.MonkeyPatch.context() as patch:
        use_diagrams(patch)
        machine = nrm.compile(formula, nrm.Alphabet.propositional(["c", "a", "b", "d"]))
        again = machine_from_dict(json.loads(machine_json(machine)))
    assert again == machine
    assert machine_to_dict(machine)["version"] == 3


def test_json_with_guards_is_still_read(machine: MooreMachine) -> None:
    data = machine_to_dict(machine)
    del data["diagram"]
    data["moves"] = [[[str(guard), target] for target, guard in moves(machine, q)] for q in range(machine.states)]
    assert machine_from_dict({**data, "version": 2}) == machine


def test_guarded_moves_are_checked() -> None:
    alphabet = nrm.Alphabet.propositional(["a", "b"])
    a, b = nrm.parse("a"), nrm.parse("b")
    with pytest.raises(MachineError, match=r"state 0.*'b'.*'a&b'"):
        machine_of_moves(alphabet, [[(a, 0), (b, 0)]], [True], [0.0])
    with pytest.raises(MachineError, match=r"state 0.*'-'"):
        machine_of_moves(alphabet, [[(a, 0)]], [True], [0.0])
    whole = machine_of_moves(alphabet, [[(a, 1)], []], [False, True], [0.0, 1.0], rest=[0, 1])
    assert whole == MooreMachine.from_table(alphabet, [[0, 1, 0, 1], [1, 1, 1, 1]], [False, True], [0.0, 1.0])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"moves": []}, "transitions"),
        ({"moves": [["true"]]}, r"moves\[0\]"),
        ({"moves": [[["true", 0]]], "transitions": []}, "one of"),
        ({"moves": [[["F a", 0]]]}, "a guard speaks of one step"),
        ({"moves": [[["true", 7]]]}, "7 is not a state"),
        ({"version": 4}, "4 .*version"),
    ],
)
def test_bad_files(changed: dict[str, object], message: str) -> None:
    good = {"kind": "propositional", "symbols": ["a"], "moves": [[["true", 0]]], "outputs": [0.0], "version": 2}
    with pytest.raises(nrm.NrmError, match=message):
        machine_from_dict({**good, **changed})


def test_named_states() -> None:
    given = {
        "kind": "propositional",
        "symbols": [f"p{number}" for number in range(30)],
        "transitions": {"start": {"p3 & !p7": "won", "else": "start"}, "won": {"true": "won"}},
        "outputs": {"start": 0, "won": 100},
        "accepting": ["won"],
    }
    found = machine_from_dict(given)
    assert found == nrm.compile("F(p3 & !p7)", propositions=found.alphabet.symbols)
    assert "state 'start' has no transition for '-'" in _error({**given, "transitions": {"start": {"p3": "start"}}})
    assert "unknown state 'lost'" in _error({**given, "transitions": {"start": {"true": "lost"}}})


def _error(given: dict[str, object]) -> str:
    with pytest.raises(MachineError) as error:
        machine_from_dict({**given, "outputs": {"start": 0}, "accepting": []})
    return str(error.value)


class Corridor(gymnasium.Env[Any, Any]):
    """Says what holds by the action."""

    observation_space = gymnasium.spaces.Discrete(1)
    action_space = gymnasium.spaces.Discrete(30)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, object]]:
        return 0, 0.0, False, False, {"labels": {0: ["a"], 1: ["b", "c"], 2: ["d"]}.get(action, ["h5"])}


def test_on_an_environment(machine: MooreMachine) -> None:
    env = nrm.TaskEnv(Corridor(), machine)
    env.reset()
    rewards = [env.step(action)[1] for action in (0, 1, 2)]
    assert sum(rewards) == 100.0
    env.reset()
    _, reward, terminated, _, info = env.step(9)
    assert (reward, terminated, info["label"]) == (-100.0, True, "h5")


def test_pools(machine: MooreMachine) -> None:
    other = nrm.compile("F h3", propositions=machine.alphabet.symbols)
    pool = TaskSet((machine, other), ("one", "two"))
    union = pool.union
    assert union.states == machine.states + other.states
    for task, start, own in ((0, pool.initial[0], machine), (1, pool.initial[1], other)):
        state, expected = int(start), own.initial
        for step in (["a"], ["b", "c"], ["h3"], ["d"]):
            state, expected = union.step(state, step), own.step(expected, step)
            assert pool.local(state) == (task, expected)


def test_what_needs_all_letters_says_so(machine: MooreMachine) -> None:
    with pytest.raises(LimitError, match=r"24 propositions have 2\^24 letters"):
        _ = machine.transitions
    with pytest.raises(LimitError):
        machine.alphabet.letter_masks()


def test_explanations(machine: MooreMachine) -> None:
    told = nrm.explain(TASK)
    assert told.machine == machine
    assert told.satisfying == (("a", "b", "c", "d"),)
    assert told.violating == (("h0",),)
    assert told.pattern is None or "global_avoidance" in told.pattern


def test_shortcuts_have_exact_class_sizes(machine: MooreMachine) -> None:
    found = nrm.shortcuts(machine)
    assert found.class_sizes == machine.class_sizes
    assert sum(found.class_sizes) == 2**24
    assert found.symmetries == 1
    assert not found.groundable
    with pytest.raises(LimitError, match="more than 1,000,000 bits"):
        _ = found.count
    with pytest.raises(LimitError, match="more than 1,000,000 bits"):
        _ = found.class_internal


def test_class_sizes_equal_those_of_arrays() -> None:
    formula = nrm.parse("F(a & X F b) & G !c & (F d <-> F e)")
    few = nrm.compile(formula)
    many = nrm.compile(formula, propositions=[*few.alphabet.symbols, *HAZARDS])
    assert many.class_sizes == tuple(size << 20 for size in few.class_sizes)


def test_reward_machine_files_of_many_propositions(tmp_path: Path) -> None:
    hazards = " & ".join(f"G !h{number}" for number in range(28))
    machine = nrm.compile(f"F(key & X F door) & {hazards}")
    nrm.save_machine(machine, tmp_path / "machine.txt")
    assert nrm.load_machine(tmp_path / "machine.txt") == machine
    names = [f"p{number}" for number in range(30)]
    alphabet = Alphabet.propositional(names)
    edges = tuple(
        RewardEdge(source, target, nrm.parse(guard), Fraction(reward))
        for source, target, guard, reward in ((0, 1, "p0 & !p1", 1), (0, 0, "!p0", 0), (0, 2, "p0 & p1 & p29", 0))
    )
    with pytest.raises(MachineError, match=r"state 0.*'p0&p1'"):
        RewardMachine(alphabet, 0, (1, 2), edges)
    open_end = RewardMachine(alphabet, 0, (1, 2), edges, fall_off="terminal")
    assert rewards(open_end, [["p5"], ["p0", "p7"], []]) == [0.0, 1.0, 0.0]
    moore = open_end.to_moore()
    assert moore.run([["p5"], ["p0", "p7"]]).rewards == (0.0, 1.0)
    twice = (*edges, RewardEdge(0, 2, nrm.parse("p0 & p29"), Fraction(0)))
    with pytest.raises(MachineError, match="both fire on 'p0&p29'"):
        RewardMachine(alphabet, 0, (1, 2), twice, fall_off="terminal")


def test_guards_too_long_to_write_out(tmp_path: Path) -> None:
    machine = nrm.compile(" <-> ".join(f"p{number}" for number in range(30)))
    assert "(a guard too long to write out)" in text_picture(machine)
    data = machine_to_dict(machine)
    assert data["version"] == 3
    assert machine_from_dict(data) == machine
    nrm.save_machine(machine, tmp_path / "machine.json")
    assert nrm.load_machine(tmp_path / "machine.json") == machine
    for ending in ("hoa", "txt", "dot"):
        with pytest.raises(LimitError):
            nrm.save_machine(machine, tmp_path / f"machine.{ending}")
    for key, value, message in (
        ("low", [0] * len(data["diagram"]["low"]), "stand lower levels"),
        ("order", [0] * 30, "different propositions"),
        ("roots", [9999], "not there"),
        ("levels", [1], "for each node"),
        ("high", ["a"], "high"),
    ):
        with pytest.raises(MachineError, match=message):
            machine_from_dict(data | {"diagram": data["diagram"] | {key: value}})
    with pytest.raises(MachineError, match="diagram"):
        machine_from_dict(data | {"diagram": {}})
