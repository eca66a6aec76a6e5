"""Run folders that travel as bytes."""

from __future__ import annotations

from pathlib import Path

from nrm.errors import FileError
from nrm.files import write_bytes
from nrm.runs.folder import whole_folder

CELL_FILE = "cell.json"
"""Beside a run's own files: which variant a cell belongs to, and whether it is done."""
Files = dict[str, bytes]
"""The files of a run folder, by their paths in it."""


def pack(path: Path) -> Files:
    """The files of a run folder; nothing where there is no folder."""
    try:
        found = [file for file in path.rglob("*") if file.is_file() and not file.name.startswith(".")]
        return {str(file.relative_to(path)): file.read_bytes() for file in found}
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from None


def unpack(files: Files, path: Path) -> None:
    """Write the files of a run folder, each whole, the mark of being done last."""
    if not files:
        return
    if path.exists() and any(path.iterdir()):
        _write(files, path)
        return
    with whole_folder(path) as new:
        _write(files, new)


def _write(files: Files, path: Path) -> None:
    for name in sorted(files, key=lambda name: name == CELL_FILE):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path / name, files[name])
