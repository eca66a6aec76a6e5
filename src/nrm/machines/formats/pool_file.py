"""Pools of tasks in a file: thousands of machines in one compressed `.npz`, nothing in it pickled.

Arrays of the file: `about` (JSON: format, version, alphabet, names, and what the pool was sampled from); for each
task `sizes`, `classes` and `initial` (tasks,) and `letter_class` (tasks, letters); and, of all tasks one after the
other, `columns` (the tables, row by row), `accepting` and `outputs`.

Over many propositions (version 2) letters are not listed. Instead of `classes`, `letter_class` and `columns` there are,
of the decision diagrams of the moves, `nodes` and `depths` (tasks,) and, one after the other, `order`,
`levels`, `low`, `high` and `roots`.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import Json
from nrm.automata import unpacked
from nrm.errors import FileError, NrmError
from nrm.files import parse_json, read_arrays, read_bytes, write_bytes
from nrm.machines.alphabet import Alphabet
from nrm.machines.moore import MooreMachine
from nrm.machines.task_set import TaskSet

POOL_FORMAT = "nrm-tasks"
_ARRAYS = [
    "about",
    "sizes",
    "initial",
    "classes",
    "letter_class",
    "columns",
    "accepting",
    "outputs",
    "nodes",
    "depths",
    "order",
    "levels",
    "low",
    "high",
    "roots",
]


def save_pool(path: Path | str, pool: TaskSet, origin: Json) -> None:
    """Write a pool, whole or not at all. `origin`: what it was sampled from, as JSON values."""
    write_bytes(path, pool_bytes(pool, origin))


def load_pool(path: Path | str) -> tuple[TaskSet, Json]:
    """The pool of a file, and what it was sampled from; `FileError` where the file is damaged or of another kind."""
    return pool_from_bytes(read_bytes(path), str(path))


def pool_bytes(pool: TaskSet, origin: Json | None = None) -> bytes:
    """What a file of a pool holds."""
    machines = pool.machines
    moves = machines[0].moves.packed([machine.moves for machine in machines[1:]])
    about = {
        "format": POOL_FORMAT,
        "version": 1 if pool.alphabet.is_small else 2,
        "alphabet": {"kind": pool.alphabet.kind, "symbols": list(pool.alphabet.symbols)}
        | ({} if pool.alphabet.occurring is None else {"occurring": list(pool.alphabet.occurring)}),
        "names": list(pool.names),
        "origin": origin or {},
    }
    arrays = {
        "about": np.frombuffer(json.dumps(about).encode("utf-8"), dtype=np.uint8),
        "sizes": np.array([machine.states for machine in machines]),
        "initial": np.array([machine.initial for machine in machines]),
        **moves,
        "accepting": np.concatenate([machine.accepting for machine in machines]),
        "outputs": np.concatenate([machine.outputs for machine in machines]),
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def pool_from_bytes(data: bytes, source: str) -> tuple[TaskSet, Json]:
    """The pool that `pool_bytes` wrote, and what it was sampled from; `source` names it in errors."""
    try:
        arrays = read_arrays(data, source, _ARRAYS)
        about = parse_json(arrays["about"].tobytes(), source)
        if about["format"] != POOL_FORMAT or about["version"] not in (1, 2):
            raise FileError(
                f"{source} has version {about['version']} of the format '{about['format']}'; this library reads "
                f"'{POOL_FORMAT}' up to version 2"
            )
        letters = about["alphabet"]
        occurring = letters.get("occurring")
        alphabet = Alphabet.of_kind(letters["symbols"], letters["kind"], occurring)
        pool = TaskSet(tuple(_machines(alphabet, arrays)), tuple(about["names"]))
        origin: Json = about["origin"]
    except FileError:
        raise
    except NrmError as error:
        raise FileError(f"{source} is damaged: {error}") from None
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise FileError(f"{source} holds no tasks, or is damaged ({type(error).__name__}: {error})") from None
    return pool, origin


def _machines(alphabet: Alphabet, arrays: dict[str, NDArray[Any]]) -> list[MooreMachine]:
    states = np.cumsum(arrays["sizes"].astype(np.int64))
    if int(states[-1]) != len(arrays["outputs"]):
        raise ValueError(f"{len(arrays['outputs'])} outputs for {int(states[-1])} states")
    moves = unpacked(arrays["sizes"].astype(np.int64), arrays, len(alphabet.symbols))
    accepting, outputs = (np.split(arrays[name], states[:-1]) for name in ("accepting", "outputs"))
    return [
        MooreMachine.of_moves(alphabet, own, accepted, paid, int(first))
        for own, accepted, paid, first in zip(moves, accepting, outputs, arrays["initial"], strict=True)
    ]
