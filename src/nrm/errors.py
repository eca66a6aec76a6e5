"""The one family of exceptions that `nrm` raises on purpose.

Catch `NrmError` to catch them all. Every message names the offending value, its place, and the way out; the command
line prints the message and exits with status 2.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from importlib import import_module
from traceback import extract_tb
from typing import Any

_CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that are not seen, or that change how others are seen."""


class NrmError(Exception):
    """Base class of all errors that this library raises."""


class NrmWarning(UserWarning):
    """Something that works, but probably not as it was meant. The command line prints it and goes on."""


class FormulaError(NrmError):
    """A formula that cannot be read, or that means nothing here."""


class FormulaSyntaxError(FormulaError):
    """Text that is no formula. The message shows the text with a caret under the place."""

    def __init__(self, message: str, text: str, position: int) -> None:
        super().__init__(f"{message}\n{_caret(text, position)}")
        self.text = text
        self.position = position


class UnknownSymbolError(NrmError):
    """A symbol outside the alphabet at hand."""


class AlphabetError(NrmError):
    """A list of symbols or propositions that makes no alphabet."""


class TraceError(NrmError):
    """A trace that the formula or the machine cannot read."""


class MachineError(NrmError):
    """A machine that is incomplete, non-deterministic or otherwise malformed."""


class RewardError(NrmError):
    """A reward scheme that is unknown or does not fit the machine."""


class FileError(NrmError):
    """A file that cannot be read or written."""


class TaskFileError(FileError):
    """A task file that is malformed: which key, which line."""


class ProbabilityError(NrmError):
    """Numbers that should be probabilities and are not, or observations that are no numbers."""


class EpisodeError(NrmError):
    """Episodes that cannot be used: empty, ragged, or with labels that the machine never outputs."""


class ContradictionError(EpisodeError):
    """Episodes that are impossible in the machine: the message names the first episode and step."""

    def __init__(self, message: str, episode: int, step: int) -> None:
        super().__init__(message)
        self.episode = episode
        self.step = step


class LearningError(NrmError):
    """Learning that was asked for something it cannot do."""


class EpisodeFileError(FileError):
    """A file of recorded episodes that is malformed: which array, which shape."""


class ModelFileError(FileError):
    """A saved model that is truncated, of another kind, or newer than this library."""


class LimitError(NrmError):
    """Work stopped at a limit, instead of filling the memory or running for ever."""


class EnvError(NrmError):
    """An environment that cannot be built, stepped or read as asked."""


class ConfigError(NrmError):
    """A setting that is unknown or out of range."""


class ModuleError(ConfigError):
    """A module of the user's that cannot be imported, or that lacks a name."""


class MissingModuleError(ModuleError):
    """A module of the user's that cannot be found here."""


class UntrustedError(ConfigError):
    """A file names code, and nobody has said that it may be run."""


class TrainingError(NrmError):
    """Training that cannot go on."""


class GridError(ConfigError):
    """A grid of runs that is empty, conflicting or malformed."""


class LockedError(FileError):
    """A folder that another process is writing in."""


class EngineError(NrmError):
    """An engine that cannot be started or reached."""


class StatisticsError(NrmError):
    """Runs that cannot be summarised or drawn: none, or scores that are no numbers."""


class MissingExtraError(NrmError):
    """An optional dependency is not installed; the message says which extra brings it."""


def require(module: str, need: str, extra: str, otherwise: str = "") -> Any:
    """An optional dependency; where it is not installed, an error that says what it is for and how to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(f"{need}: pip install 'neural-reward-machines[{extra}]'{otherwise}") from None


def suggestion(unknown: str, known: Iterable[str]) -> str:
    """`"; did you mean 'lava'?"`, or nothing when no known name is near."""
    names = list(known)
    close = get_close_matches(unknown, names, n=2, cutoff=0.6)
    # The first letters are seldom wrong, and two are exchanged more often than one is forgotten.
    close.sort(key=lambda name: (name[:2] != unknown[:2], sorted(name) != sorted(unknown)))
    if not close:
        lowered = {name.lower(): name for name in names}
        close = [lowered[unknown.lower()]] if unknown.lower() in lowered else []
    return f"; did you mean '{close[0]}'?" if close else ""


def unknown(what: str, name: object, known: Iterable[str], where: str = "") -> str:
    """`"unknown layout 'flt'; did you mean 'flat'? (layouts: dict, flat)"`."""
    names = list(known)
    plural = f"{what[:-1]}ies" if re.search("[^aeiou]y$", what) else f"{what}s"
    return f"unknown {what} '{name}'{where}{suggestion(str(name), names)} ({plural}: {listing(names)})"


def describe(error: BaseException) -> str:
    """An error in one line; of an unforeseen one also where it arose."""
    if isinstance(error, NrmError):
        return str(error)
    frames = extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    said = str(error).strip()
    return f"{type(error).__name__}{said and f': {said}'}{place}"


def shorten(text: str, width: int = 60) -> str:
    """`text`, cut in the middle when it is too long for a message."""
    if len(text) <= width:
        return text
    half = (width - 1) // 2
    return f"{text[:half]}…{text[len(text) - half :]}"


def shown(text: str) -> str:
    """Text as a terminal or a page may show it: control characters as escapes, and no value above 200 characters."""
    return re.sub(r"'[^'\n]{201,}'|\S{201,}", lambda long: shorten(long[0], 200), escaped(text))


def escaped(text: str) -> str:
    """Text whose control characters are escapes: of terminals, of the direction of writing, halves of characters."""
    return "".join(
        one if one == "\n" or unicodedata.category(one) not in _CONTROLS else one.encode("unicode_escape").decode()
        for one in text
    )


def listing(names: Iterable[str], most: int = 12) -> str:
    """`a, b, c`, cut after `most` names with a count of all; one or two more are shown, as a count is no shorter."""
    items = list(names)
    if len(items) <= most + 2:
        return ", ".join(items)
    return f"{', '.join(items[:most])}, … ({len(items)} in all)"


def counted(number: int, what: str, ending: str = "s") -> str:
    """`1 state`, `5 states`."""
    return f"{number:,} {what}{'' if number == 1 else ending}"


def _caret(text: str, position: int, width: int = 72) -> str:
    """The line of `text` around `position`, and a line with a caret under it."""
    start = text.rfind("\n", 0, position) + 1
    stop = text.find("\n", position)
    line = text[start : stop if stop >= 0 else len(text)].replace("\t", " ")
    column = position - start
    column, line = len(escaped(line[:column])), escaped(line)
    left = max(0, min(column - width // 2, len(line) - width))
    window = line[left : left + width]
    head = "…" if left > 0 else ""
    tail = "…" if left + width < len(line) else ""
    return f"  {head}{window}{tail}\n  {' ' * (len(head) + column - left)}^"


class ShownWarnings:
    """Shows warnings as errors are shown, ours in one line and others with their place, each of them once."""

    def __init__(self, words: Callable[[str], str] = str) -> None:
        """`words`: what our warnings become before they are shown."""
        self._words = words
        self._shown: set[str] = set()

    def show(self, message: Warning | str, category: type[Warning], filename: str, line: int, *_: object) -> None:
        """What Python calls in place of `warnings.showwarning`."""
        ours = issubclass(category, NrmWarning)
        said = self._words(str(message)) if ours else f"{message} ({category.__name__}, {filename}, line {line})"
        said = shown(said)
        if said not in self._shown:
            self._shown.add(said)
            print(f"nrm: warning: {said}", file=sys.stderr, flush=True)
