"""`--logic` wherever a formula is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nrm.cli import main
from nrm.errors import NrmError
from nrm.machines import Alphabet, load_task, task_from_text
from nrm.runs import choose_run
from nrm.sweeps.grid_file import grid_from_toml
from tests.cli.conftest import Nrm


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    printed = capsys.readouterr()
    return int(str(ended.value.code)), printed.out + printed.err


@pytest.mark.parametrize(
    ("logic", "formula"), [("ldlf", "<(!c)*; a>tt"), ("ppltl", "O(a & !O c)"), ("re", "(!c)*; (a & !c); .*")]
)
def test_compile_check_and_shortcuts(capsys: pytest.CaptureFixture[str], logic: str, formula: str) -> None:
    options = (formula, "--logic", logic, "--symbols", "a,b,c")
    status, text = run(capsys, "compile", *options)
    assert status == 0
    assert "3 states" in text
    assert run(capsys, "check", *options, "--trace", "b,a")[0] == 0
    assert run(capsys, "check", *options, "--trace", "c,a")[0] == 1
    status, text = run(capsys, "shortcuts", *options, "--and", formula)
    assert status == 0


def test_wrong_language(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, "compile", "<a>tt")
    assert status == 2
    assert "this looks like LDLf: add --logic ldlf" in text
    status, text = run(capsys, "compile", "--task", "1", "--logic", "ldlf")
    assert status == 2
    assert "--logic ldlf needs a formula" in text
    status, text = run(capsys, "train", "--task", "1", "--logic", "re", "--out", "nowhere")
    assert status == 2
    assert "--logic re needs a formula" in text
    status, text = run(capsys, "compile", "F a", "--logic", "ltlff")
    assert status == 2
    assert "unknown logic 'ltlff'; did you mean 'ltlf'?" in text


def test_a_run_keeps_the_language() -> None:
    config = choose_run("re: (!lava)*; gem; .*", "map", "rm")
    assert config.build_task().logic == "re"
    assert 'logic = "re"' in config.task


def test_task_files(tmp_path: Path) -> None:
    path = tmp_path / "task.toml"
    path.write_text('formula = "<a; b>tt"\nlogic = "ldlf"\nsymbols = ["a", "b"]\n')
    task = load_task(path)
    assert task.logic == "ldlf"
    assert task.machine().accepts(["a", "b"])
    assert task_from_text("ldlf: <a; b>tt", Alphabet.exclusive("ab")).machine() == task.machine()
    path.write_text('formula = "<a; b>tt"\nsymbols = ["a", "b"]\n')
    with pytest.raises(NrmError, match='logic = "ldlf"'):
        load_task(path)


def test_mixed_tenses_are_in_no_language(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, "compile", "O F a", "--logic", "ppltl")[1]
    assert "its counterpart is O f" in text
    assert "looks like" not in text
    assert "this looks like LTLf" in run(capsys, "compile", "F O a", "--logic", "ppltl")[1]


def test_grid_files() -> None:
    grid = grid_from_toml('tasks = [1, "(!lava)*; gem; .*", "ltlf: F gem"]\nmethods = ["rm"]\nlogic = "re"\n')
    assert [cell.config.build_task().logic for cell in grid.cells] == ["ltlf", "re", "ltlf"]


def test_families_in_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tasks.txt"
    path.write_text("F a\nre: .*; b; c\nldlf: <true*; a; b>tt\n")
    status, text = run(capsys, "tasks", "--family", f"file:{path}", "--symbols", "a,b,c")
    assert status == 0
    assert "re: .* ; b ; c" in text
    assert "ldlf: <true* ; a ; b>" in text
    assert "ltlf:" not in text
    text = run(capsys, "tasks", "--family", f"file:{path}", "--symbols", "a,b,c", "--json")[1]
    shown = [row["formula"] for row in json.loads(text)["tasks"]]
    path.write_text("\n".join(shown))
    again = run(capsys, "tasks", "--family", f"file:{path}", "--symbols", "a,b,c", "--json")[1]
    assert again == text  # what is shown can be read back
    assert "formula   re: a;b" in run(capsys, "compile", "a;b", "--logic", "re", "--symbols", "a,b")[1]


def test_hints_name_the_right_option(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, "explain", "F a", "--against", "<a>tt")
    assert status == 2
    assert "write 'ldlf:' in front of it" in text
    assert "looks like" not in run(capsys, "compile", "<a; b tt", "--logic", "ldlf")[1]
    status, text = run(capsys, "compile", "re: a", "--logic", "ldlf")
    assert status == 2
    assert "says that it is in re, and the logic that is asked for is ldlf" in text


def test_a_second_formula_may_be_in_another_language(capsys: pytest.CaptureFixture[str]) -> None:
    first = ("(a; b)*", "--logic", "re", "--symbols", "a,b")
    status, text = run(capsys, "explain", *first, "--against", "ldlf: <(a; b)*>end")
    assert status == 0
    assert "equivalent: the same traces" in text
    assert run(capsys, "explain", *first, "--against", "((a; b){2})*; (a; b)?")[0] == 0
    assert run(capsys, "shortcuts", *first, "--and", "ltlf: F a")[0] == 0


def test_past_formulas_are_told_of_their_language(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("compile", "explain"):
        text = " ".join(run(capsys, command, "Y a")[1].split())
        assert "if the formula is to hold at the last step, add --logic ppltl" in text
        assert "ppltl" not in run(capsys, command, "a & !a")[1]


def test_infinite_tasks_are_compiled_explained_and_read_back(nrm_command: Nrm, tmp_path: Path) -> None:
    task = ("GF a & FG !b", "--logic", "ltl", "--symbols", "a,b,c")
    assert "Inf(0)&Fin(1)" in nrm_command("compile", *task).out
    assert "marks {1}" in nrm_command("compile", *task).out
    assert json.loads(nrm_command("explain", *task, "--json").out)["acceptance"] == "Inf(0)&Fin(1)"
    file = tmp_path / "m.hoa"
    nrm_command("compile", *task, "--out", str(file))
    again = nrm_command("compile", str(file), "--logic", "ltl").out
    assert again.splitlines()[1:] == nrm_command("compile", *task).out.splitlines()[1:]
    assert "cannot be satisfied" in nrm_command("compile", "GF(a & b)", *task[1:]).out


@pytest.mark.parametrize("command", [("check", "--trace", "a"), ("monitor",)])
def test_commands_for_finite_tasks_refuse_infinite_ones(nrm_command: Nrm, command: tuple[str, ...]) -> None:
    refused = nrm_command(command[0], "GF a", "--logic", "ltl", "--symbols", "a,b", *command[1:])
    assert refused.status == 2
    assert "G F a" in refused.err
