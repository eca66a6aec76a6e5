"""Reference pages made from the program itself: help texts, settings, and docstrings of the public names."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import os
import re
import textwrap
from dataclasses import MISSING, fields
from importlib import import_module
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

COLUMNS = "84"


def help_text(arguments: list[str]) -> str:
    """What `nrm ARGUMENTS --help` prints."""
    from nrm import cli

    os.environ["COLUMNS"] = COLUMNS
    os.environ["NO_COLOR"] = "1"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        cli.main([*arguments, "--help"])
    return re.sub(r"\x1b\[[0-9;]*m", "", printed.getvalue()).rstrip()


class Help(Directive):
    """`nrm-help`: the help of a command."""

    has_content = False
    optional_arguments = 20

    def run(self) -> list[nodes.Node]:
        """The help as a literal block."""
        text = help_text(list(self.arguments))
        block = nodes.literal_block(text, text)
        block["language"] = "text"
        block["classes"].append("help")
        return [block]


def documented(config: type) -> dict[str, str]:
    """The docstring below each field of a dataclass."""
    found: dict[str, str] = {}
    for one in reversed(config.__mro__[:-1]):
        body = ast.parse(textwrap.dedent(inspect.getsource(one))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, text in zip(body.body, body.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                assert isinstance(field.target, ast.Name)
                found[field.target.id] = " ".join(str(text.value.value).split())
    return found


def default(field: Any) -> str:
    """The default of a field, as it is written."""
    if field.default is not MISSING:
        return "none" if field.default is None else str(field.default)
    return "" if field.default_factory is MISSING else str(field.default_factory())


class Settings(Directive):
    """`nrm-settings EXPRESSION`: a table of the fields of a configuration, which the expression names."""

    has_content = False
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The table."""
        import nrm

        config = eval(self.arguments[0], {"nrm": nrm, "import_module": import_module})
        texts = documented(config)
        lines = ["| setting | default | meaning |", "| --- | --- | --- |"]
        for field in fields(config):
            if not field.name.startswith("_"):
                cells = (f"`{field.name}`", f"`{default(field) or 'none'}`", texts.get(field.name, ""))
                lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
        node = nodes.section()
        node.document = self.state.document
        self.state.nested_parse(StringList(lines, source=self.arguments[0]), 0, node)
        for table in node.findall(nodes.table):
            table["classes"].append("settings")
        return list(node.children)


def as_rst(text: str) -> str:
    """Docstrings are plain text with code between single backticks."""
    parts = re.split(r"(``[^`]+``|`[^`]+`)", text)
    return "".join(
        f"``{part.strip('`')}``" if part.startswith("`") else re.sub(r"([*|\\])|(?<=\w)_(?=\W)", r"\\\g<0>", part)
        for part in parts
    )


def docstrings(app: Any, what: str, name: str, found: object, options: object, lines: list[str]) -> None:
    """Docstrings as Sphinx reads them."""
    lines[:] = as_rst("\n".join(lines)).split("\n")


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("nrm-help", Help)
    app.add_directive("nrm-settings", Settings)
    app.connect("autodoc-process-docstring", docstrings)
    return {"parallel_read_safe": True}
