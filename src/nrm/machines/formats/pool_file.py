"""Pools of tasks in a file: thousands of machines in one compressed `.npz`, nothing in it pickled.

Arrays of the file: `about` (a JSON text: format, version, alphabet, names, and what the pool was drawn from); for each
task `sizes`, `classes` and `initial` (tasks,) and `letter_class` (tasks, letters); and, of all tasks one after the
other, `columns` (the tables, row by row), `accepting` and `outputs`.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import Json
from nrm.errors import FileError, NrmError
from nrm.files import write_bytes
from nrm.machines.alphabet import Alphabet
from nrm.machines.moore import MooreMachine
from nrm.machines.pool import TaskPool

POOL_FORMAT = "nrm-tasks"
POOL_VERSION = 1


def save_pool(path: Path | str, pool: TaskPool, origin: Json) -> None:
    """Write a pool, whole or not at all. `origin`: what it was drawn from, as JSON values."""
    write_bytes(path, pool_bytes(pool, origin))


def load_pool(path: Path | str) -> tuple[TaskPool, Json]:
    """The pool of a file, and what it was drawn from; `FileError` where the file is damaged or of another kind."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise FileError(f"there is no file {path}") from None
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from None
    return pool_from_bytes(data, str(path))


def pool_bytes(pool: TaskPool, origin: Json | None = None) -> bytes:
    """What a file of a pool holds."""
    machines = pool.machines
    about = {
        "format": POOL_FORMAT,
        "version": POOL_VERSION,
        "alphabet": {"kind": pool.alphabet.kind, "symbols": list(pool.alphabet.symbols)}
        | ({} if pool.alphabet.occurring is None else {"occurring": list(pool.alphabet.occurring)}),
        "names": list(pool.names),
        "origin": origin or {},
    }
    arrays = {
        "about": np.frombuffer(json.dumps(about).encode("utf-8"), dtype=np.uint8),
        "sizes": np.array([machine.states for machine in machines]),
        "classes": np.array([machine.classes for machine in machines]),
        "initial": np.array([machine.initial for machine in machines]),
        "letter_class": np.stack([machine.letter_class for machine in machines]),
        "columns": np.concatenate([machine.columns.ravel() for machine in machines]),
        "accepting": np.concatenate([machine.accepting for machine in machines]),
        "outputs": np.concatenate([machine.outputs for machine in machines]),
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def pool_from_bytes(data: bytes, source: str) -> tuple[TaskPool, Json]:
    """The pool that `pool_bytes` wrote, and what it was drawn from; `source` names it in errors."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(arrays["about"].tobytes())
        if about["format"] != POOL_FORMAT or about["version"] != POOL_VERSION:
            raise FileError(
                f"{source} has version {about['version']} of the format '{about['format']}'; this library reads "
                f"'{POOL_FORMAT}' of version {POOL_VERSION}"
            )
        letters = about["alphabet"]
        occurring = letters.get("occurring")
        alphabet = Alphabet(tuple(letters["symbols"]), letters["kind"], occurring and tuple(occurring))
        pool = TaskPool(tuple(_machines(alphabet, arrays)), tuple(about["names"]))
        origin: Json = about["origin"]
    except FileError:
        raise
    except NrmError as error:
        raise FileError(f"{source} is damaged: {error}") from None
    except (OSError, zipfile.BadZipFile, EOFError, ValueError, KeyError, TypeError, IndexError) as error:
        raise FileError(f"{source} holds no tasks, or is damaged ({type(error).__name__}: {error})") from None
    return pool, origin


def _machines(alphabet: Alphabet, arrays: dict[str, NDArray[Any]]) -> list[MooreMachine]:
    sizes, classes = arrays["sizes"].astype(np.int64), arrays["classes"].astype(np.int64)
    cells, states = np.cumsum(sizes * classes), np.cumsum(sizes)
    if (int(cells[-1]), int(states[-1])) != (len(arrays["columns"]), len(arrays["outputs"])):
        raise ValueError(f"tables of {len(arrays['columns'])} cells for {int(cells[-1])}")
    columns = np.split(arrays["columns"], cells[:-1])
    accepting, outputs = (np.split(arrays[name], states[:-1]) for name in ("accepting", "outputs"))
    rows = zip(columns, sizes.tolist(), arrays["letter_class"], accepting, outputs, arrays["initial"], strict=True)
    return [
        MooreMachine(alphabet, letters, table.reshape(size, -1), accepted, paid, int(first))
        for table, size, letters, accepted, paid, first in rows
    ]
