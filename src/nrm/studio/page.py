"""The page: the report's parts, and three rooms made of them."""

from __future__ import annotations

from nrm.aliases import Json
from nrm.logic import LANGUAGES
from nrm.report import page_part, single_page

PARTS = ("base", "curves", "machine", "boards", "trials", "player", "theme")
"""Of the report."""
ROOMS = ("asking", "task", "watch", "runs", "rooms")


def studio_page(title: str, data: Json, connect: str = "'none'") -> str:
    """The page with its data; `connect`: what it may ask, nothing where all is recorded."""
    scripts = [page_part(f"{name}.js") for name in PARTS]
    scripts += [page_part(f"{name}.js", "nrm.studio") for name in ROOMS]
    style = page_part("page.css") + page_part("studio.css", "nrm.studio")
    known: Json = {"title": title, "groups": [], "methods": [], "tiles": [], "recorded": None, "examples": []}
    known["logics"] = [[name, LANGUAGES[name].label] for name in LANGUAGES.own]
    return single_page(title, page_part("studio.html", "nrm.studio"), style, scripts, {**known, **data}, connect)
