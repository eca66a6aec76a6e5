"""Machines in files: the ending of the name says in which format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict, TypeVar

from nrm.errors import FileError, LimitError, MachineError, MissingExtraError, NrmError, listing, unknown
from nrm.files import read_json, read_text, write_text
from nrm.machines.alphabet import Alphabet
from nrm.machines.formats.dot import from_dot, to_dot
from nrm.machines.formats.hoa import from_hoa, infinite_from_hoa, to_hoa
from nrm.machines.formats.json import machine_from_dict, machine_json
from nrm.machines.formats.reward_machine_file import parse_reward_machine, to_reward_file
from nrm.machines.formats.task_file import task_from_toml
from nrm.machines.infinite import InfiniteMachine
from nrm.machines.moore import MooreMachine
from nrm.machines.reward_machine import FallOff, Outputs, Overlap, RewardMachine, StateName
from nrm.machines.task import MachineLike, Task, as_machine

if TYPE_CHECKING:
    from typing_extensions import Unpack

Value = TypeVar("Value")

Format: TypeAlias = Literal["json", "dot", "hoa", "rm", "toml"]
FORMATS: Mapping[str, Format] = {"json": "json", "dot": "dot", "gv": "dot", "hoa": "hoa", "txt": "rm", "toml": "toml"}
"""The format of each ending: rm is the reward machine text file, toml a task file."""


class ReadingOptions(TypedDict, total=False):
    """How a reward machine file is read; see `parse_reward_machine`."""

    symbols: Alphabet | Iterable[str] | None
    propositions: Iterable[str] | None
    fall_off: FallOff | None
    overlap: Overlap | None
    accepting: Iterable[StateName] | None
    rename: Mapping[str, str] | None


def load_machine(
    path: Path | str,
    format: Format | None = None,  # noqa: A002 - reads as load_machine(path, format="rm")
    *,
    outputs: Outputs | None = None,
    **options: Unpack[ReadingOptions],
) -> MooreMachine:
    """Read a machine file.

    Formats: `.json`, `.dot` and `.hoa` as `save_machine` writes them; `.txt`, the reward machine files of the original
    code; `.toml`, a task, which is compiled. The options `symbols`, `propositions`, `fall_off`, `overlap`, `accepting`,
    `rename` and `outputs` are for `.txt` files: see `parse_reward_machine` and `RewardMachine.to_moore`.
    """
    chosen = _format(path, format)
    if chosen == "rm":
        machine = load_reward_machine(path, **options)
        return _placed(path, lambda: machine.to_moore(outputs or "levels"))
    for name, value in {**options, "outputs": outputs}.items():
        if value is not None:
            raise MachineError(f"{path}: '{name}' is for reward machine files (.txt); a {chosen} file says it itself")
    if chosen == "json":
        data = read_json(path)
        return _placed(path, lambda: machine_from_dict(data))
    text = read_text(path)
    if chosen == "toml":
        return task_from_toml(text, str(path)).machine()
    return _placed(path, lambda: from_dot(text) if chosen == "dot" else from_hoa(text))


def is_machine_file(text: str) -> bool:
    """Whether a text names a machine file by its ending; a task file is none."""
    ending = Path(text.strip()).suffix.lstrip(".").lower()
    return ending in FORMATS and FORMATS[ending] != "toml"


def task_of_machine_file(path: Path | str, alphabet: Alphabet | None = None) -> Task:
    """The task of a machine file; `alphabet`: what a reward machine text file, which names no symbols, is over."""
    options: ReadingOptions = {} if alphabet is None or _format(path, None) != "rm" else {"symbols": alphabet}
    return Task.from_machine(load_machine(path, **options), Path(path).name)


def load_infinite(path: Path | str) -> InfiniteMachine:
    """Read the machine of an infinite task from a HOA file, with acceptance on states or on edges."""
    return _placed(path, lambda: infinite_from_hoa(read_text(path)))


def load_reward_machine(path: Path | str, **options: Unpack[ReadingOptions]) -> RewardMachine:
    """Read a reward machine file of the original code as it is, with rewards on edges; see `parse_reward_machine`."""
    text = read_text(path)
    return _placed(path, lambda: parse_reward_machine(text, **options))


def save_machine(machine: MachineLike, path: Path | str, format: Format | None = None) -> None:  # noqa: A002
    """Write a machine, or that of a task, atomically. The ending chooses the format; JSON without one."""
    write_text(path, machine_text(as_machine(machine), _format(path, format)))


def machine_text(machine: MooreMachine, form: Format, title: str = "") -> str:
    """The text of a machine in a format."""
    if machine.alphabet.occurring is not None and form in ("hoa", "rm"):
        raise FileError(f"the format {form} cannot say which sets of propositions occur; write .json or .dot")
    if form not in _WRITERS:
        raise FileError("a task file holds a formula, not a machine; write .json, .dot, .hoa or .txt")
    return _WRITERS[form](machine, title)


_WRITERS: Mapping[str, Callable[[MooreMachine, str], str]] = {
    "json": lambda machine, _: machine_json(machine),
    "dot": to_dot,
    "hoa": to_hoa,
    "rm": lambda machine, _: to_reward_file(machine),
}


def _format(path: Path | str, chosen: Format | None) -> Format:
    if chosen is not None:
        if chosen not in FORMATS.values():
            raise FileError(unknown("format", chosen, dict.fromkeys(FORMATS.values())))
        return chosen
    ending = Path(path).suffix.lstrip(".").lower()
    if ending and ending not in FORMATS:
        raise FileError(f"the ending of '{path}' says no format; use one of {listing(FORMATS)}, or give format=…")
    return FORMATS.get(ending, "json")


def _placed(path: Path | str, read: Callable[[], Value]) -> Value:
    """Read, and name the file in errors."""
    try:
        return read()
    except MissingExtraError:
        raise
    except LimitError as error:
        raise LimitError(f"{path}: {error}") from None
    except NrmError as error:
        raise MachineError(f"{path}: {error}") from None
