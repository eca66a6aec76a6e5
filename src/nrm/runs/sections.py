"""Settings by sections: frozen dataclasses, and how changes to them are read from files, Python and options.

Values are validated against the dataclasses by msgspec, which is strict (a text is no number) and names the path of
what is wrong. It lets unknown names of dataclasses pass, so these are checked here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from typing import Any, get_args, get_type_hints

import msgspec

from nrm.agents import METHODS, NetworkConfig
from nrm.errors import ConfigError, listing, suggestion, unknown
from nrm.runs.renamed import Renaming
from nrm.runs.tasks import Family, OneTask
from nrm.runs.words import Words

Sections = Mapping[str, Any]
"""A frozen dataclass for each name: `env`, `algorithm`, `network`, and the section of the method, if it has one."""
Changes = Mapping[str, Mapping[str, Any]]
"""New values of some fields, by section."""
MANY_SECTIONS = ("tasks", "family")
"""Sections of runs with many tasks."""


def base_sections(env: Any, method: str, algorithm: Any, about: OneTask | Family) -> dict[str, Any]:
    """The sections of a run in an environment, by an algorithm, of these configurations; others as by default."""
    sections = {"env": env, "algorithm": algorithm, "network": NetworkConfig(), **about.sections}
    chosen = METHODS[method]
    if chosen.config is not None:
        if chosen.section in sections:
            raise ConfigError(f"the method '{method}' calls its section '{chosen.section}', which is taken; rename it")
        sections[chosen.section] = chosen.config()
    return sections


def changed(sections: Sections, changes: Changes, also: Iterable[str] = ()) -> dict[str, Any]:
    """The sections with some fields changed. `also`: sections that may be named although this run has none such."""
    known = [*sections, *also]
    result = dict(sections)
    renaming = Renaming()
    for old, values in changes.items():
        name = renaming.name(old, known)
        if name not in known:
            raise ConfigError(unknown_section(name, known))
        if not isinstance(values, Mapping):
            raise ConfigError(f"'{name}' is a section of settings, not {values!r}; write {name}.setting = value")
        if name in sections:
            kind = type(sections[name])
            new = _meant(kind, renaming.section(name, values, sections[name]))
            result[name] = read_section(kind, {**asdict(sections[name]), **new}, name)
    renaming.warn()
    return result


def unknown_section(name: str, known: Iterable[str]) -> str:
    """What to say of a section that a run does not have: which method has it, or what is near."""
    if name in MANY_SECTIONS:
        return f"the section '{name}' is for runs with many tasks, which name a family: tasks = \"mixture\""
    owners = [method.name for method in METHODS.values() if method.section == name]
    if not owners:
        return unknown("section", name, known)
    return (
        f"the method of this run has no section '{name}', which is for {listing(owners)} (its sections: "
        f"{listing(known)})"
    )


def _meant(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with what words mean, and None for the text "none" where a field may be None: TOML cannot say so."""
    types = get_type_hints(kind)
    meant = dict(values)
    for key, value in values.items():
        hint = types.get(key, str)
        if isinstance(value, Words):
            meant[key] = value.meant(hint)
        elif isinstance(value, str) and value == "none" and type(None) in get_args(hint):
            meant[key] = None
    return meant


def read_section(kind: type, data: Any, name: str) -> Any:
    """The dataclass of a section from plain values, or an error that names the path of what is wrong.

    `name`: of the section; empty for a file as a whole, whose entries are keys.
    """
    if isinstance(data, Mapping):
        known = [item.name for item in fields(kind)]
        for key in data:
            if key not in known:
                what = f"setting '{name}.{key}'" if name else f"key '{key}'"
                there = f"settings of {name}" if name else "keys"
                raise ConfigError(f"unknown {what}{suggestion(str(key), known)} ({there}: {listing(known, 40)})")
    return converted(data, kind, name)


def converted(data: Any, kind: Any, path: str) -> Any:
    """Plain values as a type; errors name the path from `path` on."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at `$")
        place = place.rstrip("`")
        where, value = f"{path}{place}".removeprefix("."), data.get(place[1:]) if isinstance(data, Mapping) else None
        shown = "" if value is None or ", got" in reason else f", not {value!r}"
        raise ConfigError(f"{where}: {reason[0].lower()}{reason[1:]}{shown}".removeprefix(": ")) from None
