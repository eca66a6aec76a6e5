"""What is there in place of a run, where a folder is named that holds none."""

from __future__ import annotations

from pathlib import Path

from nrm.errors import listing, suggestion

DEPTH = 2
"""Folders down to a run: a grid keeps its runs in `runs`."""


def no_run(path: Path) -> str:
    """Why `path` is no run, and which run may be meant."""
    if path.is_file():
        near = f"; did you mean '{path.parent}'?" if _is_run(path.parent) else "; name the folder of a run"
        return f"{path} is a file, and a run is a folder{near}"
    if found := runs_below(path):
        names = listing(str(run.relative_to(path)) for run in found)
        kind = "the run" if len(found) == 1 else "the runs"
        return f"{path} is no run itself, but holds {kind} {names}; name one, such as {found[0]}"
    begin = f"begin one with 'nrm train --task 1 --out {path}'"
    if path.exists():
        return f"{path} holds no run (there is no config.json); {begin}"
    beside = [str(run) for run in runs_below(path.parent)]
    near = suggestion(str(path), beside) or (f"; runs there: {listing(beside)}" if beside else f"; {begin}")
    return f"{path} holds no run (there is no such folder){near}"


def runs_below(folder: Path) -> list[Path]:
    """The runs in a folder and in its folders, in the order of their names."""
    found = (path.parent for depth in range(1, DEPTH + 1) for path in folder.glob("*/" * depth + "config.json"))
    return sorted(filter(_is_run, found))


def _is_run(folder: Path) -> bool:
    """Other programs have a config.json too."""
    return (folder / "config.json").is_file() and (folder / "versions.json").is_file()
