"""Help, as it is printed: what a command does, its options, and settings by section."""

from __future__ import annotations

import ast
import inspect
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints

from nrm.cli.arguments import metavar, options_of


def print_help(name: str, command: type[Any]) -> None:
    """What a command does, with examples, and its options."""
    known = options_of(command)
    loose = [one.upper() if known[one].default is MISSING else f"[{one.upper()}]" for one in command.arguments]
    print(f"usage: nrm {' '.join([name, *loose, '[OPTIONS]'])}\n")
    width = shutil.get_terminal_size().columns
    for paragraph in (inspect.getdoc(command) or "").split("\n\n"):
        examples = "\n  nrm " in paragraph
        print(f"{paragraph if examples else textwrap.fill(paragraph, width, break_on_hyphens=False)}\n")
    texts = documented(command)
    rows = []
    first = [*command.arguments, "task", "tasks", "env", "method", "out"]
    for option in sorted(known, key=lambda one: first.index(one) if one in first else len(first)):
        kind = known[option]
        said = option.upper() if option in command.arguments else f"--{option} {kind.metavar}".rstrip()
        rows.append((said, f"{texts[kind.field]}{_default(kind.default)}"))
    print_rows([*rows, ("--help", "Show this.")])


def print_settings(sections: Mapping[str, Any]) -> None:
    """The settings of some sections, with the values that they have there."""
    for name, section in sections.items():
        hints, texts = get_type_hints(type(section), include_extras=True), documented(type(section))
        rows = [
            (
                f"--{name}.{item.name.replace('_', '-')} {metavar(hints[item.name])}".rstrip(),
                f"{texts.get(item.name, '')}{_default(getattr(section, item.name))}",
            )
            for item in fields(section)
        ]
        if rows:
            print(f"\nSettings of {name}")
            print_rows(rows)


def print_rows(rows: Iterable[tuple[str, str]]) -> None:
    """Options and what they mean, side by side."""
    width, indent = shutil.get_terminal_size().columns, " " * 26
    for said, text in rows:
        lines = textwrap.wrap(text, width - len(indent), break_on_hyphens=False) or [""]
        if len(said) > len(indent) - 4:
            print(f"  {said}")
        else:
            lines[0], first = "", lines[0]
            print(f"  {said:<{len(indent) - 2}}{first}".rstrip())
        print("".join(f"{indent}{line}\n" for line in lines if line), end="")


def documented(config: type[Any]) -> dict[str, str]:
    """The docstring below each field of a dataclass."""
    found: dict[str, str] = {}
    for one in reversed([kind for kind in config.__mro__ if is_dataclass(kind)]):
        with suppress(OSError):  # made where there is no file
            found |= _docstrings(one)
    return found


def _docstrings(config: type[Any]) -> Iterator[tuple[str, str]]:
    body = ast.parse(textwrap.dedent(inspect.getsource(config))).body[0]
    assert isinstance(body, ast.ClassDef)
    for item, text in zip(body.body, body.body[1:], strict=False):
        if isinstance(item, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            assert isinstance(item.target, ast.Name)
            yield item.target.id, " ".join(str(text.value.value).split())


def _default(value: Any) -> str:
    if value is MISSING:
        return " (required)"
    if value is None or value is False or value in ((), {}, ""):
        return ""
    return f" (default: {' '.join(map(str, value)) if isinstance(value, tuple) else value})"
