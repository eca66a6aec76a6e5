"""Reading and writing files: whole, atomically, and with errors that name the path."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import secrets
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from nrm.errors import FileError, shorten

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEMPORARY = ".nrm-tmp-"
"""How the names of files begin that are not written to the end yet."""


def read_text(path: Path | str) -> str:
    """The text of a file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise FileError(f"cannot read {path}: {_reason(error)}") from None
    except UnicodeDecodeError as error:
        raise FileError(f"cannot read {path}: it is not UTF-8 text (byte {error.start})") from None
    except ValueError as error:  # a path that no file can have
        raise FileError(f"cannot read {str(path)!r}: {error}") from None


def read_json(path: Path | str) -> Any:
    """The values of a JSON file."""
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise FileError(f"{path} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise FileError(f"{path} is nested too deep") from None
    except ValueError:
        raise FileError(f"{path} holds a number that is too long") from None


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
        with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b") as file:
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
