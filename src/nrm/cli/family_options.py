"""The settings of a family of tasks as options: --family NAME --family.max-steps 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, fields, make_dataclass
from typing import Annotated, Any, TypeVar

import tyro

from nrm.cli.options import UsageError
from nrm.samplers import FILE_PREFIX, Sampler, sampler_of

SECTION = "family_section"
Command = TypeVar("Command")


def option_value(arguments: Sequence[str], option: str) -> str | None:
    """What the arguments give an option, the last time that they do; None where they do not."""
    found = None
    for place, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name == option:
            found = value if equals else arguments[place + 1] if place + 1 < len(arguments) else ""
    return found


def with_family_settings(command: type[Command], arguments: Sequence[str]) -> type[Command]:
    """A command with the settings of the family that the arguments name, if they name one that has any."""
    named = option_value(arguments, "--family")
    given = next((argument for argument in arguments if argument.startswith("--family.")), None)
    if named is None:
        if given is not None:
            raise UsageError(f"{given} is a setting of a family; say of which one: --family NAME")
        return command
    family: Any = sampler_of(named)
    if named.startswith(FILE_PREFIX) or not fields(family):
        if given is not None:
            raise UsageError(f"{given}: the family '{named}' has no settings")
        return command
    column = (SECTION, Annotated[type(family), tyro.conf.arg(name="family")], field(default=family))
    made = make_dataclass(command.__name__, [column], bases=(command,), frozen=True)
    made.__doc__ = command.__doc__
    return made


def chosen_family(command: object, named: str) -> Sampler:
    """The family that a command names, with the settings that it was given."""
    settings: Sampler | None = getattr(command, SECTION, None)
    return sampler_of(named) if settings is None else settings
