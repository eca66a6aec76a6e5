"""Signatures and arguments of public names: sections such as `Args:`, and names of type aliases."""

from __future__ import annotations

import re
from typing import Any

from sphinx.ext.napoleon import Config, GoogleDocstring


def format_sections(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Replace the sections of a docstring by lists that Sphinx shows as such."""
    if any(line.strip() in ("Args:", "Returns:", "Raises:") for line in lines):
        config = Config(napoleon_use_rtype=False)
        lines[:] = GoogleDocstring(lines, config, app, what, name, obj, options).lines()


def format_signature(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Name type aliases as the source does."""
    shown = [
        None if one is None else re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", one) for one in (signature, returned)
    ]
    return shown[0], shown[1]


def setup(app: Any) -> dict[str, bool]:
    """Say that there is such a step."""
    app.connect("autodoc-process-docstring", format_sections)
    app.connect("autodoc-process-signature", format_signature)
    return {"parallel_read_safe": True}
