"""`nrm compile`, `nrm check` and `nrm tasks`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import nrm
from nrm.machines import machine_from_dict
from tests.cli.conftest import Nrm
from tests.said import names


def test_compile_prints_the_machine(nrm_command: Nrm) -> None:
    outcome = nrm_command("compile", "F a & G !b", "--symbols", "a,b,c")
    assert outcome.status == 0
    assert "machine   3 states, 3 symbol classes, minimal" in outcome.out
    assert "((1))  potential 100   accepting" in outcome.out


@pytest.mark.parametrize("command", ["compile", "explain", "shortcuts"])
def test_a_formula_is_printed_as_it_was_typed(nrm_command: Nrm, command: str) -> None:
    assert " (F a) & ((G !b)) " in nrm_command(command, "(F a) & ((G !b))", "--symbols", "a,b").out.replace("\n", " ")


def test_compile_json_is_what_scripts_rely_on(nrm_command: Nrm) -> None:
    data = json.loads(nrm_command("compile", "F a & F b", "--symbols", "a,b,c,d,e", "--json").out)
    assert data["symbols"] == ["a", "b", "c", "d", "e"]
    assert data["kind"] == "exclusive"
    assert data["initial"] == 0
    assert data["transitions"] == [[1, 2, 0, 0, 0], [1, 3, 1, 1, 1], [3, 2, 2, 2, 2], [3, 3, 3, 3, 3]]
    assert data["accepting"] == [False, False, False, True]
    assert data["outputs"] == [0, 50, 50, 100]
    both = json.loads(nrm_command("compile", "F(a & b)", "--propositions", "a,b", "--json").out)
    assert both["kind"] == "propositional"
    assert both["letters"] == [[], ["a"], ["b"], ["a", "b"]]


def test_compile_into_files(nrm_command: Nrm, tmp_path: Path) -> None:
    expected = nrm.Task.from_paper(7).machine()
    for ending in ("json", "dot", "svg", "png", "txt", "hoa"):
        path = tmp_path / f"machine.{ending}"
        assert nrm_command("compile", "--task", "7", "--out", str(path)).status == 0
        assert path.stat().st_size > 100
    assert machine_from_dict(json.loads((tmp_path / "machine.json").read_text())) == expected
    for ending in ("dot", "txt", "hoa"):
        assert nrm.load_machine(tmp_path / f"machine.{ending}") == expected
    assert "potential 0   start" in nrm_command("compile", "--task", "7").out


OFFICE = """0 # initial state
[2] # terminal state
(0,0,'!f&!n',ConstantRewardFunction(0))
(0,1,'f&!n',ConstantRewardFunction(0))
(1,1,'!g&!n',ConstantRewardFunction(0))
(1,2,'g&!n',ConstantRewardFunction(1))
"""
LOOP = "0\n[]\n(0,0,'!c',0)\n(0,1,'c',0)\n(1,1,'!d',0)\n(1,0,'d',ConstantRewardFunction(1000))\n"


def test_machine_files_are_drawn_converted_checked_and_analysed(nrm_command: Nrm, tmp_path: Path) -> None:
    path = tmp_path / "t1.txt"
    path.write_text(OFFICE)
    refused = nrm_command("compile", "--task", str(path))
    assert refused.status == 2
    assert names(refused.err, "state 0 … 'n'")
    assert "--txt terminal" in refused.err
    read = ("--task", str(path), "--txt", "terminal")
    shown = nrm_command("compile", *read).out
    assert "file      t1.txt" in shown
    assert "machine   4 states, 5 symbol classes, minimal" in shown
    assert "rewards   as in the file: potentials 0, 1" in shown
    for ending in ("svg", "json", "hoa", "txt"):
        assert nrm_command("compile", *read, "--out", str(tmp_path / f"out.{ending}")).status == 0
    expected = nrm.load_machine(path, fall_off="terminal")
    assert nrm.load_machine(tmp_path / "out.json") == expected == nrm.load_machine(tmp_path / "out.txt")
    assert nrm_command("check", "--task", str(tmp_path / "out.hoa"), "--trace", "f,-,g").status == 0
    assert nrm_command("check", *read, "--trace", "f,n").status == 1
    assert "t1.txt" in nrm_command("shortcuts", *read, "--symbols", "f,g,n,nothing").out
    with_scheme = nrm_command("compile", *read, "--reward", "three_value").out
    assert "three_value: potentials -100, 0, 100" in with_scheme


def test_machine_files_whose_rewards_add_up_without_end(nrm_command: Nrm, tmp_path: Path) -> None:
    path = tmp_path / "loop.txt"
    path.write_text(LOOP)
    refused = nrm_command("compile", "--task", str(path))
    assert refused.status == 2
    assert names(refused.err, "0 -[c]-> 1 -[d]-> 0 (lines 4, 6) … 1000")
    read = ("--task", str(path), "--txt", "rewards")
    assert "paid on entering a state: potentials 0, 1000" in nrm_command("compile", *read).out
    paid = nrm_command("check", *read, "--trace", "c,d,c,d", "--json")
    assert json.loads(paid.out)["rewards"] == [0, 1000, 0, 1000]
    assert "sum of rewards 2000" in nrm_command("check", *read, "--trace", "c,d,c,d").out
    assert nrm_command("shortcuts", *read).status == 0
    assert "read back as potentials" in nrm_command("compile", *read, "--out", str(tmp_path / "x.json")).err


def test_tasks_by_name_file_and_own_symbols(nrm_command: Nrm, tmp_path: Path) -> None:
    path = tmp_path / "task.toml"
    path.write_text('formula = "visit(a, b) & global_avoidance(c)"\nsymbols = ["a", "b", "c", "d", "e"]\n')
    by_file = nrm_command("compile", "--task", str(path), "--json")
    by_name = nrm_command("compile", "--task", "visit-2-avoid-1", "--json")
    assert by_file.out == by_name.out
    renamed = nrm_command("compile", "--task", "1", "--symbols", "gem,lava,none", "--reward", "three_value")
    assert "F gem & F lava" in renamed.out
    assert "three_value: potentials 0, 100" in renamed.out
    custom = nrm_command("compile", "F a", "--symbols", "a,b", "--reward", "1,2.5", "--json")
    assert json.loads(custom.out)["outputs"] == [1, 2.5]


def test_notes_on_trivial_tasks(nrm_command: Nrm) -> None:
    assert "cannot be satisfied: no state" in nrm_command("compile", "a & !a").out
    alone = nrm_command("compile", "F(a & b)", "--symbols", "a,b").out
    assert "cannot be satisfied (one symbol holds at a time): no state" in alone
    assert "always satisfied" in nrm_command("compile", "a | !a").out


@pytest.mark.parametrize(
    ("trace", "status", "verdict"),
    [("a", 0, "holds"), ("a,b", 0, "satisfied"), ("d", 1, "open"), ("a,c", 1, "violated")],
)
def test_check_says_what_monitors_say(nrm_command: Nrm, trace: str, status: int, verdict: str) -> None:
    ran = nrm_command("check", "F a & (!c W b)", "--symbols", "a,b,c,d", "--trace", trace)
    assert ran.status == status
    assert f"\n{verdict}" in ran.out


def test_check_follows_the_machine(nrm_command: Nrm) -> None:
    good = nrm_command("check", "F(a & F b)", "--symbols", "a,b,c", "--trace", "c,a,b")
    assert good.status == 0
    assert "satisfied; sum of rewards 100" in good.out
    bad = nrm_command("check", "F(a & F b)", "--symbols", "a,b,c", "--trace", "b,a", "--json")
    assert bad.status == 1
    assert json.loads(bad.out) == {
        "satisfied": False,
        "verdict": "open",
        "trace": ["b", "a"],
        "states": [0, 0, 1],
        "outputs": [0, 0, 50],
        "rewards": [0, 50],
    }
    for trace in ("-,a&b", "{},{a,b}"):
        assert nrm_command("check", "F(a & b) & !a", "--propositions", "a,b", "--trace", trace).status == 0
    odd = nrm_command("check", 'F "[/red]"', "--symbols", "[/red],:smile:", "--trace", ":smile:,[/red]")
    assert ":smile:" in odd.out
    assert "[/red]" in odd.out


def test_version(nrm_command: Nrm) -> None:
    assert nrm_command("--version").out == f"nrm {nrm.__version__}\n"


def test_a_full_disk_behind_standard_output() -> None:
    command = [sys.executable, "-m", "nrm", "compile", "F a"]
    with open("/dev/full", "w") as full:
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 2
    assert run.stderr.startswith("nrm: error: cannot write the output")


def test_tasks_lists_everything(nrm_command: Nrm) -> None:
    assert "visit-2-avoid-1" in nrm_command("tasks").out
    data = json.loads(nrm_command("tasks", "--json").out)
    assert [task["number"] for task in data["tasks"]] == list(range(1, 9))
    assert {"name": "response", "formula": "G(a -> F b)"}.items() <= data["patterns"][15].items()


@pytest.mark.parametrize("command", ["compile", "check", "shortcuts", "tasks", "fit", "train", "sweep", "watch"])
def test_no_help_speaks_of_none_as_a_choice(nrm_command: Nrm, command: str) -> None:
    outcome = nrm_command(command, "--help")
    assert outcome.status == 0
    assert "{None" not in outcome.out


DEEP = "X(" * 10_000 + "a" + ")" * 10_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compile"], "no task is given"),
        (["compile", "F a", "--task", "1"], "--task … twice"),
        (["compile", "F (a &"], "ends too early"),
        (["compile", "F lvaa", "--symbols", "lava,door"], "'lava'"),
        (["compile", "F a", "--symbols", ""], "the alphabet is empty"),
        (["compile", "F a", "--symbols", "a,a"], "listed 2 times"),
        (["compile", "F a", "--symbols", "a,G"], "'G'"),
        (["compile", "F a", "--symbols", "a,,b"], "cannot name a symbol"),
        (["compile", "F a", "--symbols", "a", "--propositions", "a"], "not both"),
        (["compile", "true"], "names no symbol"),
        (["compile", "a & " * 25_000 + "a"], "100,001 characters"),
        (["compile", DEEP], "nested"),
        (["compile", "F a", "--reward", "distanse"], "'distance'"),
        (["compile", "F a", "--reward", "1,x"], "scheme"),
        (["compile", "F a", "--reward", "1"], "1 … potentials … 2 states"),
        (["compile", "--task", "visit-9"], "'visit-9'"),
        (["compile", "missing.toml"], "missing.toml"),
        (["compile", "F a", "--out", "missing/machine.json"], "missing/machine.json"),
        (["compile", "visit(a,b,c,d,e,f)", "--max-states", "10"], "10 states"),
        (["compile", "F a", "--max-states", "0"], "--max-states … 0"),
        (["compile", "G O F a"], "'O F a'"),
        (["check", "existence(a, b)", "--trace", "a"], "1 to 200 … b"),
        (["check", "F a"], "--trace … nrm check"),
        (["check", "F a", "--trace", ""], "the trace is empty"),
        (["check", "F a", "--trace", "a,"], "step 2"),
        (["check", "F a", "--trace", "{a"], "'{a'"),
        (["compile", "F a", "--out", "machine.pdf"], "json, dot"),
        (["compile", "missing.txt"], "missing.txt"),
        (["compile", "F a", "--txt", "terminal"], "--txt"),
        (["compile", "m.txt", "--txt", "terminal", "--txt", "terminal_edge"], "--txt"),
        (["compile", 'F "\udcff"'], "cannot name a symbol"),
        (["check", "F a", "--symbols", "a,b", "--trace", "a,x"], "'x' … step 2"),
        (["compile", "F a", "--nonsense"], "nonsense"),
        (["compile", "modle.jsn"], "'modle.jsn'"),
        (["monitor", "out/modle", "log.csv"], "'out/modle'"),
        (["explain", "tests/cli"], "tests/cli"),
        (["train", "--task", "tsk.tml", "--out", "x"], "'tsk.tml'"),
        (["compile", "F a.b"], "'.'"),
        (["nonsense"], "nonsense"),
    ],
)
def test_bad_input_gives_status_2_and_a_message(nrm_command: Nrm, arguments: list[str], message: str) -> None:
    outcome = nrm_command(*arguments)
    assert outcome.status == 2
    assert names(outcome.err, message)
    assert outcome.out == ""


def test_the_installed_command_and_a_reader_that_leaves() -> None:
    run = subprocess.run(
        f"{sys.executable} -m nrm compile 'visit(a,b,c,d,e)' --symbols a,b,c,d,e --json | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "{\n"
    assert run.stderr == ""
