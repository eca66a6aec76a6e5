"""Reward machine files of the original code: read with their rewards, written back, and refused with reasons."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nrm
from nrm import MooreMachine, equivalent, load_machine
from nrm.errors import LimitError, MachineError
from nrm.machines import RewardMachine, load_reward_machine
from nrm.machines.formats.reward_machine_file import parse_reward_machine, to_reward_file
from tests.machines.paid import rewards
from tests.strategies import machines

OFFICE = """0 # initial state
[2] # terminal state
(0,0,'!f&!n',ConstantRewardFunction(0))
(0,1,'f&!n',ConstantRewardFunction(0))
(1,1,'!g&!n',ConstantRewardFunction(0))
(1,2,'g&!n',ConstantRewardFunction(1))"""

LETTERS = ("", "a", "b", "ab")
CUBES = ("!a&!b", "a&!b", "!a&b", "a&b")
Table = list[list[tuple[int, str]]]


def follows(guard: str, true: str) -> bool:
    """The meaning of a guard, spelt out."""
    if "|" in guard:
        return any(follows(part, true) for part in guard.split("|"))
    if "&" in guard:
        return all(follows(part, true) for part in guard.split("&"))
    if guard.startswith("!"):
        return not follows(guard[1:], true)
    return guard == "True" or guard in true


def interpreted(text: str, trace: list[str]) -> list[float]:
    """What the original code pays: the first edge that fires, and the end with 0 where none does."""
    initial, terminals, *edges = (
        re.sub("ConstantRewardFunction", "", line.split("#")[0]) for line in text.splitlines()
    )
    state, ends, paid = eval(initial), eval(terminals), []
    for true in trace:
        reward = 0.0
        if state not in ends:
            fired = [edge for edge in map(eval, edges) if edge[0] == state and follows(edge[2], true)]
            state, reward = (fired[0][1], fired[0][3]) if fired else (ends[0] if ends else None, 0.0)
        paid.append(float(reward))
    return paid


def steps(trace: list[str]) -> list[tuple[str, ...]]:
    return [tuple(true) for true in trace]


@st.composite
def files(draw: st.DrawFn) -> tuple[Table, list[int], str]:
    """A table of moves and rewards, terminal states, and the file that says so, with an edge for each letter."""
    states = draw(st.integers(1, 5))
    move = st.tuples(st.integers(0, states - 1), st.sampled_from(("0", "0", "0", "1", "-1", "0.1", "0.2")))
    table: Table = draw(st.lists(st.lists(move, min_size=4, max_size=4), min_size=states, max_size=states))
    ends = draw(st.lists(st.integers(1, max(1, states - 1)), max_size=2, unique=True))
    edges = [
        f"({source},{target},'{guard}',ConstantRewardFunction({reward}))"
        for source, row in enumerate(table)
        for guard, (target, reward) in zip(CUBES, row, strict=True)
    ]
    return table, ends, "\n".join(["0 # start", str(ends), *draw(st.permutations(edges))])


def endless(table: Table, ends: list[int]) -> bool:
    """Whether a reachable loop has rewards that do not sum to 0: every simple loop is looked at."""
    reached, waiting = {0}, [0]
    while waiting:
        state = waiting.pop()
        for target, _ in table[state] if state not in ends else ():
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    inner = [state for state in reached if state not in ends]
    for length in range(1, len(inner) + 1):
        for loop in itertools.permutations(inner, length):
            options = [
                {Fraction(reward) for target, reward in table[loop[i]] if target == loop[(i + 1) % length]}
                for i in range(length)
            ]
            if any(sum(chosen) != 0 for chosen in itertools.product(*options)):
                return True
    return False


@given(files(), st.lists(st.lists(st.sampled_from(LETTERS), max_size=8), min_size=1, max_size=8))
def test_the_machine_pays_what_the_file_says_or_names_a_loop(
    file: tuple[Table, list[int], str], traces: list[list[str]]
) -> None:
    table, ends, text = file
    read = parse_reward_machine(text, propositions=["a", "b"])
    paid = [interpreted(text, trace) for trace in traces]
    assert [rewards(read, steps(trace)) for trace in traces] == paid
    just_paid = read.to_moore("rewards")
    for trace, expected in zip(traces, paid, strict=True):
        over = [state in ends for state in states_of(table, ends, trace)]
        until = over.index(True) + 1 if True in over else len(trace)
        assert list(just_paid.run(steps(trace)).outputs[1 : until + 1]) == expected[:until]
    if endless(table, ends):
        with pytest.raises(MachineError, match=r"loop.*pays"):
            read.to_moore()
    else:
        machine = read.to_moore()
        for trace, expected in zip(traces, paid, strict=True):
            assert machine.run(steps(trace)).rewards == pytest.approx(expected)


def states_of(table: Table, ends: list[int], trace: list[str]) -> list[int]:
    state, seen = 0, []
    for true in trace:
        state = state if state in ends else table[state][LETTERS.index(true)][0]
        seen.append(state)
    return seen


@given(machines())
def test_what_is_written_reads_back_equal(machine: MooreMachine) -> None:
    text = to_reward_file(machine)
    assert parse_reward_machine(text).to_moore() == machine


@given(machines(propositional=True), st.lists(st.sampled_from(LETTERS), max_size=8))
def test_the_original_code_would_pay_the_same(machine: MooreMachine, trace: list[str]) -> None:
    text = to_reward_file(machine)
    assert interpreted(text, trace) == pytest.approx(list(machine.run(steps(trace)).rewards))


def test_the_original_code_cannot_start_in_a_terminal_state() -> None:
    always = nrm.compile("a | !a", "a b")
    assert to_reward_file(always).splitlines()[1].startswith("[] ")
    assert parse_reward_machine(to_reward_file(always)).to_moore() == always


@given(machines())
def test_without_the_note_rewards_are_kept(machine: MooreMachine) -> None:
    rounded = machine.with_outputs(np.round(machine.outputs))
    text = re.sub("; nrm: .*", "", to_reward_file(rounded))
    alphabet = machine.alphabet
    names = {"symbols" if alphabet.is_exclusive else "propositions": alphabet.symbols}
    read = parse_reward_machine(text, **names, accepting=np.flatnonzero(machine.accepting).tolist()).to_moore()  # type: ignore[arg-type]
    level = rounded.outputs[rounded.initial]
    assert equivalent(read, rounded.with_outputs(rounded.outputs - level))


def test_the_office_task(tmp_path: Path) -> None:
    path = tmp_path / "t1.txt"
    path.write_text(OFFICE)
    with pytest.raises(MachineError, match=r"t1\.txt.*state 0.*'n'.*fall_off='terminal'"):
        load_machine(path)
    machine = load_machine(path, fall_off="terminal")
    assert machine.alphabet == nrm.Alphabet.propositional(["f", "n", "g"])
    assert machine.states == 4  # the file's numbers, then the state of those who fell off
    assert machine.outputs.tolist() == [0, 0, 1, 0]
    assert machine.accepting.tolist() == [False, False, True, False]
    assert machine.run([("f",), ("g",)]).rewards == (0, 1)
    assert machine.dead[machine.run([("f",), ("n",)]).states[-1]]
    exclusive = load_machine(path, symbols="f g n nothing", fall_off="terminal")
    assert exclusive.run(["nothing", "f", "g"]).rewards == (0, 0, 1)
    # A task over the same propositions with the same behaviour.
    asked = nrm.compile("F(f & F g) & G !n", propositions=["f", "n", "g"], reward="acceptance")
    assert not equivalent(machine, asked)  # after success the original code reads nothing any more
    asked = nrm.compile("!n U (f & !n & X(!n U (g & !n)))", propositions=["f", "n", "g"], reward="acceptance")
    assert equivalent(machine, asked)


def test_the_office_task_where_terminal_states_are_one(tmp_path: Path) -> None:
    path = tmp_path / "t1.txt"
    path.write_text(OFFICE)
    machine = load_machine(path, fall_off="terminal_edge")
    assert machine.run([("f",), ("n",)]).rewards == (0, 1)
    assert machine.run([("n",), ("f",)]).rewards == (0, 0)  # state 0 has no edge to a terminal state
    read = load_reward_machine(path, fall_off="terminal_edge")
    assert rewards(read, [("f",), ("n",), ("g",)]) == [0, 1, 0]


def looked_up_by_states(text: str, trace: list[str]) -> list[float]:
    """What code pays that looks moves and rewards up by pairs of states, with one state for all that is terminal."""
    initial, terminals, *lines = (line.replace("ConstantRewardFunction", "") for line in text.splitlines())
    ends: list[int] = eval(terminals)
    moves: dict[int, dict[int, tuple[str, float]]] = {}
    for source, target, guard, reward in map(eval, lines):
        moves.setdefault(source, {})[-1 if target in ends else target] = (guard, reward)
    state, paid = int(initial), []
    for true in trace:
        if state == -1 or state in ends:
            paid.append(0.0)
            continue
        fired = [target for target, (guard, _) in moves.get(state, {}).items() if follows(guard, true)]
        target = fired[0] if fired else -1
        paid.append(float(moves.get(state, {}).get(target, ("", 0))[1]))
        state = target
    return paid


@given(st.data(), st.lists(st.sampled_from(["", "a", "b", "ab"]), max_size=6))
def test_falling_off_by_the_terminal_edge(data: st.DataObject, trace: list[str]) -> None:
    edges = []
    for source in range(3):
        targets = data.draw(st.permutations(range(4)))
        kept = data.draw(st.lists(st.booleans(), min_size=4, max_size=4))
        for target, guard, keep in zip(targets, CUBES, kept, strict=True):
            reward = data.draw(st.sampled_from((0, 1, -1)))
            edges += [f"({source},{target},'{guard}',ConstantRewardFunction({reward}))"] * keep
    text = "\n".join(["0", "[3]", *edges])
    assume(edges)
    read = parse_reward_machine(text, propositions="a b", fall_off="terminal_edge")
    assert rewards(read, steps(trace)) == looked_up_by_states(text, trace)


def test_the_older_form_finds_its_terminal_states() -> None:
    read = parse_reward_machine("0\n(0,0,'!a',0)\n(0,1,'a',ConstantRewardFunction(1))\n(1,1,'True',0)\n")
    assert read.terminals == (1,)
    assert read.to_moore().accepting.tolist() == [False, True]
    bare = parse_reward_machine("0\n(0,0,'!a',0)\n(0,'won','a',ConstantRewardFunction(c=2.5))\n\n# the end\n")
    assert bare.states == (0, "won")
    assert bare.terminals == ("won",)


def test_states_are_split_by_the_sum_of_rewards() -> None:
    text = "0\n[2]\n(0,1,'a',1)\n(0,1,'!a',0.1)\n(1,2,'a',0.2)\n(1,2,'!a',-0.7)\n"
    machine = parse_reward_machine(text).to_moore()
    assert sorted(machine.outputs.tolist()) == [-0.6, 0, 0.1, 0.3, 1, 1.2]
    assert machine.accepting.sum() == 3  # entered with 0.2 or -0.7: a state with a good edge is a success


def test_success_is_what_pays() -> None:
    def terminals(*edges: str) -> set[int]:
        read = parse_reward_machine("\n".join(["0", "[1, 2]", "(0,0,'!a&!b',0)", *edges]))
        return {number for number, good in enumerate(read.to_moore().accepting) if good}

    assert terminals("(0,1,'a',1)", "(0,2,'!a&b',0)") == {1}
    assert terminals("(0,1,'a',0)", "(0,2,'!a&b',-1)") == {1}
    assert terminals("(0,1,'a',-2)", "(0,2,'!a&b',-1)") == set()
    read = parse_reward_machine("0\n[1]\n(0,0,'!a',0)\n(0,1,'a',-1)", accepting=[1])
    assert read.to_moore().accepting.tolist() == [False, True]


def test_edges_are_told_apart_by_their_guards() -> None:
    read = parse_reward_machine("0\n[1]\n(0,1,'a',1)\n(0,1,'!a&b',5)\n(0,0,'!a&!b',0)\n")
    assert read.to_moore().run([("b",)]).rewards == (5,)
    assert read.to_moore().run([("a",)]).rewards == (1,)


def test_overlaps(tmp_path: Path) -> None:
    text = "0\n[1, 2]\n(0,1,'c',1)\n(0,2,'f',0)\n(0,0,'!c&!f',0)\n"
    message = r"state 0 is not deterministic: the edge of line 3 to 1 \('c'\) and the edge of line 4 to 2 \('f'\) both "
    with pytest.raises(MachineError, match=message + "fire on 'c&f'.*overlap='first'"):
        parse_reward_machine(text)
    assert parse_reward_machine(text, overlap="first").to_moore().run([("c", "f")]).rewards == (1,)
    assert parse_reward_machine(text, symbols="c f none").to_moore().run(["none", "f"]).states == (0, 0, 2)
    harmless = parse_reward_machine("0\n[1]\n(0,1,'a',1)\n(0,1,'a|b',1)\n(0,0,'!a&!b',0)\n")
    assert harmless.to_moore().run([("a", "b")]).rewards == (1,)


def test_guards_are_read_with_parentheses_and_renamed() -> None:
    text = "0\n[1]\n(0,1,'(G || !H) && at home',1)\n(0,0,'!((G|!H)&at home)',0)\n"
    with pytest.raises(MachineError, match=r"line 3.*'G'.*rename=\{'G': …\}"):
        parse_reward_machine(text)
    read = parse_reward_machine(text, rename={"G": "gold", "H": "hall"})
    assert read.alphabet.symbols == ("gold", "hall", "at home")
    assert read.to_moore().run([("at home", "hall"), ("at home",)]).rewards == (0, 1)


def test_a_note_that_no_longer_fits_gives_way_to_the_edges() -> None:
    machine = nrm.compile("F a & F b", "a b c")
    text = to_reward_file(machine)
    edited = text.replace("ConstantRewardFunction(50)", "ConstantRewardFunction(7)")
    assert edited != text
    assert parse_reward_machine(edited).to_moore().levels.tolist() == [0, 7, 14]
    damaged = text.replace('"levels": [', '"levels": ["x", ').replace('"accepting": [3]', '"accepting": [9]')
    assert equivalent(parse_reward_machine(damaged).to_moore(), machine)
    nameless = text.replace('"symbols": [', '"symbols": ["F", ')
    assert parse_reward_machine(nameless, overlap="first", fall_off="terminal").alphabet == nrm.Alphabet.propositional(
        "abc"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "says too little"),
        ("0\n", "says too little"),
        ("0\n[1]\n(0,1,'a'", r"line 3 is neither .* nor an edge"),
        ("0\n[1]\nimport os", "line 3 is neither"),
        ("0.5\n[1]\n", "line 1: the initial state .* not 0.5"),
        ("0\n1\n", "line 2: the terminal states"),
        ("0\n[1.5]\n", "line 2: the terminal states"),
        ("0\n[1]\n(0,1,'a')\n", "line 3: an edge is "),
        ("0\n[1]\n(0,1,a,0)\n", "line 3 is neither"),
        ("0\n[1]\n(0,1,'a & ',0)\n", "line 3: the guard 'a & ' cannot be read: the guard ends too early"),
        ("0\n[1]\n(0,1,'',0)\n", "line 3: the guard '' cannot be read: the guard is empty"),
        ("0\n[1]\n(0,1,'a',RewardControl())\n", r"line 3 .* constant reward: .*RewardControl\(\)"),
        ("0\n[1]\n(0,1,'a',ConstantRewardFunction('1'))\n", "line 3: an edge is "),
        ("0\n[1]\n(0,1,'a',1e999)\n", "line 3: a reward is a finite number"),
        ("0\n[1]\n(0,1,'a',1" + "0" * 400 + ")\n", "line 3: a reward is a finite number"),
        ("0\n[1]\n(0,1,'a',True)\n", "line 3: an edge is "),
        ("0\n[1]\n(0,1,'True',1)\n", "the guards name no proposition"),
        ("0\n[1]\n(0,1,'a',1)\n", "state 0 has no edge for '-'"),
        ("0\n[1]\n(0,2,'a',1)\n(0,0,'!a',1)", "state 2 has no edges and is not terminal"),
        ("0\n[1]\n(0,1,'a|F',1)\n", "'F' cannot name a proposition"),
        ("0\n[1]\n(0,1,'" + "(" * 3000 + "a" + ")" * 3000 + "',1)\n", "nested more than"),
        ("[" * 100_000, "line 1 is neither"),
        ("0\n[]\n(0,0,'!a',-0.01)\n(0,0,'a',0)\n", r"loop 0 -\[!a\]-> 0 \(line 3\) pays -0.01 each.*outputs='rewards'"),
        ("0\n[]\n(0,1,'a',1e308)\n(0,0,'!a',0)\n(1,2,'True',1e308)\n(2,2,'True',0)\n", "more than a number can hold"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(MachineError, match=r"bad\.txt: .*" + message):
        load_machine(path)


def test_unknown_propositions_and_options(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text(OFFICE)
    with pytest.raises(MachineError, match=r"line 3.*'n'.*'!f & !n'.*: f,"):
        load_machine(path, propositions=["f", "g", "m"])
    with pytest.raises(MachineError, match=r"fall_off.*'terminal_edge'.*'stay'"):
        load_machine(path, fall_off="stay")  # type: ignore[arg-type]
    with pytest.raises(MachineError, match=r"overlap.*'error'.*'first'"):
        load_machine(path, overlap="last")  # type: ignore[arg-type]
    with pytest.raises(MachineError, match=r"outputs.*'reward';.*'rewards'"):
        load_machine(path, fall_off="terminal", outputs="reward")  # type: ignore[arg-type]
    with pytest.raises(MachineError, match=r"accepting.*state 7"):
        load_machine(path, fall_off="terminal", accepting=[7])
    assert isinstance(load_reward_machine(path, fall_off="terminal"), RewardMachine)


def test_rewards_that_add_up_in_too_many_ways() -> None:
    def text(length: int) -> str:
        edges = [f"({n},{n + 1},'{'' if one else '!'}a',{one * 2**n})" for n in range(length) for one in (0, 1)]
        return "\n".join(["0", f"[{length}]", *edges])

    assert parse_reward_machine(text(12)).to_moore().states == 2**13 - 1
    with pytest.raises(LimitError, match="100,000"):
        parse_reward_machine(text(16)).to_moore()
