"""How the documentation reads: words, long sentences, home-made words, wide tables, names without an entry.

python -m benchmarks.words                 # count
python -m benchmarks.words --show          # and show what is counted
python -m benchmarks.words --site site     # also measure tables and code of the built pages in Chromium
python -m benchmarks.words --check         # exit status 1 where a figure is not what it should be
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import tyro

import nrm
from benchmarks.common import report

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GUIDES = ("README", "get-started", "how-to", "concepts", "pages")
"""Sections in which sentences are counted; the others are tables and lists."""
LONGEST, SHARE = 30, 0.01
"""Words of a sentence, and the share of sentences that may have more."""
WIDTH = 1280
LINE = 110
"""Characters of a line of code; longer ones are wrapped in the page, and hard to read."""
BANNED = (
    r"worlds?|obeys?|obeyed|carr(?:y|ies|ied) out|families|famil(?:y|ies) of tasks|pools?|drawn|told|bursts?|"
    r"crisp|calm|restless\w*|set-?backs?|patience|flips|misread|idle letters?|mirror images?|busy cores?|"
    r"scratch programs?|what binds|what was measured|without end|endless|step sizes?|descent|levels?|has never seen"
)
"""Home-made words, and words that name one thing a second time; see the table of names in CONTRIBUTING.md."""
ALLOWED = re.compile(r"LetterWorld|FlatWorld|real-world|gradient descent|Letter World|grid worlds?", re.IGNORECASE)
CODE = re.compile(r"```.*?```|~~~.*?~~~", re.DOTALL)
SILENT = re.compile(
    r"<!--.*?-->|`[^`]*`|!\[[^]]*\]\([^)]*\)|^:::.*$|^:\S.*$|^\(.*\)=$|^\$\$.*?\$\$", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True)
class Config:
    """Count what the documentation says."""

    show: bool = False
    """List what is counted."""
    site: Path | None = None
    """The folder of the built pages: measure tables and code in Chromium."""
    check: bool = False
    """Fail where a figure is not what it should be."""


def pages() -> Iterator[tuple[str, Path, str]]:
    """The section, the path and the text of every page."""
    yield "README", ROOT / "README.md", (ROOT / "README.md").read_text()
    for path in sorted((*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb"))):
        text = path.read_text()
        if path.suffix == ".ipynb":
            cells = json.loads(text)["cells"]
            text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        yield (path.parent.relative_to(DOCS).parts or ("pages",))[0], path, text


def prose(text: str) -> str:
    """Without code, tables, targets of links and directives."""
    lines = [line for line in CODE.sub("\n\n", text).splitlines() if not line.startswith("|")]
    return re.sub(r"\]\([^)]*\)", "]", SILENT.sub("x", "\n".join(lines)))


def sentences(text: str) -> list[str]:
    """The sentences of a page; list items and headings end where they end."""
    found: list[str] = []
    for block in re.split(r"\n\s*\n|\n(?=\s*[-*#>] |\s*\d+\. |: )", prose(text)):
        found += [part.strip() for part in re.split(r"(?<=[.!?])\s+(?=[A-Z*\[`(x])", block) if part.strip()]
    return found


def long_sentences(text: str) -> list[str]:
    """Those with too many words."""
    return [one for one in sentences(text) if len(re.findall(r"[\w'’-]+", one)) > LONGEST]


def banned(text: str) -> list[str]:
    """Words that are not the field's."""
    return [found[0] for found in re.finditer(rf"\b(?:{BANNED})\b", ALLOWED.sub("", prose(text)), re.IGNORECASE)]


def long_lines(text: str) -> list[str]:
    """Lines of code that are wider than the page."""
    return [line for block in CODE.findall(text) for line in block.splitlines()[1:] if len(line) > LINE]


def names_without_entry() -> list[str]:
    """Public names that the reference does not describe."""
    text = "\n".join(path.read_text() for path in (DOCS / "reference" / "python").glob("*.md"))
    return [
        name for name in nrm.__all__ if not name.startswith("_") and not re.search(rf"^## {name}$", text, re.MULTILINE)
    ]


MEASURE = """() => [...document.querySelectorAll('article table, article pre')]
    .map(one => one.closest('.pst-scrollable-table-container') || one)
    .filter(one => one.scrollWidth > one.clientWidth + 1)
    .map(one => one.tagName + ': ' + one.innerText.slice(0, 60).replace(/\\s+/g, ' '))"""


def too_wide(site: Path, width: int) -> list[str]:
    """Tables and code blocks that do not fit a window of that width."""
    from playwright.sync_api import sync_playwright

    found: list[str] = []
    with sync_playwright() as driver:
        path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 900})
        for file in sorted(site.rglob("*.html")):
            if "http-equiv" not in file.read_text()[:300] and file.stem not in ("genindex", "search"):
                page.goto(file.resolve().as_uri())
                found += [f"{file.relative_to(site)}: {one}" for one in page.evaluate(MEASURE)]
        browser.close()
    return found


class Counted(NamedTuple):
    """What was counted."""

    words: Counter[str]
    """Of each section."""
    sentences: int
    """Of guides."""
    long: int
    """Of these, how many are too long."""
    wrong: Counter[str]
    """What should not be there at all."""
    shown: list[str]


def counted(site: Path | None = None) -> Counted:
    """Count all pages."""
    words: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    shown: list[str] = []
    every = long = 0
    for section, path, text in pages():
        words[section] += len(re.findall(r"[\w'’-]+", prose(text)))
        found = {"home-made words": banned(text), "lines of code that are too long": long_lines(text)}
        for name, values in found.items():
            wrong[name] += len(values)
            shown += [f"{path.relative_to(ROOT)}: {name}: {one}" for one in values]
        if section in GUIDES:
            every += len(sentences(text))
            above = long_sentences(text)
            long += len(above)
            shown += [f"{path.relative_to(ROOT)}: above {LONGEST} words: {one}" for one in above]
    wrong["public names without an entry"] = len(names_without_entry())
    if site is not None:
        wide = too_wide(site, WIDTH)
        wrong[f"tables and code wider than the page at {WIDTH}"] = len(wide)
        shown += wide
    return Counted(words, every, long, wrong, shown)


def main(config: Config) -> int:
    """Count, print, and compare."""
    found = counted(config.site)
    rows = [*found.words.items(), ("all words", found.words.total()), ("sentences of guides", found.sentences)]
    rows += [(f"above {LONGEST} words", found.long), *found.wrong.items()]
    report("Words", ("", "count"), rows, ROOT / "out" / "bench", "words")
    if config.show:
        print("\n".join(found.shown))
    bad = found.long > SHARE * found.sentences or any(found.wrong.values())
    return 1 if config.check and bad else 0


if __name__ == "__main__":
    sys.exit(main(tyro.cli(Config)))
