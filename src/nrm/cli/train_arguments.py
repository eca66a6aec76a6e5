"""The arguments of `nrm train`: friendlier ways to write some, and the settings of what is to be trained."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, fields, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from nrm.cli.options import UsageError
from nrm.cli.train import Train, method_for
from nrm.errors import NrmError

if TYPE_CHECKING:
    from nrm.runs.algorithm_choice import Choice

_CHOOSERS = ("env", "method", "algorithm", "preset", "tasks")
"""Options that decide which settings there are."""
_ENV = "--env."
KWARGS = f"{_ENV}kwargs."


def plain_arguments(arguments: Sequence[str]) -> list[str]:
    """Arguments as the parser knows them, from two friendlier ways to write some.

    `--env.kwargs.size 8` becomes a part of `--env.kwargs size 8 …`, and `--grounding.learn false` a flag.
    """
    plain: list[str] = []
    pairs: list[str] = []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        name, equals, value = argument.partition("=")
        following = value if equals else rest[0] if rest else ""
        if argument.startswith(KWARGS):
            if not following or following.startswith("--") or name == KWARGS:
                raise UsageError(f"{argument} needs a value, such as {KWARGS}size 8")
            pairs += [
                name.removeprefix(KWARGS),
                following.capitalize() if following in ("true", "false") else following,
            ]
        elif name.startswith("--") and "." in name and following.lower() in ("true", "false"):
            section, _, setting = name.rpartition(".")
            plain.append(name if following.lower() == "true" else f"{section}.no-{setting}")
        else:
            plain.append(argument)
            continue
        if not equals:
            rest.pop(0)
    return [*plain, *(["--env.kwargs", *pairs] if pairs else [])]


def train_command(arguments: Sequence[str]) -> tuple[type[Train], list[str]]:
    """`Train` with the settings of the env, method, algorithm and preset that the arguments name, by section.

    And the arguments, with the names that settings have in this release.
    """
    from nrm.runs.sections import default_sections, unknown_section

    named: dict[str, Any] = {name: getattr(Train, name) for name in _CHOOSERS}
    given, unknown = None, None
    for place, argument in enumerate(arguments):
        name, equals, value = argument.removeprefix("--").partition("=")
        if name in named and argument.startswith("--"):
            named[name] = value if equals else arguments[place + 1] if place + 1 < len(arguments) else ""
            given = named[name] if name == "method" else given
        elif name == "unknown" and argument.startswith("--"):
            unknown = value if equals else arguments[place + 1] if place + 1 < len(arguments) else ""
    if unknown is not None:
        named["method"] = method_for(unknown)
        if given not in (None, named["method"]):
            raise UsageError(f"--unknown {unknown} is the method '{named['method']}', not '{given}'; give one of them")
    place = _place(arguments, named["env"])
    chosen = _algorithm(arguments, named["env"], named["algorithm"], named["tasks"], place)
    sections = default_sections(named["env"], named["method"], chosen, named["preset"], named["tasks"], place)
    for argument in arguments:
        section, dot, _ = argument.removeprefix("--").partition(".")
        if argument.startswith("--") and dot and section not in sections and section.isidentifier():
            raise UsageError(f"{argument}: {unknown_section(section, sections)}")
    columns = [
        (f"{name}_section", Annotated[type(section), tyro.conf.arg(name=name)], field(default=section))
        for name, section in sections.items()
    ]
    made = make_dataclass("Train", columns, bases=(Train,), frozen=True)
    made.__doc__ = Train.__doc__
    return made, _with_new_names(arguments, sections)


def _with_new_names(arguments: Sequence[str], sections: Mapping[str, Any]) -> list[str]:
    from nrm.runs.renamed import Renaming, option_name

    renaming = Renaming()
    new = list(arguments)
    for place, argument in enumerate(arguments):
        found = re.match(r"--([a-z]+)\.(no-)?([a-z_-]+)", argument)
        if found is not None and found[1] in sections:
            known = [item.name for item in fields(sections[found[1]])]
            setting = renaming.name(found[3].replace("-", "_"), known, found[1]).replace("_", "-")
            new[place] = f"--{found[1]}.{found[2] or ''}{setting}{argument[found.end() :]}"
    renaming.warn(option_name)
    return new


def _algorithm(arguments: Sequence[str], env: str, algorithm: str, tasks: str | None, place: Any) -> Choice:
    """The algorithm of the arguments, in the environment as they set it.

    Help is given whatever the environment does.
    """
    from nrm.runs.algorithm_choice import Choice, choose_algorithm

    try:
        return choose_algorithm(env, algorithm, tasks, place)
    except NrmError:
        if not {"--help", "-h"} & set(arguments):
            raise
        return Choice("a2c")


def _place(arguments: Sequence[str], env: str) -> Any:
    """The env's configuration as the arguments set it; as its name says where they are wrong, which is told later."""
    from nrm.envs import find_env

    named = find_env(env)
    own: list[str] = []
    within = False
    for argument in arguments:
        within = argument.startswith(_ENV) if argument.startswith("--") else within
        if within:
            own.append(f"--{argument.removeprefix(_ENV)}" if argument.startswith(_ENV) else argument)
    if not own:
        return named
    try:
        return tyro.cli(type(named), default=named, args=own, console_outputs=False)
    except (SystemExit, NrmError):
        return named
