"""Every number that README and documentation claim as a result stands in a committed results file."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest
from benchmarks.results import RESULTS

from nrm.files import read_json, write_json
from tests.headlines.numbers import REFERENCE, printed, unfounded

ROOT = Path(__file__).parent.parent.parent
README = ROOT / "README.md"
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
FILES = sorted(path.stem for path in RESULTS.glob("*.json"))


BENCHMARKS = ROOT / "docs" / "benchmarks"
OLDER = {
    "counterfactual",
    "layouts",
    "machine-learning",
    "minigrid",
    "speed",
    "transfer",
    "translation",
}
"""Pages whose tables are from before there were results files. None may be added."""


def sections(path: Path) -> dict[str, str]:
    """The text below each heading of a page."""
    parts = re.split(r"^#+ (.*)\n", path.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def claims() -> list[Any]:
    """Each result of the README, and each table of a section that names a results file."""
    found = [re.split(r"\n(?=- )", sections(README)["Results"])]
    cases = [pytest.param(text, text, id=f"README {number}") for number, text in enumerate(found[0])]
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for heading, text in sections(page).items():
            if REFERENCE.search(text):
                cases += [pytest.param(one, text, id=f"{page.name} {heading}") for one in TABLE.findall(text)]
    return cases


@pytest.mark.parametrize(("claim", "context"), claims())
def test_every_number_stands_in_a_results_file(claim: str, context: str) -> None:
    files = set(REFERENCE.findall(context))
    assert not unfounded(claim, files), f"not in {files or 'any results file: the text names none'}"


def test_benchmark_pages_have_their_command_and_their_file() -> None:
    words = {"methodology", "what-did-not-help", "related-work", "in-the-browser", "index"}
    pages = {path.stem: path.read_text() for path in BENCHMARKS.glob("*.md") if path.stem not in words}
    assert {name for name, text in pages.items() if not REFERENCE.search(text)} <= OLDER
    assert not [name for name, text in pages.items() if not re.search(r"python -m benchmarks|nrm sweep", text)]


def test_tables_are_those_of_the_results_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    make_tables = importlib.import_module("make_tables")
    stale = [path.name for path in BENCHMARKS.glob("*.md") if make_tables.filled(path.read_text()) != path.read_text()]
    assert not stale, "run docs/make_tables.py"


def test_every_file_that_is_named_is_there() -> None:
    pages = [README, *(ROOT / "docs").rglob("*.md")]
    assert {name for page in pages for name in REFERENCE.findall(page.read_text())} <= set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_results_files_say_what_they_are(name: str) -> None:
    data = read_json(RESULTS / f"{name}.json")
    assert data["name"] == name
    assert data["command"]
    assert data["rows"]
    assert data["summary"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("99.9 % of episodes", 0.9991),
        ("1,024 states", 1024),
        ("about 2,400 times", 2413.7),
        ("15 million frames", 15e6),
        ("a potential of -100", -100),
        ("0.9986", 0.99861),
        ("40 of all", 40),
    ],
)
def test_numbers_are_read_at_their_precision(text: str, value: float) -> None:
    (found,) = printed(text)
    assert found.stands_for(value)
    assert not found.stands_for(value + 3 * found.error)


def test_the_unit_of_a_range_is_that_of_both_ends() -> None:
    assert [one.value for one in printed("17.5 to 54 % and 2 to 3 times")] == pytest.approx([0.175, 0.54, 2, 3])


def test_names_code_and_links_are_no_numbers() -> None:
    text = "4x4 cells, LavaGapS5, DoorKey-5x5, `--seeds 7`, [table](docs/a.md#2), ![5](a.png), <!-- 3 -->"
    assert not list(printed(text))


def test_a_wrong_number_is_found(tmp_path: Path) -> None:
    data = {"name": "coins", "seeds": [1, 2], "rows": [{}], "summary": {"nrm": {"success": {"mean": 0.9986}}}}
    write_json(tmp_path / "coins.json", data)
    assert not unfounded("99.86 % over 2 seeds", {"coins"}, tmp_path)
    assert unfounded("99.91 % over 2 seeds", {"coins"}, tmp_path) == ["99.91 %"]
    assert unfounded("99.86 %", set(), tmp_path) == ["99.86 %"]
