"""What was typed, read once: options of a command for the parser, and settings by section.

Which settings there are depends on the environment, method and family that are named, so what is typed behind
`--section.setting` is kept as words, and read when the sections are known.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import tyro

from nrm.cli.options import UsageError
from nrm.errors import NrmWarning, listing, suggestion
from nrm.runs import RENAMED, RENAMED_VALUES, Words, literal
from nrm.samplers import FILE_PREFIX, Sampler, sampler_of

Settings = Mapping[str, Mapping[str, Any]]
"""What was typed behind `--section.setting`, by section and setting."""
HiddenSettings = Annotated[Settings, tyro.conf.Fixed, tyro.conf.Suppress]
"""The field `settings` of commands that take such; the parser of options does not see it."""
_APPENDING = get_args(tyro.conf.UseAppendAction[int])[1]
"""The mark of options that may be given several times."""
_SEVERAL = {
    (
        "evaluate",
        "--task",
    ): "; for several formulas, write them to a file, one a line, and give it as --family file:FILE",
    ("train", "--task"): "; for several formulas, write them to a file, one a line, and give it as --tasks file:FILE",
    ("shortcuts", "--task"): "; further formulas go to --and, which can be given several times",
    **dict.fromkeys(
        [(command, "--symbols") for command in ("compile", "check", "shortcuts", "tasks", "explain", "fit")],
        "; separate several names by commas: --symbols a,b",
    ),
}
"""What to write for several values, where there is a way."""
_UNKNOWN = {"grounding": "nrm", "machine": "automata-learning", "both": "pure-learning"}
_SYNONYMS = {
    ("train", "label"): "env.label",
    ("train", "symbols"): "env.symbols",
    ("train", "propositions"): "env.propositions",
    ("train", "view"): "network.view",
    ("train", "unknown"): "method",
    ("evaluate", "file"): "family",
}
"""Second names that options had in the last release."""


@dataclass
class Arguments:
    """A command line in parts."""

    command: str
    plain: list[str]
    """What the parser of the command reads."""
    given: dict[str, Words]
    """What stands behind each option of the command."""
    settings: dict[str, dict[str, Any]]
    """What stands behind each setting, by section."""

    def value(self, option: str, default: str) -> str:
        """What an option says; a default where it is absent."""
        return next(iter(self.given.get(option, ())), default)


def read_arguments(typed: Sequence[str], commands: Sequence[type[Any]]) -> Arguments:
    """The parts of a command line. An option that is given twice, and a setting in no section, is an error."""
    name = "".join(typed[:1])
    command = next((one for one in commands if one.__name__.lower() == name), None)
    read = Arguments(name, list(typed), {}, {})
    if command is None:
        return read
    read.plain = [name]
    known = dict(_options(command))
    renamed: dict[str, str] = {}
    for option, words in _options_and_words(typed[1:]):
        if not option:
            read.plain += words
            continue
        new, values = _current(name, option, Words(words), known, renamed)
        section, dot, setting = new.partition(".")
        if dot and section and "settings" in known:
            values, rest = (values, []) if name == "train" else _own_words(setting, values)
            _add(read.settings.setdefault(section.replace("-", "_"), {}), option, setting, values)
            read.plain += rest
            continue
        if new in read.given and not _has_mark(known.get(new)):
            raise UsageError(f"--{new} is given twice; give it once{_way_out(name, f'--{new}', known.get(new))}")
        read.given[new] = values
        read.plain += [f"--{new}", *values]
    if renamed:
        told = ", ".join(f"{old} is {new} now" for old, new in renamed.items())
        warnings.warn(f"{told}; the next release reads the new names only", NrmWarning, stacklevel=2)
    return read


def _options_and_words(typed: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Each option without its dashes, and the words behind it; words before all options have an empty name."""
    option, words = "", list[str]()
    for number, word in enumerate(typed):
        if word == "--":
            yield option, [*words, *typed[number:]]
            return
        if word.startswith("--"):
            yield option, words
            name, equals, value = word[2:].partition("=")
            option, words = name, [value] if equals else []
        else:
            words.append(word)
    yield option, words


def _options(command: type[Any]) -> Iterator[tuple[str, Any]]:
    """The options of a command itself, each with its type."""
    for name, kind in get_type_hints(command, include_extras=True).items():
        given = [mark.name for mark in getattr(kind, "__metadata__", ()) if getattr(mark, "name", None)]
        yield given[0] if given else name.replace("_", "-"), kind


def _current(
    command: str, option: str, words: Words, known: Mapping[str, Any], renamed: dict[str, str]
) -> tuple[str, Words]:
    """An option and its words as this release calls them; what had another name is noted."""
    head, dot, rest = option.partition(".")
    head = head.replace("_", "-")
    old = new = f"{head}{dot}{rest}"
    meant = words
    if (command, head) in _SYNONYMS:
        new, meant = _SYNONYMS[command, head], _meant(command, head, words)
    elif head not in known and (found := RENAMED.get(head.replace("-", "_"), "").replace("_", "-")) in known:
        new = f"{found}{dot}{rest}"
    if not dot and (values := RENAMED_VALUES.get(head)):
        meant = Words(values.get(word, word) for word in words)
    if new != old:
        renamed[f"--{option}"] = f"--{new}"
    elif meant != words:
        renamed[" ".join([f"--{option}", *words])] = " ".join([f"--{new}", *meant])
    return new, meant


def _meant(command: str, option: str, words: Words) -> Words:
    """Words behind a second name as they stand behind the first."""
    if (command, option) in (("train", "symbols"), ("train", "propositions")):
        return Words(part.strip() for word in words for part in word.split(",") if part.strip())
    if (command, option) == ("evaluate", "file"):
        return Words(f"{FILE_PREFIX}{word}" for word in words)
    if (command, option) == ("train", "unknown"):
        for word in words:
            if word not in _UNKNOWN:
                raise UsageError(f"--unknown is {listing(_UNKNOWN)}, not '{word}'{suggestion(word, _UNKNOWN)}")
        return Words(_UNKNOWN[word] for word in words)
    return words


def _own_words(setting: str, words: Words) -> tuple[Words, list[str]]:
    """The words of a setting, and those that may be arguments of the command: a list takes all."""
    return (words, []) if setting == "families" else (Words(words[:1]), list(words[1:]))


def _add(section: dict[str, Any], option: str, setting: str, words: Words) -> None:
    """Add a setting to a section. `--env.kwargs.size 8` is an entry of `kwargs`; `--a.no-b` is `--a.b false`."""
    name, dot, entry = setting.partition(".")
    name = name.replace("-", "_")
    if name.startswith("no_") and not words:
        name, words = name.removeprefix("no_"), Words(["false"])
    if dot:
        if not words or not entry:
            raise UsageError(f"--{option} needs a value, such as --env.kwargs.size 8")
        entries = section.setdefault(name, {})
        if isinstance(entries, Words):
            raise UsageError(f"--{option.rpartition('.')[0]} is given twice; give it once")
        if entry in entries:
            raise UsageError(f"--{option} is given twice; give it once")
        entries[entry] = literal(words[0])
    elif name in section:
        raise UsageError(f"--{option} is given twice; give it once")
    else:
        section[name] = words


def _has_mark(kind: Any) -> bool:
    return get_origin(kind) is Annotated and _APPENDING in kind.__metadata__


def _way_out(command: str, option: str, kind: Any) -> str:
    if several := _SEVERAL.get((command, option)):
        return several
    if any(get_origin(part) is tuple for part in (kind, *get_args(kind))):
        return f", with all values behind it: {option} A B"
    return ""


def chosen_family(name: str, settings: Settings) -> Sampler:
    """The family of that name, with the settings that it was given."""
    family: Any = sampler_of(name)
    if "family" not in settings:
        return family  # type: ignore[no-any-return]
    if name.startswith(FILE_PREFIX) or not fields(family):
        raise UsageError(f"--family.{next(iter(settings['family']))}: the family '{name}' has no settings")
    from nrm.runs import changed

    found: Sampler = changed({"family": family}, settings)["family"]
    return found


def check_family(family: str | None, settings: Settings) -> None:
    """`UsageError` where there are settings of a family, and no family."""
    if family is None and settings:
        section, values = next(iter(settings.items()))
        setting = next(iter(values))
        raise UsageError(f"--{section}.{setting} is a setting of a family; say of which one: --family NAME")


def print_settings(sections: Mapping[str, Any]) -> None:
    """The help of the settings of some sections."""
    columns = [(name, type(section), field(default=section)) for name, section in sections.items()]
    made = make_dataclass("Settings", columns, frozen=True)
    try:
        tyro.cli(made, prog="Settings", description="", args=["--help"], config=(tyro.conf.DisallowNone,))
    except SystemExit:
        sys.stdout.flush()
