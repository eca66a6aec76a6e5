"""Traces of symbols in text, one line at a time: JSON lines, CSV with a header, or a step a line.

Columns and keys: `recording` or `case` names the recording, `symbol` (or `symbols`, `activity`, `event`) says what
holds, or each proposition has a column of its own; `time` is optional. A JSON line may also hold a whole trace. Steps
are forgotten once they are read, so input may go on for ever.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import msgspec

from nrm.aliases import Step
from nrm.errors import FileError, TraceError, listing, shorten, suggestion
from nrm.files import RECORDING_COLUMNS, TIME_COLUMNS, table_rows
from nrm.machines.alphabet import Alphabet

SYMBOL = ("symbol", "symbols", "activity", "event", "concept:name")
OUTCOME = ("reward", "verdict", "passed")
TRUTHS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


class Steps(NamedTuple):
    """Some steps of a recording, and the line that they stand in."""

    recording: str
    """Its name; empty where the text has no names."""
    steps: Sequence[Step]
    whole: bool
    """Whether they are the whole recording."""
    line: int


class TraceReader:
    """Reads steps over an alphabet from lines; `source` names these in errors."""

    def __init__(self, alphabet: Alphabet, source: str) -> None:
        self._alphabet, self.source = alphabet, source
        self._line = 0
        self.names: set[str] = set()
        """Names that were read, as far as memory allows."""
        self._times: dict[str, float] = {}
        self._step = lru_cache(1 << 16)(self._read_step)
        self._keys = lru_cache(1 << 10)(self._read_keys)
        self._flags = lru_cache(1 << 16)(self._read_flags)

    def read(self, lines: Iterable[str]) -> Iterator[Steps]:
        """The steps in the order of the lines; the first line says which form the text has."""
        try:
            yield from self._read(iter(lines))
        except UnicodeDecodeError as error:
            raise FileError(f"{self.source}, after line {self._line}: it is not UTF-8 text ({error.reason})") from None

    def _read(self, lines: Iterator[str]) -> Iterator[Steps]:
        first = next((line for line in self._counted(lines) if line.lstrip("\ufeff").strip()), None)
        if first is None:
            raise FileError(f"{self.source} is empty; it needs at least one step")
        first = first.lstrip("\ufeff")
        if first.lstrip()[0] in '{["':
            yield from (self._json(line) for line in chain([first], self._counted(lines)) if line.strip())
        elif any(mark in first for mark in ",;\t") or _plain(first.strip()) in SYMBOL or self.source.endswith(".csv"):
            yield from self._table(table_rows(chain([first], lines), self.source, begin=self._line - 1))
        else:
            for line in chain([first], self._counted(lines)):
                if text := line.strip():
                    yield Steps("", (self._step(text),), False, self._line)

    def _counted(self, lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            self._line += 1
            yield line

    def _table(self, rows: Iterator[tuple[int, list[str]]]) -> Iterator[Steps]:
        """CSV rows below a header."""
        header = [name.strip() for name in next(rows)[1]]
        step = self._of_columns(header)
        recording = self._recording(header)
        time = self._time(header)
        for self._line, row in rows:
            name = "" if recording is None else row[recording]
            if time is not None:
                self._check_time(name, row[time])
            yield Steps(name, (step(row),), False, self._line)

    def _recording(self, header: Sequence[str]) -> int | None:
        """The column of the recording; None if all is one recording, and nothing can say otherwise."""
        found = self._column(header, RECORDING_COLUMNS)
        known = {*TIME_COLUMNS, *SYMBOL, *OUTCOME, *self._alphabet.symbols}
        if found is None and not all(name in known or _plain(name) in known for name in header):
            raise self._error(
                "nothing says which recording this step is of; name it 'recording', or drop what is not needed"
                f"{suggestion('recording', header)} (given: {listing(header)})"
            )
        return found

    def _time(self, header: Sequence[str]) -> int | None:
        held = self._alphabet.places
        return self._column(header, [name for name in TIME_COLUMNS if name not in held])

    def _check_time(self, name: str, cell: Any) -> None:
        """Refuse a step before the last one of its recording. Times that are no numbers say nothing."""
        try:
            time = float(cell)
        except (TypeError, ValueError):
            return
        if time < self._times.get(name, time):
            of = f"recording '{shorten(name)}'" if name else "the recording"
            raise self._error(f"{of} goes back in time, to {time:g}; sort its rows by time")
        self._times[name] = time

    def _of_columns(self, header: Sequence[str]) -> Callable[[Sequence[str]], Step]:
        """From a row to its step."""
        symbol = self._column(header, SYMBOL)
        if symbol is not None:
            return lambda row: self._step(row[symbol])
        missing = [name for name in self._alphabet.symbols if name not in header]
        if missing:
            raise self._error(
                f"the header has neither a column 'symbol' nor a column '{missing[0]}'"
                f"{suggestion(missing[0], header)} (columns: {listing(header)})"
            )
        places = [header.index(name) for name in self._alphabet.symbols]
        return lambda row: self._flags(tuple(row[place] for place in places))

    @staticmethod
    def _column(header: Sequence[str], names: Sequence[str]) -> int | None:
        plain = [_plain(name) for name in header]
        return next((plain.index(name) for name in names if name in plain), None)

    def _json(self, line: str) -> Steps:
        try:
            value = msgspec.json.decode(line)
        except msgspec.DecodeError as error:
            raise self._error(f"it is no JSON: {error}") from None
        except RecursionError:
            raise self._error("it is nested too deep") from None
        match value:
            case str():
                return Steps("", (self._step(value),), False, self._line)
            case list():
                return self._object({"trace": value})
            case dict():
                return self._object(value)
            case _:
                raise self._error(f'{shorten(line)} is no step: a name, a trace ["a", "b"], or an object')

    def _object(self, value: dict[str, Any]) -> Steps:
        recording, symbol, time = self._keys(tuple(value))
        name = "" if recording is None else value[recording]
        if not isinstance(name, str | int):
            raise self._error(f"{name!r} names no recording; take text or a number")
        if "trace" in value:
            if not isinstance(value["trace"], list) or not value["trace"]:
                raise self._error(f"'trace' is a list of at least one step, not {shorten(str(value['trace']))}")
            return Steps(str(name) or str(self._line), self._steps(value["trace"]), True, self._line)
        if time is not None:
            self._check_time(str(name), value[time])
        if symbol is None:
            steps = [self._of_columns(list(value))(list(map(_cell, value.values())))]
        else:
            steps = self._steps([value[symbol]])
        return Steps(str(name), steps, False, self._line)

    def _steps(self, values: Sequence[Any]) -> list[Step]:
        """Steps of JSON: names, or lists of names."""
        found: list[Step] = []
        for value in values:
            if isinstance(value, str):
                found.append(self._step(value))
            elif isinstance(value, list) and all(isinstance(name, str) for name in value):
                found.append(tuple(value))
                self._note(value)
            else:
                raise self._error(f"{shorten(str(value))} is no step; a step is a name or a list of names")
        return found

    def _read_keys(self, keys: tuple[str, ...]) -> tuple[str | None, str | None, str | None]:
        """Which keys of an object name the recording, what holds and the time."""
        # A whole trace is a recording by itself.
        recording = self._column(keys, RECORDING_COLUMNS) if "trace" in keys else self._recording(keys)
        found = (recording, self._column(keys, SYMBOL), self._time(keys))
        first, second, third = (None if place is None else keys[place] for place in found)
        return first, second, third

    def _read_step(self, text: str) -> Step:
        try:
            step = self._alphabet.read_step(text)
        except TraceError as error:
            raise self._error(str(error)) from None
        self._note([step] if isinstance(step, str) else step)
        return step

    def _read_flags(self, cells: tuple[str, ...]) -> Step:
        """The step of a row with a cell for each proposition."""
        for name, cell in zip(self._alphabet.symbols, cells, strict=True):
            if cell.strip().lower() not in TRUTHS:
                raise self._error(f"column '{name}' is 0 or 1, not '{shorten(cell)}'")
        self._note(self._alphabet.symbols)
        pairs = zip(self._alphabet.symbols, cells, strict=True)
        return tuple(name for name, cell in pairs if TRUTHS[cell.strip().lower()])

    def _note(self, names: Iterable[str]) -> None:
        if len(self.names) < 1 << 16:
            self.names.update(names)

    def _error(self, message: str) -> FileError:
        return FileError(f"{self.source}, line {self._line}: {re.sub(r'^a step ', 'the step ', message)}")


def _plain(name: str) -> str:
    """A heading in lower case, unless it is a letter: T is a temperature, and t the time."""
    return name.lower() if len(name) > 1 else name


def _cell(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool | int) else repr(value)
