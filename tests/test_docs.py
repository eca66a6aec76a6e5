"""What the README and the documentation show, runs."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import nrm
from nrm import cli
from nrm.sweeps.grid_file import grid_from_toml
from tests.envs.conftest import _one_thread  # noqa: F401 - a fixture for all that runs here

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n\$ (nrm [^\n]*)\n(.*?)```", re.DOTALL)


def blocks(pattern: re.Pattern[str]) -> list[object]:
    found: list[object] = []
    for page in PAGES:
        text = page.read_text()
        for match in pattern.finditer(text):
            line = text[: match.start()].count("\n") + 1
            found.append(pytest.param(*match.groups(), id=f"{page.name}:{line}"))
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


def test_the_grid_file_of_the_docs_is_a_grid() -> None:
    text, many, own = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "sweeps.md").read_text(), re.DOTALL)
    grid = grid_from_toml(text.replace(', "mine.toml"]', "]"))
    mine = own.replace("mine:Office", "tests.envs.own:Corridor").replace("mine:holds", "tests.envs.own:holds")
    assert len(grid_from_toml(mine.replace(', "order.json"]', "]")).cells) == 3
    assert {cell.variant for cell in grid.cells} == {"base", "filtered", "large", "papers"}
    assert {cell.variant for cell in grid_from_toml(many).cells} == {"base", "few"}


def test_commands_with_a_label_say_what_it_can_say() -> None:
    for page in PAGES:
        for command in re.findall(r"^nrm train .*--label .*$", page.read_text(), re.MULTILINE):
            assert re.search("--symbols|--propositions|--machine", command.split("  #")[0]), f"{page.name}: {command}"


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
            assert there.exists(), f"{page.name} links to {target}"
            if anchor:
                assert anchor in anchors(there), f"{page.name} links to {target}#{anchor}"
