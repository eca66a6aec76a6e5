"""Automata in the HOA format: what is written reads back, and means the same to a reader of the text alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nrm
from nrm import MooreMachine, equivalent, load_machine
from nrm.errors import FileError, LimitError, MachineError, TaskFileError
from nrm.machines import save_machine
from nrm.machines.formats.files import FORMATS
from nrm.machines.formats.hoa import from_hoa, to_hoa
from tests.strategies import machines

HEAD = 'HOA: v1\nStates: 2\nStart: 0\nAP: 2 "a" "b"\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n'


@given(machines())
def test_hoa_reads_back_equal(machine: MooreMachine) -> None:
    assert from_hoa(to_hoa(machine, 'a "title" \\ with /* signs')) == machine


@given(machines(), st.lists(st.integers(0, 3), max_size=8))
def test_the_text_alone_says_which_traces_are_accepted(machine: MooreMachine, letters: list[int]) -> None:
    letters = [letter % machine.alphabet.size for letter in letters]
    text = to_hoa(machine)
    names = re.findall('"([^"]*)"', next(line for line in text.splitlines() if line.startswith("AP:")))
    aliases = dict(re.findall(r"^Alias: (@\w+) (.*)$", text, re.MULTILINE))
    blocks = re.split(r"^State: ", text.split("--BODY--")[1], flags=re.MULTILINE)[1:]
    state = int(re.findall(r"^Start: (\d+)", text, re.MULTILINE)[0])

    def fires(label: str, true: tuple[str, ...]) -> bool:
        label = re.sub(r"@\w+", lambda match: f"({aliases[match[0]]})", label).replace("t", "True")
        label = re.sub(r"\d+", lambda match: str(names[int(match[0])] in true), label)
        return bool(eval(label.replace("!", " not ").replace("&", " and ").replace("|", " or ")))

    for letter in letters:
        true = machine.alphabet.true_symbols(letter)
        edges = re.findall(r"^\[(.*)\] (\d+)$", blocks[state], re.MULTILINE)
        (state,) = (int(target) for label, target in edges if fires(label, true))
    accepted = blocks[state].splitlines()[0].endswith("{0}")
    assert accepted == machine.run(machine.alphabet.decode(letters)).accepted


def test_automata_of_other_tools() -> None:
    # As Spot writes a formula's finite automaton: no potentials, no sink, and a comment in an odd place.
    text = (
        HEAD
        + 'tool: "x" "1"\nproperties: trans-labels state-acc\n--BODY--\n'
        + ('State: 0 "start" /* nested /* comment */ */ [0&!1] 1 [!0&!1] 0\nState: 1 {0}\n[!1] 1 [f] 1\n--END--\n')
    )
    assert equivalent(from_hoa(text), nrm.compile("F a & G !b", propositions="a b", reward="acceptance"))
    implicit = HEAD + "--BODY--\nState: 0 0 1 0 1\nState: 1 {0} 1 1 1 1\n--END--\n"
    assert equivalent(from_hoa(implicit), nrm.compile("F a", propositions="a b", reward="acceptance"))
    by_state = HEAD + "Alias: @x (0|1)&!(0&1)\n--BODY--\nState: [@x] 0 1\nState: [t] 1 {0} 1\n--END--\n"
    assert from_hoa(by_state).accepts([("a",), ("a", "b")])
    assert not from_hoa(by_state).accepts([("a", "b")])
    every = HEAD.replace("1 Inf(0)", "0 t") + "--BODY--\nState: 0 [t] 1\nState: 1 [0] 0\n--END--\n"
    assert from_hoa(every).accepts([("a",), ("a",)])
    assert not from_hoa(every).accepts([("a",), ("b",)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "ends too early"),
        ("States: 2\n--BODY--\n--END--\n", "this is not HOA text"),
        ("HOA: v2\n--BODY--\n--END--\n", "this is not HOA text"),
        ("HOA:\n--BODY--\n--END--\n", "this is not HOA text"),
        (HEAD + "%", "line 7 is not HOA"),
        (HEAD + "/* x", "line 7"),
        (HEAD + "--BODY--\nState: 0 [t] 1", "ends too early"),
        (HEAD + "--END--\n", "line 7: unexpected '--END--'"),
        (HEAD + "Fancy: 1\n--BODY--\n--END--\n", "line 7: the header 'Fancy' is not supported"),
        (HEAD + "Start: 1\n--BODY--\n--END--\n", "line 7: several initial states"),
        (HEAD.replace("Start: 0", "Start: 5") + "--BODY--\n--END--\n", "the initial state 5 is not a state"),
        (HEAD.replace("Start: 0", "Start: 0&1") + "--BODY--\n--END--\n", "the header 'Start'"),
        (HEAD.replace("States: 2\n", "") + "--BODY--\n--END--\n", "the header 'States' must be there"),
        (HEAD.replace("1 Inf(0)", "1 Fin(0)") + "--BODY--\n--END--\n", r"the acceptance is '1Fin\(0\)'"),
        (HEAD.replace('2 "a" "b"', "0") + "--BODY--\n--END--\n", "no propositions"),
        (HEAD.replace('2 "a" "b"', "2 a b") + "--BODY--\n--END--\n", "line 4: expected text in quotes, not 'a'"),
        (HEAD + "--BODY--\nState: 0 [0] 1 [1] 0\n--END--\n", "state 0 is not deterministic: .* 'a&b'"),
        (HEAD + "--BODY--\nState: 0 [0] 1&0\n--END--\n", "line 8: an edge to several states at once"),
        (HEAD + "--BODY--\nState: 0 [0] 1 {0}\n--END--\n", "line 8: acceptance on edges"),
        (HEAD + "--BODY--\nState: 7 [0] 1\n--END--\n", "line 8: there is no state 7"),
        (HEAD + "--BODY--\nState: 0 [0&] 1\n--END--\n", "line 8: the guard"),
        (HEAD + "--BODY--\nState: 0 [9] 1\n--END--\n", "cannot be read"),
        (HEAD + "--BODY--\nState: 0 [@x] 1\n--END--\n", "cannot be read"),
        (HEAD + "--BODY--\nState: 0 [(0] 1\n--END--\n", "line 8: the guard"),
        (HEAD + "--BODY--\nState: 0 [0)] 1\n--END--\n", "line 8: the guard"),
        (HEAD + "--BODY--\n[0] 1\n--END--\n", "line 8: unexpected"),
        (HEAD + 'nrm-levels: "1"\n--BODY--\n--END--\n', "'nrm-levels' has 1 numbers for 2 states"),
        (HEAD + "Alias:\n--BODY--\n--END--\n", "line 7: an alias"),
        (HEAD + "--BODY--\nState: " + "9" * 5000 + "\n--END--\n", "line 8: the number 9.*9 is too large"),
        (
            HEAD.replace("States: 2", "States: " + "9" * 5000) + "--BODY--\n--END--\n",
            "line 2: the number 9.*9 is",
        ),
        (HEAD.replace('2 "a"', '3 "a"') + "--BODY--\n--END--\n", "line 4: AP says 3 propositions, but 2 are named"),
        (HEAD.replace('2 "a" "b"', '"a" "b"') + "--BODY--\n--END--\n", 'line 4: AP says "a" propositions, but 1 are'),
        (
            HEAD.replace("States: 2", "States: 99999999") + "--BODY--\n--END--\n",
            "99,999,999 states, more than",
        ),
        (HEAD + "--BODY--\nState: 0 [" + "!" * 2000 + "0] 1\n--END--\n", "nested more than 1000 deep"),
        (HEAD + "--BODY--\n--ABORT--\n", "line 8 is not HOA: --ABORT--"),
        (HEAD + 'nrm-levels: "1" "x"\n--BODY--\n--END--\n', "no number"),
    ],
)
def test_bad_automata(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.hoa"
    path.write_text(text)
    with pytest.raises(MachineError, match=r"bad\.hoa: .*" + message):
        load_machine(path)


def test_a_table_too_large_is_refused_before_it_is_made() -> None:
    names = " ".join(f'"p{number}"' for number in range(12))
    body = "".join(f"State: {state} [t] 0\n" for state in range(5000))
    text = f"HOA: v1\nStates: 5000\nStart: 0\nAP: 12 {names}\nAcceptance: 1 Inf(0)\n--BODY--\n{body}--END--\n"
    with pytest.raises(LimitError, match=r"5,000 states.*4,096 letters"):
        from_hoa(text)


@pytest.mark.parametrize("space", ["", " ", "\t", "\n"])
def test_space_before_a_colon(space: str) -> None:
    text = HEAD + "--BODY--\nState: 0 [t] 1\nState: 1 {0} [t] 1\n--END--\n"
    assert from_hoa(text.replace(":", f"{space}:")) == from_hoa(text)


@pytest.mark.parametrize("ending", [ending for ending in FORMATS if ending != "toml"])
def test_the_ending_says_the_format(tmp_path: Path, ending: str) -> None:
    for machine in (nrm.Task.from_paper(5).machine(), nrm.compile("G(a -> F b)")):
        path = tmp_path / f"machine.{ending}"
        save_machine(machine, path)
        assert load_machine(path) == machine
        save_machine(machine, tmp_path / "other.name", format=FORMATS[ending])
        assert load_machine(tmp_path / "other.name", format=FORMATS[ending]) == machine


def test_tasks_compile_and_formats_are_checked(tmp_path: Path) -> None:
    machine = nrm.Task.from_paper(5).machine()
    nrm.machines.save_task(nrm.Task.from_paper(5), tmp_path / "task.toml")
    assert load_machine(tmp_path / "task.toml") == machine
    (tmp_path / "bad.toml").write_text("task = 99")
    with pytest.raises(TaskFileError, match="unknown paper task"):
        load_machine(tmp_path / "bad.toml")
    with pytest.raises(FileError, match=r"formula.*machine"):
        save_machine(machine, tmp_path / "machine.toml")
    with pytest.raises(FileError, match=r"machine\.xyz'.*json, dot"):
        save_machine(machine, tmp_path / "machine.xyz")
    with pytest.raises(FileError, match=r"'jsn'.*'json'"):
        save_machine(machine, tmp_path / "machine.json", format="jsn")  # type: ignore[arg-type]
    save_machine(machine, tmp_path / "machine.json")
    with pytest.raises(MachineError, match=r"'fall_off'.*\.txt.*json"):
        load_machine(tmp_path / "machine.json", fall_off="terminal")
    save_machine(machine, tmp_path / "machine.dot")
    text = (tmp_path / "machine.dot").read_text()
    for old, new, message in (
        ("nrm_guard", "guard", "lacks nrm_guard"),
        ("nrm_output", "output", "lacks nrm_output"),
        ("start -> q0", "q0 -> start", "to the mark of the start"),
    ):
        (tmp_path / "machine.dot").write_text(text.replace(old, new))
        with pytest.raises(MachineError, match=f"machine.dot: .*{message}"):
            load_machine(tmp_path / "machine.dot")
