"""From what was typed to a command: its options, and settings by section.

A command is a dataclass; its fields are the options. Which settings there are depends on the environment, method and
family that are named, so what is typed behind `--section.setting` is kept as words, and read when the sections are
known.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec

from nrm.errors import NrmError, NrmWarning, listing, suggestion, unknown
from nrm.runs import RENAMED, RENAMED_VALUES, Words, literal
from nrm.samplers import FILE_PREFIX, Sampler, sampler_of

Settings = Mapping[str, Mapping[str, Any]]
"""What was typed behind `--section.setting`, by section and setting."""
Count = Annotated[int, msgspec.Meta(ge=1)]
"""How many of something that there must be one of."""
_SEVERAL = {
    "task": "; for several formulas, write them to a file, one a line, and give it as --tasks file:FILE (train) or "
    "--family file:FILE (evaluate)",
    "symbols": "; separate several names by commas: --symbols a,b",
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


class UsageError(NrmError):
    """Options that contradict each other, or that are missing."""


class Mark(NamedTuple):
    """What a field says of itself as an option, in the `Annotated` of its type."""

    metavar: str = ""
    """What stands for its value in help."""
    name: str = ""
    """Its name, where it is not the field's."""
    positional: bool = False
    repeated: bool = False
    """Whether it may be given several times."""


class Option(NamedTuple):
    """An option of a command."""

    hint: Any
    mark: Mark
    default: Any
    """`MISSING` where it must be given."""
    owner: str = ""
    """The field that holds it, where it is one of a configuration that the command has."""

    @property
    def words(self) -> int | None:
        """How many words it takes; None for as many as there are."""
        kind = bare(self.hint)
        return 0 if kind is bool else None if get_origin(kind) is tuple and not self.mark.repeated else 1


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


def options_of(command: Any, owner: str = "") -> dict[str, Option]:
    """The options of a command, or of a configuration that is its field `owner`."""
    hints, found = get_type_hints(command, include_extras=True), dict[str, Option]()
    for item in fields(command):
        hint = hints[item.name]
        if is_dataclass(hint):
            found |= options_of(hint, item.name)
        elif item.name != "settings":
            marks = [mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Mark)]
            mark = marks[0] if marks else Mark()
            default = item.default if item.default_factory is MISSING else item.default_factory()
            found[mark.name or item.name.replace("_", "-")] = Option(hint, mark, default, owner or item.name)
    return found


def read_arguments(name: str, typed: Sequence[str], command: type[Any]) -> Arguments:
    """The parts of a command line. An option that is given twice, and a setting in no section, is an error."""
    known = options_of(command)
    positional = [option for option, kind in known.items() if kind.mark.positional]
    has_settings = any(item.name == "settings" for item in fields(command)) and "settings" not in {
        kind.owner for kind in known.values()
    }
    read = Arguments(known, {}, {})
    loose: list[str] = []
    renamed: dict[str, str] = {}
    for option, typed_words in _options_and_words(typed):
        if not option:
            loose += typed_words
            continue
        new, words = _current(name, option, Words(typed_words), known, renamed)
        section, dot, setting = new.partition(".")
        if dot and section and has_settings:
            most = None if not positional or setting == "families" else 1
            _add(read.settings.setdefault(section.replace("-", "_"), {}), option, setting, Words(words[:most]))
        elif new not in known or known[new].mark.positional:
            raise UsageError(unknown("option", f"--{new}", [f"--{one}" for one in known if one not in positional]))
        else:
            most = known[new].words
            if most != 0 and not words:
                raise UsageError(f"--{new} needs a value")
            if new in read.given and not known[new].mark.repeated:
                raise UsageError(f"--{new} is given twice; give it once{_way_out(new, most)}")
            read.given[new] = Words((*read.given.get(new, ()), *words[:most]))
        loose += [] if most is None else words[most:]
    if len(loose) > len(positional):
        raise UsageError(f"'{loose[len(positional)]}' stands behind no option; see nrm {name} --help")
    read.given |= {option: Words([word]) for option, word in zip(positional, loose, strict=False)}
    if renamed:
        told = ", ".join(f"{old} is {new} now" for old, new in renamed.items())
        warnings.warn(f"{told}; the next release reads the new names only", NrmWarning, stacklevel=2)
    return read


def made_command(command: type[Any], read: Arguments) -> Any:
    """The command with the options that were typed."""
    values: dict[str, Any] = {"settings": read.settings} if read.settings else {}
    inner: dict[str, dict[str, Any]] = {}
    for name, option in read.options.items():
        said = option.mark.metavar if option.mark.positional else f"--{name} {option.mark.metavar}".rstrip()
        if name in read.given:
            field_name = name.replace("-", "_") if not option.mark.name else option.owner
            target = values if option.owner == field_name else inner.setdefault(option.owner, {})
            target[field_name] = _converted(said.split(" ")[0], option, read.given[name])
        elif option.default is MISSING:
            raise UsageError(f"{said} is missing; for example: {examples(command)[0]}")
    hints = get_type_hints(command)
    return command(**values, **{owner: hints[owner](**given) for owner, given in inner.items()})


def examples(command: type[Any]) -> list[str]:
    """The examples in a command's docstring."""
    return [line.strip() for line in (command.__doc__ or "").splitlines() if line.strip().startswith("nrm ")]


def _converted(name: str, option: Option, words: Words) -> Any:
    """The value of an option; an error says what it takes."""
    kind = bare(option.hint)
    value: Any = [*words] if get_origin(kind) is tuple else words[0] if words else True
    try:
        return msgspec.convert(value, option.hint, strict=False, dec_hook=lambda made, text: made(text))
    except msgspec.ValidationError as error:
        if get_origin(kind) is Literal:
            choices = get_args(kind)
            raise UsageError(f"{name} is {listing(choices)}, not '{words[0]}'{suggestion(words[0], choices)}") from None
        reason = str(error).partition(" - at")[0].replace("Expected ", "").replace("`", "")
        wanted = reason.partition(", got")[0].replace("int | null", "int").replace("int", "a whole number")
        wanted = wanted.replace("float", "a number").replace(" >= ", " of at least ").replace(" < ", " below ")
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
    old = new = f"{head}{dot}{rest}"
    meant = words
    if (command, head) in _SYNONYMS:
        new, meant = _SYNONYMS[command, head], _meant(head, words)
    elif head not in known and (found := RENAMED.get(head.replace("-", "_"), "").replace("_", "-")) in known:
        new = f"{found}{dot}{rest}"
    if not dot and (values := RENAMED_VALUES.get(head)):
        meant = Words(values.get(word, word) for word in words)
    if new != old:
        renamed[f"--{option}"] = f"--{new}"
    elif meant != words:
        renamed[" ".join([f"--{option}", *words])] = " ".join([f"--{new}", *meant])
    return new, meant


def _meant(option: str, words: Words) -> Words:
    """Words behind a second name as they stand behind the first."""
    if option in ("symbols", "propositions"):
        return Words(part.strip() for word in words for part in word.split(",") if part.strip())
    if option == "file":
        return Words(f"{FILE_PREFIX}{word}" for word in words)
    return Words(_UNKNOWN.get(word, word) for word in words) if option == "unknown" else words


def _add(section: dict[str, Any], option: str, setting: str, words: Words) -> None:
    """Add a setting to a section. `--env.kwargs.size 8` is an entry of `kwargs`; `--a.no-b` is `--a.b false`."""
    name, dot, entry = setting.partition(".")
    name = name.replace("-", "_")
    if name.startswith("no_") and not words:
        name, words = name.removeprefix("no_"), Words(["false"])
    entries = section.setdefault(name, {}) if dot else section
    if dot and (not words or not entry):
        raise UsageError(f"--{option} needs a value, such as --env.kwargs.size 8")
    if isinstance(entries, Words):
        raise UsageError(f"--{option.rpartition('.')[0]} is given twice; give it once")
    if (entry or name) in entries:
        raise UsageError(f"--{option} is given twice; give it once")
    entries[entry or name] = literal(words[0]) if dot else words


def _way_out(option: str, most: int | None) -> str:
    return f", with all values behind it: --{option} A B" if most is None else _SEVERAL.get(option, "")


@dataclass(frozen=True)
class FamilyOptions:
    """Tasks that are sampled from a family."""

    family: Annotated[str | None, Mark("NAME")] = None
    """The family that tasks are sampled from: a name (see 'nrm tasks'), file:PATH for the formulas of a file, or
    module:name. Its settings are options: --family reach --family.max-steps 5."""
    count: Count | None = None
    """How many tasks to sample from the family."""
    seed: int = 0
    """Equal seeds give equal tasks and episodes."""
    settings: Settings = field(default_factory=dict)

    def chosen_family(self) -> Sampler | None:
        """The family of that name, with the settings that it was given; None where there is none."""
        if self.family is None:
            if self.settings:
                section, values = next(iter(self.settings.items()))
                named = f"--{section}.{next(iter(values))}"
                raise UsageError(f"{named} is a setting of a family; say of which one: --family NAME")
            return None
        family: Any = sampler_of(self.family)
        if "family" not in self.settings:
            return family  # type: ignore[no-any-return]
        if self.family.startswith(FILE_PREFIX) or not fields(family):
            setting = next(iter(self.settings["family"]))
            raise UsageError(f"--family.{setting}: the family '{self.family}' has no settings")
        from nrm.runs import changed

        found: Sampler = changed({"family": family}, self.settings)["family"]
        return found


Folder = Annotated[Path, Mark("RUN", positional=True)]
"""The folder of a run, as the argument of a command."""
