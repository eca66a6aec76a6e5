"""Recordings from wherever they are: `.npz` files, tables in long form (CSV and Parquet), Minari data sets.

A table has a row a step. Columns: `recording` (or `case`, `episode`); `time` (or `step`), optional; `reward` or
`verdict`; `symbol`, the true one, optional; all others are features, and hold numbers. The rows of a recording stand in
the order of time; recordings may be interleaved. A verdict may stand in some rows of a recording only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nrm.errors import EpisodeFileError, listing, require, shorten, suggestion
from nrm.files import RECORDING_COLUMNS, TIME_COLUMNS, read_lines, table_rows
from nrm.neural.episode_file import RecordedEpisodes, load_npz, record_episodes

ROLES = {
    "recording": RECORDING_COLUMNS,
    "time": TIME_COLUMNS,
    "reward": ("reward",),
    "verdict": ("verdict", "passed"),
    "symbol": ("symbol",),
}
"""The columns that are no features, by what they say."""
TRUTHS = {
    **dict.fromkeys(("1", "1.0", "true", "yes", "pass", "passed"), 1),
    **dict.fromkeys(("0", "0.0", "false", "no", "fail", "failed"), 0),
    **dict.fromkeys(("", "none", "nan"), -1),
}
"""What stands for a verdict; -1 where none is given."""


class Rows(NamedTuple):
    """Some rows of a table."""

    recordings: list[str]
    features: NDArray[np.float32]
    """(rows, features)"""
    rewards: NDArray[np.float64] | None
    verdicts: NDArray[np.int8] | None
    """(rows,) 1, 0, or -1 where none is given."""
    symbols: list[str] | None
    times: NDArray[np.float64] | None
    """(rows,) NaN where it is no number."""
    places: Sequence[int]
    """The line or row of the file that each stands in."""
    names: Sequence[str]
    """Of the features."""


class LongForm:
    """Reads rows below a header; `source` and `noun` (line or row) say in errors where something stands."""

    def __init__(self, header: Sequence[str], source: str, noun: str = "line") -> None:
        self._header, self._source, self._noun = [name.strip() for name in header], source, noun
        found = {role: [name for name in self._header if name in names] for role, names in ROLES.items()}
        twice = [name for name in self._header if self._header.count(name) > 1]
        twice += [f"{names[0]}' and '{names[1]}" for names in found.values() if len(names) > 1]
        if twice:
            raise EpisodeFileError(f"{source}: the header has '{twice[0]}' twice; keep one of them")
        if not found["recording"]:
            raise EpisodeFileError(
                f"{source}: no column says which recording a row is of; name it 'recording'"
                f"{suggestion('recording', self._header)} (columns: {listing(self._header)})"
            )
        if found["reward"] and found["verdict"]:
            raise EpisodeFileError(f"{source} has both rewards and verdicts; drop one of these columns")
        self._roles = {role: self._header.index(names[0]) for role, names in found.items() if names}
        self.features = [name for place, name in enumerate(self._header) if place not in self._roles.values()]
        """The names of the features."""
        if not self.features:
            raise EpisodeFileError(f"{source} has no features; every column but {listing(self._header)} is one")

    def read(self, columns: Sequence[Sequence[Any]], places: Sequence[int]) -> Rows:
        """Rows by their columns, in the order of the header."""
        role = {name: columns[place] for name, place in self._roles.items()}
        numbers = [self._numbers(name, columns[self._header.index(name)], places) for name in self.features]
        return Rows(
            [str(name).strip() for name in role["recording"]],
            np.stack(numbers, axis=1).astype(np.float32),
            self._numbers("reward", role["reward"], places) if "reward" in role else None,
            self._verdicts(role["verdict"], places) if "verdict" in role else None,
            self._symbols(role["symbol"], places) if "symbol" in role else None,
            _numbers(role["time"]) if "time" in role else None,
            places,
            self.features,
        )

    def _numbers(self, name: str, cells: Sequence[Any], places: Sequence[int]) -> NDArray[np.float64]:
        found = _numbers(cells)
        bad = np.flatnonzero(~(np.abs(found) <= np.finfo(np.float32).max))
        if bad.size:
            said = "features are finite numbers; drop the column, or mend the cell"
            raise self._error(name, cells[bad[0]], places[bad[0]], said if name in self.features else "a finite number")
        return found

    def _verdicts(self, cells: Sequence[Any], places: Sequence[int]) -> NDArray[np.int8]:
        texts = list(map(str, cells))
        known = {text: TRUTHS.get(text.strip().lower()) for text in set(texts)}
        found = [known[text] for text in texts]
        if None in found:
            row = found.index(None)
            raise self._error("verdict", cells[row], places[row], "a verdict is true or false, 1 or 0, or empty")
        return np.array(found, dtype=np.int8)

    def _symbols(self, cells: Sequence[Any], places: Sequence[int]) -> list[str]:
        found = ["" if cell is None else str(cell).strip() for cell in cells]
        if "" in found:
            row = found.index("")
            raise self._error("symbol", cells[row], places[row], "name the symbol of every row, or drop the column")
        return found

    def _error(self, name: str, cell: object, place: int, said: str) -> EpisodeFileError:
        where = f"{self._source}, {self._noun} {place}, column '{name}'"
        return EpisodeFileError(f"{where}: '{shorten(str(cell))}' is refused: {said}")


def csv_rows(lines: Iterable[str], source: str, most: int = 4096) -> Iterator[Rows]:
    """The rows of CSV text, so many at a time; one at a time where lines come as they happen."""
    numbered = table_rows(lines, source, EpisodeFileError)
    _, header = next(numbered, (0, None))
    if header is None:
        raise EpisodeFileError(f"{source} is empty; a header and a row for each step are needed")
    form = LongForm(header, source)
    while part := list(islice(numbered, most)):
        places, rows = zip(*part, strict=True)
        yield form.read(list(zip(*rows, strict=True)), places)


def parquet_rows(path: str) -> Iterator[Rows]:
    """The rows of a Parquet file, some at a time."""
    parquet = require("pyarrow.parquet", "reading Parquet files needs pyarrow", "parquet", ", or write CSV")
    try:
        with parquet.ParquetFile(path) as file:
            form, begin = LongForm(file.schema_arrow.names, path, "row"), 1
            for batch in file.iter_batches():
                columns = [column.to_pylist() for column in batch.columns]
                yield form.read(columns, range(begin, begin + len(batch)))
                begin += len(batch)
    except (OSError, ValueError) as error:  # what pyarrow raises
        raise EpisodeFileError(f"{path} is no Parquet file: {shorten(str(error), 200)}") from None


def recordings_of(parts: Iterable[Rows], source: str) -> RecordedEpisodes:
    """The recordings of some rows, in the order in which they begin."""
    names: dict[str, int] = {}
    known: dict[str, int] = {}
    numbers: list[int] = []
    symbols: list[int] = []
    every: list[Rows] = []
    for rows in parts:
        numbers += [names.setdefault(name, len(names)) for name in rows.recordings]
        symbols += [known.setdefault(symbol, len(known)) for symbol in rows.symbols or ()]
        every.append(rows._replace(recordings=[], symbols=None))
    if not every:
        raise EpisodeFileError(f"{source} has a header and no rows; write a row for each step")
    order = np.argsort(np.array(numbers), kind="stable")
    owner = np.array(numbers)[order]

    def joined(name: str) -> Any:
        parts = [getattr(rows, name) for rows in every]
        return None if parts[0] is None else np.concatenate(parts)[order]

    where = _Where(source, tuple(names), owner, joined("places"))
    where.check_times(joined("times"))
    return RecordedEpisodes(
        joined("features"),
        np.bincount(owner).astype(np.int64),
        joined("rewards"),
        symbols=np.array(symbols)[order] if symbols else None,
        symbol_names=tuple(known) or None,
        verdicts=where.verdicts(joined("verdicts")),
        names=tuple(names),
        feature_names=tuple(every[0].names),
    )


class _Where(NamedTuple):
    """Which recording and line each row is of, the rows sorted by recording."""

    source: str
    names: tuple[str, ...]
    owner: NDArray[np.int64]
    places: NDArray[np.int64]

    def check_times(self, times: NDArray[np.float64] | None) -> None:
        """Refuse rows that go back in time."""
        if times is None:
            return
        back = np.flatnonzero((np.diff(times) < 0) & (np.diff(self.owner) == 0))
        if back.size:
            raise self._error(int(back[0]) + 1, f"goes back in time, to {times[back[0] + 1]:g}; sort its rows by time")

    def verdicts(self, given: NDArray[np.int8] | None) -> NDArray[np.bool_] | None:
        """(recordings,) the verdict that the rows of each agree on."""
        if given is None:
            return None
        found = np.full(len(self.names), -1, dtype=np.int8)
        np.maximum.at(found, self.owner, given)
        odd = np.flatnonzero((given >= 0) & (given != found[self.owner]))
        if odd.size:
            raise self._error(int(odd[0]), "has two verdicts, true and false; a verdict is one for the whole recording")
        if (found < 0).any():
            row = int(np.flatnonzero(self.owner == np.flatnonzero(found < 0)[0])[0])
            raise self._error(row, "has no verdict; write true or false in at least one of its rows")
        passed: NDArray[np.bool_] = found == 1
        return passed

    def _error(self, row: int, said: str) -> EpisodeFileError:
        name = shorten(self.names[self.owner[row]])
        return EpisodeFileError(f"{self.source}, line {self.places[row]}: recording '{name}' {said}")


def load_minari(name: str) -> RecordedEpisodes:
    """The episodes of a Minari data set that is stored here: observations after each action, and rewards."""
    minari = require("minari", "reading Minari data sets needs minari", "minari", ", or write a file of episodes")
    try:
        episodes = list(minari.load_dataset(name))
    except (FileNotFoundError, ImportError, ValueError) as error:
        here = list(minari.list_local_datasets())
        raise EpisodeFileError(
            f"there is no Minari data set '{name}' here{suggestion(name, here)} (stored: {listing(here) or 'none'}; "
            f"minari download brings others): {shorten(str(error), 100)}"
        ) from None
    if not episodes:
        raise EpisodeFileError(f"the Minari data set '{name}' has no episodes")
    shown = episodes[0].observations
    if not isinstance(shown, np.ndarray):
        raise EpisodeFileError(
            f"the observations of '{name}' are of kind {type(shown).__name__}, not arrays; write the entry that shows "
            "the symbols to a file with nrm.save_episodes"
        )
    seen = [np.asarray(episode.observations)[1:] for episode in episodes]
    if shown.ndim == 1:
        seen = [row[:, None] for row in seen]
    return record_episodes(seen, [episode.rewards for episode in episodes], names=[str(e.id) for e in episodes])


def load_episodes(path: str | Path) -> RecordedEpisodes:
    """Read logged episodes: an `.npz`, `.csv` or `.parquet` file, or `minari:ID`."""
    text = str(path)
    if text.startswith("minari:"):
        return load_minari(text.removeprefix("minari:"))
    if text.endswith(".parquet"):
        return recordings_of(parquet_rows(text), text)
    if not text.endswith(".csv"):
        return load_npz(path)
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return recordings_of(csv_rows(read_lines(file, text), text), text)
    except OSError as error:
        raise EpisodeFileError(f"cannot read {text}: {error.strerror}") from None


def _numbers(cells: Sequence[Any]) -> NDArray[np.float64]:
    """(cells,) as numbers; NaN where one is none."""
    try:
        return np.fromiter(map(float, cells), np.float64, len(cells))
    except (TypeError, ValueError):
        return np.array([_number(cell) for cell in cells])


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return float("nan")
