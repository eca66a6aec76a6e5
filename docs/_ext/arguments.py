"""Sections such as `Args:` in docstrings of functions and classes. Those of attributes are plain sentences."""

from __future__ import annotations

from typing import Any

from sphinx.ext.napoleon import Config, GoogleDocstring


def format_sections(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Replace the sections of a docstring by lists that Sphinx shows as such."""
    if any(line.strip() in ("Args:", "Returns:", "Raises:") for line in lines):
        config = Config(napoleon_use_rtype=False)
        lines[:] = GoogleDocstring(lines, config, app, what, name, obj, options).lines()


def setup(app: Any) -> dict[str, bool]:
    """Say that there is such a step."""
    app.connect("autodoc-process-docstring", format_sections)
    return {"parallel_read_safe": True}
