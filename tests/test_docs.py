"""What the README and the documentation show, runs."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import nrm
import nrm.sb3
from nrm import cli
from nrm.agents.networks import NetworkConfig
from nrm.samplers import TaskSetConfig
from nrm.sweeps.grid_file import grid_from_toml
from tests.envs.conftest import _one_thread  # noqa: F401 - a fixture for all that runs here

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
NOTEBOOKS = sorted(DOCS.rglob("*.ipynb"))
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n\$ (nrm [^\n]*)\n(.*?)```", re.DOTALL)
SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)
YOURS = re.compile(r"\bmine:|\bmy_module:|minigrid:")
"""Commands with modules that a reader writes, or that need an extra."""
IN_ORDER = (
    "five-minutes",
    "add-a-grounder",
    "check-rewards",
    "fit-from-logs",
    "monitor",
    "own-environment",
    "report",
    "use-an-agent",
)
"""Pages whose examples and commands run one after the other in one folder; their Python is `mine.py`, too."""


def blocks(pattern: re.Pattern[str]) -> list[object]:
    found: list[object] = []
    for page in PAGES:
        if pattern is PYTHON and page.stem in IN_ORDER:
            continue
        text = page.read_text()
        for match in pattern.finditer(text):
            line = text[: match.start()].count("\n") + 1
            found.append(pytest.param(*match.groups(), id=f"{page.parent.name}/{page.name}:{line}"))
    return found


class Results:
    """Runs code statement by statement, and holds the comment behind an expression against what it gives."""

    def __init__(self, code: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.lines = code.splitlines()
        self.tree = ast.parse(code)
        self.capsys = capsys
        self.checked = 0

    def run(self, names: dict[str, Any]) -> None:
        for statement in self.tree.body:
            shown = re.search(r"\S  # (.*)$", self.lines[(statement.end_lineno or 1) - 1])
            self.capsys.readouterr()
            if isinstance(statement, ast.Expr) and shown:
                value = eval(compile(ast.Expression(statement.value), "example", "eval"), names)
                self.check(shown[1], value, self.capsys.readouterr().out.strip())
            else:
                exec(compile(ast.Module([statement], []), "example", "exec"), names)

    def check(self, comment: str, value: Any, printed: str) -> None:
        """A comment that shows a value shows the right one; others are words."""
        if printed:
            expected = {printed}
        elif _literal(comment) or comment.startswith(f"{type(value).__name__}("):
            expected = {repr(value), repr(tuple(getattr(value, "shape", ())))}
        else:
            return
        self.checked += 1
        assert any(comment == text or comment.startswith((f"{text}:", f"{text};")) for text in expected), (
            f"the comment says {comment}, but it is {expected}"
        )


def _literal(comment: str) -> bool:
    try:
        ast.literal_eval(re.split(r"[:;] ", comment)[0])
    except (ValueError, SyntaxError):
        return False
    return True


@pytest.mark.parametrize("code", blocks(PYTHON))
def test_python_examples_run_and_give_what_their_comments_say(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Results(code, capsys).run({"nrm": nrm, "machine": nrm.compile("F a", "a b")})


@pytest.mark.parametrize("code", ["1 + 1  # 3", "print(5)  # 6", "'a'  # 'b'", "(1, 2)  # (1, 3): a pair"])
def test_wrong_comments_are_found(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(AssertionError, match="the comment says"):
        Results(code, capsys).run({})


@pytest.mark.parametrize(("command", "shown"), blocks(CONSOLE))
def test_console_examples_print_what_they_show(command: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(shlex.split(command)[1:])
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    expected = [line.rstrip() for line in shown.splitlines()]
    assert [line for line in printed if line] == [line for line in expected if line]


def commands() -> list[object]:
    """Every `nrm` command in a shell block, on one line."""
    found: list[object] = []
    for page in PAGES:
        for block in SHELL.findall(page.read_text()):
            lines = block.replace("\\\n", " ").splitlines()
            ours = (line for line in lines if line.startswith("nrm ") and not YOURS.search(line))
            found += [pytest.param(line, id=f"{page.name}: {line[:60]}") for line in ours]
    return found


@pytest.mark.parametrize("line", commands())
def test_commands_are_understood(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = shlex.split(line, comments=True)[1:]
    if not {"--help", "--help-all"} & set(given):
        cli._parsed(given)


def run_line(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One command of ours in this process, which is quick; anything else in a shell."""
    if line.startswith("nrm ") and " | " not in line:
        with pytest.raises(SystemExit) as ended:
            cli.main(shlex.split(line, comments=True)[1:])
        status, message = ended.value.code, capsys.readouterr().err
    else:
        command = folder / "nrm"
        command.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'from nrm.cli import main; main()' \"$@\"\n")
        command.chmod(0o755)
        paths = {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(Path(nrm.__file__).parents[1])}
        done = subprocess.run(["sh", "-c", line], env={**os.environ, **paths}, capture_output=True, text=True)
        status, message = done.returncode, done.stderr
    assert status in (None, 0, 1), f"{line}\n{message}"
    assert "error" not in message.lower(), f"{line}\n{message}"


@pytest.mark.parametrize("page", IN_ORDER)
def test_pages_run_from_top_to_bottom(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (path,) = (path for path in PAGES if path.stem == page)
    for kind, code in re.findall(r"```(python|sh)\n(.*?)```", path.read_text(), re.DOTALL):
        if kind == "python":
            (tmp_path / "mine.py").write_text(code)
            monkeypatch.delitem(sys.modules, "mine", raising=False)
            Results(code, capsys).run({"nrm": nrm})
            continue
        for line in code.replace("\\\n", " ").splitlines() if code.startswith("nrm ") else [code]:
            run_line(line, tmp_path, capsys)
    sys.modules.pop("mine", None)


def settings() -> dict[str, set[str]]:
    """The settings of each section, as options write them."""

    def names(*configs: Any) -> set[str]:
        return {field.name.replace("_", "-") for config in configs for field in fields(config)}

    return {
        "algorithm": names(*(one.config for one in nrm.agents.ALGORITHMS.values())),
        "network": names(NetworkConfig),
        "grounding": names(nrm.tracking.GroundingConfig),
        "inference": names(nrm.tracking.InferenceConfig),
        "tasks": names(TaskSetConfig),
        "env": {*names(*nrm.envs.ENVS.values()), "far"},  # that of the example of a kind of environments
    }


def test_settings_that_the_docs_name_exist() -> None:
    known = settings()
    for page in (*PAGES, *NOTEBOOKS):
        for section, name in re.findall(r"--(\w+)\.([a-z][\w-]*)", page.read_text()):
            assert section not in known or name.removeprefix("no-") in known[section], f"{page}: --{section}.{name}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if path.stem == "smartwatch" and find_spec("aeon") is None:
        pytest.skip("the data files of aeon are not there")
    monkeypatch.syspath_prepend(str(DOCS))
    run_notebooks = importlib.import_module("run_notebooks")
    notebook = run_notebooks.run(path)
    committed = json.loads(path.read_text())
    shown, before = ([bool(cell.get("outputs")) for cell in each["cells"]] for each in (notebook, committed))
    assert shown == before, "run docs/run_notebooks.py"


def test_every_public_name_has_an_entry_with_an_example() -> None:
    pages = sorted((DOCS / "reference" / "python").glob("*.md"))
    text = "\n".join(page.read_text() for page in pages if page.stem != "sb3")
    entries = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE))
    names = [name for name in nrm.__all__ if not name.startswith("_")]
    assert not [name for name in names if f"nrm.{name}" not in entries.get(name, "")], "names without an entry"
    assert not [name for name in names if "```python" not in entries[name]], "names without an example"
    described = re.findall(r"^## (\w+)$", (DOCS / "reference" / "python" / "sb3.md").read_text(), re.MULTILINE)
    assert set(described) == set(nrm.sb3.__all__)


def test_old_addresses_lead_to_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    moved = importlib.import_module("moved").MOVED
    pages = {str(path.relative_to(DOCS).with_suffix("")) for path in (*PAGES[1:], *NOTEBOOKS)}
    assert set(moved.values()) <= pages
    assert not set(moved) & pages


def test_the_grid_files_of_the_docs_are_grids() -> None:
    text, many, own = re.findall(r"```toml\n(.*?)```", (DOCS / "how-to" / "sweeps.md").read_text(), re.DOTALL)
    grid = grid_from_toml(text)
    mine = own.replace("mine:Corridor", "tests.envs.own:Corridor").replace("mine:label", "tests.envs.own:holds")
    assert len(grid_from_toml(mine).cells) == 3
    assert {cell.variant for cell in grid.cells} == {"base", "large"}
    assert {cell.variant for cell in grid_from_toml(many).cells} == {"base", "few"}


def test_commands_with_a_label_say_what_it_can_say() -> None:
    for page in PAGES:
        for command in re.findall(r"^nrm train .*--env.label .*$", page.read_text(), re.MULTILINE):
            assert re.search("--env.symbols|--env.propositions|--task \\S+\\.json", command.split("  #")[0]), (
                f"{page.name}: {command}"
            )


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#:]*)#?([^)]*)\)", page.read_text()):
            if target.startswith("http") or ":" in anchor:
                continue
            there = page.parent / target if target else page
            assert there.exists(), f"{page} links to {target}"
            if anchor and there.suffix == ".md":
                assert anchor in anchors(there), f"{page.name} links to {target}#{anchor}"
