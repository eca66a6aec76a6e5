"""Addresses of earlier versions of the documentation lead to the page that has their content now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

MOVED = {
    "language": "reference/formulas",
    "machines": "concepts/reward-machines",
    "formats": "reference/file-formats",
    "shortcuts": "concepts/shortcuts",
    "neural": "concepts/neural-reward-machine",
    "unknown-machines": "how-to/learn-a-machine",
    "environments": "reference/environments",
    "worlds": "reference/environments",
    "minigrid": "how-to/minigrid",
    "agents": "how-to/train",
    "your-environment": "how-to/own-environment",
    "transfer": "how-to/transfer",
    "many-tasks": "get-started/unseen-formulas",
    "sweeps": "how-to/sweeps",
    "extending": "how-to/extend",
    "results": "benchmarks/paper",
    "methodology": "benchmarks/methodology",
    "what-did-not-help": "benchmarks/what-did-not-help",
    "report": "how-to/report",
    "figures": "how-to/figures",
    "command-line": "reference/command-line",
    "translation": "concepts/translation",
}
"""The old address of a page, and its new name."""

PAGE = """<!doctype html>
<meta charset="utf-8">
<title>This page has moved</title>
<meta http-equiv="refresh" content="0; url={there}">
<link rel="canonical" href="{there}">
<p>This page has moved: <a href="{there}">{there}</a></p>
"""


def write(app: Any, failed: Exception | None) -> None:
    """Write a page at each old address that leads on."""
    if failed is not None or app.builder.format != "html":
        return
    for old, new in MOVED.items():
        if new not in app.env.found_docs:
            raise ValueError(f"{old} leads to {new}, which is no page")
        folder = Path(app.outdir) / old
        folder.mkdir(exist_ok=True)
        (folder / "index.html").write_text(PAGE.format(there=f"../{new}.html"))


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}
