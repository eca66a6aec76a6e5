"""The page itself: a template, its style and its program, with the data inside."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from nrm.aliases import Json
from nrm.files import make_folder, write_text

SCRIPTS = (
    "base",
    "filters",
    "summary",
    "curves",
    "machine",
    "boards",
    "learned",
    "trials",
    "player",
    "notes",
    "theme",
    "main",
)
"""The parts of the program, in the order in which they need each other."""


@dataclass(frozen=True)
class Page:
    """A page about runs, and what its reader should know."""

    folder: Path
    data: Json
    """All that the page shows, as JSON values."""
    runs: int
    unfinished: dict[Path, str]
    problems: dict[Path, str]
    """Folders and files that could not be used, and why."""

    def html(self) -> str:
        """One HTML text that loads nothing and opens from disk.

        The browser runs this very program and no other (a hash in the content security policy), so a text
        from a configuration that were taken for HTML could still do nothing.
        """
        scripts = [page_part(f"{name}.js") for name in SCRIPTS]
        return single_page(self.data["title"], page_part("page.html"), page_part("page.css"), scripts, self.data)

    def write(self, out: Path | None = None) -> Path:
        """Write the page, whole or not at all: to `index.html` in the folder if `out` is absent."""
        path = self.folder / "index.html" if out is None else out
        make_folder(path.parent)
        write_text(path, self.html())
        return path


def single_page(
    title: str, template: str, style: str, scripts: Sequence[str], data: Json, connect: str = "'none'"
) -> str:
    """A template with its style, program and data inside; `connect`: what the program may ask."""
    script = "(() => {\n" + "\n".join(scripts) + "})();\n"
    policy = f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    parts = {
        "policy": f"{policy}; connect-src {connect}; base-uri 'none'; form-action 'none'",
        "title": _plain(title),
        "style": style,
        "data": _inside_script(data),
        "script": script,
    }
    # In one pass, so that nothing inside a part is taken for a place to fill.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def page_part(name: str, package: str = "nrm.report") -> str:
    """A file of a page, by the package that it belongs to."""
    return files(package).joinpath("page", name).read_text(encoding="utf-8")


def _plain(text: str) -> str:
    """Text for HTML; whatever is not ASCII by its number, lone surrogates of odd file names included."""
    return html.escape(text).encode("ascii", "xmlcharrefreplace").decode()


def _inside_script(data: Json) -> str:
    """JSON that can stand in a script element: nothing in it can end the element or begin a comment."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
