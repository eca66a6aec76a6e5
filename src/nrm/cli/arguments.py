"""From what was typed to a command: its options, and settings by section.

A command is a dataclass; its fields are the options. Which settings there are depends on the environment, method and
family that are named, so what is typed behind `--section.setting` is kept as words, and read when the sections are
known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec

from nrm.errors import NrmError, listing, suggestion, unknown
from nrm.runs import RENAMED, RENAMED_VALUES, Words, literal, warn_renamed

_OLD = {
    "train --label": "env.label",
    "train --symbols": "env.symbols",
    "train --propositions": "env.propositions",
    "train --unknown": "method",
    "train --grounder": "grounding.initial",
    "evaluate --rewards": "belief filtered",
    "evaluate --argmax": "belief argmax",
    "evaluate --crisp": "belief argmax",
    "evaluate --file": "family file:{}",
    "fit --formula": "task",
    "fit --episodes": "file",
    "sweep --grid": "file",
    "fit --states": "max-states",
    "report --formulas": "count",
    "shortcuts --list": "count",
    "watch --gif": "out",
    "monitor --junit": "out",
    "reproduce --env": "envs",
    "--machine": "task",
    "--file": "task",
    "--fall-off": "txt",
    "--overlap": "txt",
    "--outputs": "txt",
}
"""Options of the last release, of one command or of all, and what to write now; {} stands for the value."""


class UsageError(NrmError):
    """Options that contradict each other, or that are missing."""


class Option(NamedTuple):
    """An option of a command."""

    field: str
    """The field that holds its value."""
    hint: Any
    default: Any
    """`MISSING` where it must be given."""
    metavar: str
    """What stands for its value in help."""

    @property
    def is_list(self) -> bool:
        """Whether it takes several values."""
        return get_origin(bare(self.hint)) is tuple


@dataclass
class Arguments:
    """A command line in parts."""

    options: Mapping[str, Option]
    given: dict[str, Words]
    """What stands behind each option of the command."""
    settings: dict[str, dict[str, Any]]
    """What stands behind each setting, by section."""

    def value(self, option: str, default: str) -> str:
        """What an option says; a default where it is absent."""
        return next(iter(self.given.get(option, ())), default)


def bare(hint: Any) -> Any:
    """A type without what is noted about it, and without None."""
    if get_origin(hint) is Annotated:
        return bare(get_args(hint)[0])
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    return bare(kinds[0]) if len(kinds) == 1 and get_origin(hint) not in (tuple, Literal) else hint


def options_of(command: Any) -> dict[str, Option]:
    """The options of a command; tables are none."""
    hints = get_type_hints(command, include_extras=True)
    found: dict[str, Option] = {}
    for item in fields(command):
        name = item.name.rstrip("_").replace("_", "-")
        if get_origin(hints[item.name]) is not Mapping:
            default = command.usual.get(item.name, item.default)
            found[name] = Option(item.name, hints[item.name], default, metavar(hints[item.name], name))
    return found


def metavar(hint: Any, name: str = "") -> str:
    """What stands for a value of this type in help: of texts the name of the option."""
    kind = bare(hint)
    if get_origin(kind) is Literal:
        return f"{{{','.join(map(str, get_args(kind)))}}}"
    if get_origin(kind) is tuple:
        return f"{metavar(get_args(kind)[0], name)} …"
    if kind is bool:
        return ""
    return name.upper() if name and kind is str else getattr(kind, "__name__", "value").upper()


def read_arguments(name: str, typed: Sequence[str], command: type[Any]) -> Arguments:
    """The parts of a command line. An option that is given twice, and a setting in no section, is an error.

    A list takes all words behind it, or one as long as there is a word to come that stands behind no option.
    """
    read = Arguments(options_of(command), {}, {})
    has_settings = any(item.name == "settings" for item in fields(command))
    loose: list[str] = []
    renamed: dict[str, str] = {}
    for option, typed_words in _options_and_words(typed):
        if not option:
            loose += typed_words
            continue
        new, words = _current(name, option, Words(typed_words), read.options, renamed)
        section, dot, setting = new.partition(".")
        to_come = len(command.arguments) - len(loose) - sum(one in read.given for one in command.arguments)
        most = 1 if to_come > 0 else None
        if dot and section and has_settings:
            _add(read.settings.setdefault(section.replace("-", "_"), {}), option, setting, Words(words[:most]))
            loose += words[most:] if most else ()
        elif new not in read.options:
            raise UsageError(unknown("option", f"--{new}", [f"--{one}" for one in read.options]))
        else:
            loose += _give(read, new, words, most, repeated=bool(command.arguments))
    for argument, word in zip(command.arguments, loose, strict=False):
        _give(read, argument, Words([word]))
    if len(loose) > len(command.arguments):
        raise UsageError(f"'{loose[len(command.arguments)]}' stands behind no option; see nrm {name} --help")
    warn_renamed(renamed)
    return read


def _give(read: Arguments, name: str, words: Words, most: int | None = None, repeated: bool = False) -> Words:
    """Note the words behind an option, of a list at most so many; those that are left."""
    option = read.options[name]
    taken = 0 if bare(option.hint) is bool else most if option.is_list else 1
    if taken != 0 and not words:
        raise UsageError(f"--{name} needs a value")
    if name in read.given and not (option.is_list and repeated):
        several = f", with all values behind it: --{name} A B" if option.is_list else ""
        raise UsageError(f"--{name} is given twice; give it once{several}")
    read.given[name] = Words((*read.given.get(name, ()), *words[:taken]))
    return Words(() if taken is None else words[taken:])


def made_command(command: type[Any], read: Arguments) -> Any:
    """The command with the options that were typed."""
    values: dict[str, Any] = {"settings": read.settings} if read.settings else {}
    for name, option in read.options.items():
        if name in read.given:
            values[option.field] = _converted(f"--{name}", option, read.given[name])
        elif option.default is MISSING:
            said = name.upper() if name in command.arguments else f"--{name}"
            raise UsageError(f"{said} is missing; for example: {examples(command)[0]}")
        else:
            values[option.field] = option.default
    return command(**values)


def examples(command: type[Any]) -> list[str]:
    """The examples in a command's docstring."""
    _, _, below = (command.__doc__ or "").partition("For example:")
    return [line.strip() for line in below.splitlines() if line.strip()]


def _converted(name: str, option: Option, words: Words) -> Any:
    """The value of an option; an error says what it takes."""
    try:
        value: Any = [*words] if option.is_list else words[0] if words else True
        return msgspec.convert(value, option.hint, strict=False, dec_hook=lambda made, text: made(text))
    except msgspec.ValidationError as error:
        kind = get_args(bare(option.hint))[0] if option.is_list else bare(option.hint)
        if get_origin(kind) is Literal:
            choices = get_args(kind)
            odd = next(word for word in words if word not in choices)
            raise UsageError(f"{name} is {listing(choices)}, not '{odd}'{suggestion(odd, choices)}") from None
        reason = str(error).partition(" - at")[0].partition(", got")[0].replace("Expected ", "").replace("`", "")
        wanted = reason.replace(" | null", "").replace(">=", "of at least").replace("<=", "of at most")
        wanted = wanted.replace("<", "below").replace("int", "a whole number").replace("float", "a number")
        raise UsageError(f"{name} takes {wanted}, not {' '.join(words)}") from None


def _options_and_words(typed: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Each option without its dashes, and the words behind it; words that stand behind none have an empty name."""
    option, words = "", list[str]()
    for number, word in enumerate(typed):
        if word == "--":
            yield option, words
            option, words = "", [*typed[number + 1 :]]
            break
        if word.startswith("--"):
            yield option, words
            name, equals, value = word[2:].partition("=")
            option, words = name, [value] if equals else []
        else:
            words.append(word)
    yield option, words


def _current(
    command: str, option: str, words: Words, known: Mapping[str, Any], renamed: dict[str, str]
) -> tuple[str, Words]:
    """An option and its words as this release calls them; what had another name is noted."""
    head, dot, rest = option.partition(".")
    head = head.replace("_", "-")
    new, meant, value = f"{head}{dot}{rest}", words, ""
    if head not in known:
        now = _OLD.get(f"{command} --{head}") or _OLD.get(f"--{head}") or RENAMED.get(head.replace("-", "_"), "")
        name, _, value = now.replace("_", "-").partition(" ")
        new = f"{name}{dot}{rest}" if name in known or "." in name else new
    if value:
        meant = Words([value.format(*words), *words[1:]] if "{}" in value else [value, *words])
    if not dot and (values := RENAMED_VALUES.get(head) or RENAMED_VALUES.get(new)):
        meant = Words(values.get(word, word) for word in meant)
    if new != f"{head}{dot}{rest}":
        renamed[f"--{option}"] = f"--{new} {value.replace('{}', '…')}".rstrip()
    elif meant != words:
        renamed[" ".join([f"--{option}", *words])] = " ".join([f"--{new}", *meant])
    return new, meant


def _add(section: dict[str, Any], option: str, setting: str, words: Words) -> None:
    """Add a setting to a section. `--env.kwargs.size 8` is an entry of `kwargs`; `--a.no-b` is `--a.b false`."""
    name, dot, entry = setting.partition(".")
    name = name.replace("-", "_")
    if name.startswith("no_") and not words:
        name, words = name.removeprefix("no_"), Words(["false"])
    entries = section.setdefault(name, {}) if dot else section
    if dot and (not words or not entry):
        raise UsageError(f"--{option} needs a value, such as --env.kwargs.size 8")
    if isinstance(entries, Words) or (entry or name) in entries:
        raise UsageError(f"--{option} is given twice; give it once")
    entries[entry or name] = literal(words[0]) if dot else words
