"""Notebooks as pages: their text is MyST, their code and its printed output are code blocks. Nothing is executed."""

from __future__ import annotations

import json
from typing import Any

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser


def page(notebook: dict[str, Any], name: str) -> str:
    """The MyST text of a notebook."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        shown = "".join(_text(output) for output in cell.get("outputs", []))
        if shown:
            parts.append(f"```text\n{shown.rstrip()}\n```")
    head, _, rest = "\n\n".join(parts).partition("\n")
    return f"{head}\n\n{{download}}`Download this page as a notebook <{name}>`.\n{rest}\n"


def _text(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return "".join(output["text"])
    return "".join(output["data"].get("text/plain", [])) + "\n"


class NotebookParser(MystParser):
    """Reads notebooks as MyST pages."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Parse a notebook."""
        name = document["source"].rsplit("/", 1)[-1]
        super().parse(page(json.loads(inputstring), name), document)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True}
