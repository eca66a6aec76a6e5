"""Options that are given twice: the parser would take the last one and say nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import tyro

from nrm.cli.options import UsageError

_HEAD = re.compile(r"--([a-z][a-z-]*)(?=$|[=.])")
"""An option, or the section of one."""
_APPENDING = get_args(tyro.conf.UseAppendAction[int])[1]
"""The mark of options that may be given several times."""
_NAMES = "separate several names by commas: {option} a,b"
_SEVERAL = {
    ("evaluate", "--task"): "for several formulas, write them to a file, one a line, and give it as --file FILE",
    ("train", "--task"): "for several formulas, write them to a file, one a line, and give it as --tasks file:FILE",
    ("shortcuts", "--task"): "further formulas go to --and, which can be given several times",
}
"""What to write for several values, where there is a way."""


def check_repeated(arguments: Sequence[str], commands: Sequence[type[Any]]) -> None:
    """`UsageError` where the arguments of one of these commands give an option a second time."""
    name = "".join(arguments[:1])
    command = next((one for one in commands if one.__name__.lower() == name), None)
    if command is None:
        return
    columns = dict(_columns(command))
    seen: set[str] = set()
    for argument in arguments[1:]:
        if argument == "--":
            return
        if not argument.startswith("--"):
            continue
        option = argument.partition("=")[0].replace("_", "-")
        kind = columns.get(option)
        if option in seen and not _has_mark(kind):
            raise UsageError(f"{option} is given twice; give it once{_way_out(name, option, kind)}")
        seen.add(option)


def with_new_names(arguments: Sequence[str], commands: Sequence[type[Any]]) -> list[str]:
    """The arguments with the new names of options that had others in the last release."""
    name = "".join(arguments[:1])
    command = next((one for one in commands if one.__name__.lower() == name), None)
    known = [] if command is None else [option[2:].replace("-", "_") for option, _ in _columns(command)]
    heads = {place: found for place, argument in enumerate(arguments) if (found := _HEAD.match(argument))}
    new = list(arguments)
    if all(found[1].replace("-", "_") in (*known, "help") for found in heads.values()) and "--method" not in new:
        return new
    from nrm.runs.renamed import Renaming, option_name  # which imports torch

    renaming = Renaming()
    for place, found in heads.items():
        name = renaming.name(found[1].replace("-", "_"), known).replace("_", "-")
        new[place] = f"--{name}{arguments[place][found.end() :]}"
        if name == "method" and place + 1 < len(new):
            new[place + 1] = renaming.value("", name, new[place + 1])
    renaming.warn(option_name)
    return new


def _columns(command: type[Any]) -> Iterator[tuple[str, Any]]:
    """The options of a command itself, each with its type."""
    for name, kind in get_type_hints(command, include_extras=True).items():
        given = [mark.name for mark in getattr(kind, "__metadata__", ()) if getattr(mark, "name", None)]
        yield f"--{given[0] if given else name.replace('_', '-')}", kind


def _has_mark(kind: Any) -> bool:
    return get_origin(kind) is Annotated and _APPENDING in kind.__metadata__


def _way_out(command: str, option: str, kind: Any) -> str:
    if several := _SEVERAL.get((command, option)):
        return f"; {several}"
    if option in ("--symbols", "--propositions"):
        return f"; {_NAMES.format(option=option)}"
    if any(get_origin(part) is tuple for part in (kind, *get_args(kind))):
        return f", with all values behind it: {option} A B"
    return ""
