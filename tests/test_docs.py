"""What the README and the documentation show, runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import nrm.cli as cli
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


@pytest.mark.parametrize("code", blocks(PYTHON))
def test_python_examples_run(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    preamble = "import nrm\nmachine = nrm.compile('F a', 'a b')\n"
    exec(compile(preamble + code, "example", "exec"), {})


@pytest.mark.parametrize(("command", "shown"), blocks(CONSOLE))
def test_console_examples_print_what_they_show(command: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(shlex.split(command)[1:])
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    expected = [line.rstrip() for line in shown.splitlines()]
    assert [line for line in printed if line] == [line for line in expected if line]


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
