"""Reading and writing files: whole, atomically, and with errors that name the path."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import secrets
import stat
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import msgspec
import numpy as np
from numpy.typing import NDArray

from nrm.errors import FileError, NrmError, shorten

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Limits(NamedTuple):
    """How much of a file is read, whoever wrote it."""

    bytes: int = 1 << 30
    depth: int = 60
    """Lists and objects in each other."""
    line: int = 1 << 22
    """Characters of a line that comes from a stream."""
    digits: int = 18
    """Of a whole number."""
    members: int = 10_000
    """Parts of an archive."""
    memory: int = 1 << 30
    """Bytes of all parts that are unpacked."""
    value: float = 1e12
    """Of a return, a length, or a number of steps."""


LIMITS = Limits()
TEMPORARY = ".nrm-tmp-"
"""How the names of files begin that are not written to the end yet."""


def read_bytes(path: Path | str, error: type[FileError] = FileError, begin: int | None = None) -> bytes:
    """The bytes of a file, the first `begin` where that is given; errors are of the class `error`."""
    try:
        about = os.stat(path)
        if stat.S_ISFIFO(about.st_mode) and not str(path).startswith(("/dev/", "/proc/")):
            raise error(f"cannot read {path}: it is a pipe, in which nobody may ever write")
        if (begin or about.st_size) > LIMITS.bytes:
            raise error(f"cannot read {path}: it has {about.st_size:,} bytes, and files have {LIMITS.bytes:,} at most")
        with open(path, "rb") as file:
            return file.read(LIMITS.bytes if begin is None else begin)
    except FileNotFoundError:
        raise error(f"there is no file {path}") from None
    except OSError as problem:
        raise error(f"cannot read {path}: {_reason(problem)}") from None
    except ValueError as problem:  # a path that no file can have
        raise error(f"cannot read {str(path)!r}: {problem}") from None


def read_text(path: Path | str) -> str:
    """The text of a file."""
    try:
        return read_bytes(path).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise FileError(f"cannot read {path}: it is not UTF-8 text (byte {error.start})") from None


def read_lines(stream: TextIO, source: str) -> Iterator[str]:
    """The lines of a stream as they come; `source` names it in errors."""
    while line := stream.readline(LIMITS.line):
        if len(line) == LIMITS.line:
            raise FileError(f"{source} has a line of more than {LIMITS.line - 1:,} characters")
        yield line


def read_json(path: Path | str, kind: Any = Any, error: type[FileError] = FileError) -> Any:
    """The values of a JSON file, of a kind that msgspec knows."""
    return parse_json(read_text(path), str(path), kind, error)


def parse_json(text: str | bytes, source: str, kind: Any = Any, error: type[NrmError] = FileError) -> Any:
    """The values of a JSON text, within limits; `source` names it in errors, which are of the class `error`."""
    try:
        found = json.loads(text, parse_int=_whole_number, parse_float=_number, parse_constant=_number)
        _check_depth(found)
        if re.search(r"\\u[dD][89a-fA-F]", text if isinstance(text, str) else text.decode()):
            json.dumps(found, ensure_ascii=False).encode()
        return msgspec.convert(found, kind)
    except json.JSONDecodeError as problem:
        reason = f"{problem.msg} at line {problem.lineno}, column {problem.colno}"
        raise error(f"{source} is not JSON: {reason}") from None
    except RecursionError:
        raise error(f"{source} is nested too deep") from None
    except UnicodeError:
        raise error(f"{source} holds half of a character") from None
    except msgspec.ValidationError as problem:
        raise error(f"{source} is damaged: {problem}") from None
    except ValueError as problem:
        raise error(f"{source}: {problem}") from None


def _whole_number(text: str) -> int:
    if len(text) > LIMITS.digits:
        raise ValueError(f"the number {shorten(text)} is too long")
    return int(text)


def _number(text: str) -> float:
    if not math.isfinite(found := float(text)):
        raise ValueError(f"{shorten(text)} is no finite number")
    return found


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(LIMITS.depth):
        parts = [list(one.values()) if isinstance(one, dict) else one for one in level]
        level = [one for part in parts if isinstance(part, list) for one in part if isinstance(one, dict | list)]
        if not level:
            return
    raise RecursionError


def read_arrays(
    data: bytes, source: str, names: Iterable[str], error: type[FileError] = FileError
) -> dict[str, NDArray[Any]]:
    """Those of some arrays that are in the bytes of an `.npz` file; nothing else in it is unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: f"{name}.npy" for name in names if f"{name}.npy" in archive.namelist()}
            check_members([archive.getinfo(member) for member in members.values()], source, error)
            # Each is unpacked before its header is believed.
            unpacked = {name: io.BytesIO(archive.read(member)) for name, member in members.items()}
        return {name: np.lib.format.read_array(part, allow_pickle=False) for name, part in unpacked.items()}
    except FileError:
        raise
    except Exception as problem:  # numpy, zipfile and zlib raise all kinds on bytes that are no file of theirs
        raise error(f"{source} is damaged ({type(problem).__name__}: {shorten(str(problem), 100)})") from None


def check_members(members: Sequence[zipfile.ZipInfo], source: str, error: type[FileError]) -> None:
    """Refuse members of an archive that are too many, too large, or locked."""
    size = sum(member.file_size for member in members)
    if len(members) > LIMITS.members or size > LIMITS.memory:
        most = f"{LIMITS.members:,} parts and {LIMITS.memory:,} bytes"
        raise error(f"{source} unpacks to {len(members):,} parts with {size:,} bytes; {most} are read at most")
    if any(member.flag_bits & 1 for member in members):
        raise error(f"{source} is encrypted")


def write_json(path: Path | str, data: Any, indent: int | None = 2) -> None:
    """Write values as JSON, whole or not at all."""
    write_text(path, json.dumps(data, indent=indent) + "\n")


def csv_text(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV. A missing value (None) is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(rows)
    return text.getvalue()


_IDS = ("recording_id", "case_id", "episode_id", "trace_id", "case:concept:name")
RECORDING_COLUMNS = ("recording", "case", "episode", *_IDS)
TIME_COLUMNS = ("time", "step", "t", "timestamp")
"""How tables call the columns that say which recording a row is of, and when it was."""


def table_rows(
    lines: Iterable[str], source: str, error: type[FileError] = FileError, begin: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """The header and the rows of CSV text, each with the number of its line; all are as long as the header.

    `source` names the text in errors, which are of the class `error`; `begin`: lines that were read before.
    """
    rest = iter(lines)
    number, width = begin, 0
    try:
        first = next(rest, "").lstrip("\ufeff")
        reader = csv.reader(chain([first], rest), delimiter=max(",;\t", key=first.count), strict=True)
        for row in reader:
            number, width = begin + reader.line_num, width or len(row)
            if row and len(row) != width:
                cells = shorten(",".join(row))
                raise error(f"{source}, line {number}: {len(row)} cells, and the header has {width}: {cells}")
            if row:
                yield number, row
    except csv.Error as problem:
        raise error(f"{source}, line {number + 1}: it is no CSV: {problem}") from None
    except UnicodeDecodeError as problem:
        raise error(f"{source}, after line {number}: it is not UTF-8 text ({problem.reason})") from None


def parse_toml(text: str, source: str, error: type[Exception] = FileError) -> dict[str, Any]:
    """The values of a TOML text; `source` names it in errors, which are of the class `error`."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as problem:
        reason = "it is nested too deep" if isinstance(problem, RecursionError) else problem
        raise error(f"{source} is not TOML: {reason}") from None


def line_of(text: str, key: str) -> str:
    """`", line 3"` where a TOML text sets or heads a table with the key, or nothing when it does not."""
    name = re.escape(key)
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf"\s*{name}\s*=|\s*\[(.*\.)?{name}\]", line):
            return f", line {number}"
    return ""


def write_text(path: Path | str, text: str) -> None:
    """Write text so that the file is either the old one or the new one, never half of it."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path | str, data: bytes) -> None:
    """Write bytes so that the file is either the old one or the new one, never half of it."""
    try:
        target = Path(path).resolve()  # a link stays, and what it points to is written
        if target.is_dir():
            raise FileError(f"cannot write {path}: it is a folder; name a file in it")
        if target.exists() and not os.access(target, os.W_OK):
            raise FileError(f"cannot write {path}: it is read-only")
        if target.exists() and not target.is_file():  # a device or a pipe is written to, not replaced
            target.write_bytes(data)
        else:
            _replace(target, data)
    except (OSError, ValueError) as error:
        reason = _reason(error) if isinstance(error, OSError) else str(error)
        raise FileError(f"cannot write {str(path)!r}: {reason}") from None


def append_text(path: Path | str, size: int, text: str) -> int:
    """Append to the first `size` bytes of a file, over whatever a killed writer left there; how many it has then."""
    data = text.encode("utf-8")
    try:
        with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666), "r+b") as file:
            file.truncate(size)
            file.seek(size)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise FileError(f"cannot write {str(path)!r}: {_reason(error)}") from None
    return size + len(data)


def remove_leftovers(folder: Path | str) -> None:
    """Remove the temporary files of writers that were killed. Call it where nobody else is writing."""
    for leftover in Path(folder).glob(f"{TEMPORARY}*"):
        leftover.unlink(missing_ok=True)


def make_folder(path: Path | str) -> Path:
    """A folder, made with those above it where it is not there yet."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise FileError(f"cannot make the folder {folder}: it is a file") from None
    except OSError as error:
        raise FileError(f"cannot make the folder {folder}: {_reason(error)}") from None
    return folder


def check_links(folder: Path | str) -> None:
    """Raise where a file in a folder, or in a folder of it, is a link that leads out."""
    home = Path(folder).resolve()
    for place in (*home.glob("*"), *home.glob("*/*")):
        if place.is_symlink() and not place.resolve().is_relative_to(home):
            raise FileError(f"{place} is a link that leads out of the folder; put the file itself there")


def check_folder(path: Path | str) -> None:
    """Raise now, not after hours of work, when nothing can be written in a folder; it need not be there yet."""
    folder = Path(path)
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not existing.is_dir():
        raise FileError(f"cannot make the folder {folder}: {existing} is a file")
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise FileError(f"cannot write into {existing}: {_reason(error)}") from None


def _replace(target: Path, data: bytes) -> None:
    temporary = target.with_name(f"{TEMPORARY}{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file or folder"
    return error.strerror or str(error)
