"""From the run folders below a folder to one page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from nrm.aliases import Json
from nrm.errors import FileError, LimitError, listing, shorten
from nrm.files import make_folder, write_text
from nrm.groundability import Shortcuts, shortcuts
from nrm.report.curves import curves, summary
from nrm.report.drawing import machine_data
from nrm.report.groups import Group, grouped
from nrm.report.page import page_text
from nrm.report.pictures import Tiles
from nrm.report.recording import record_run
from nrm.report.words import shortcut_words, too_long
from nrm.results import read_records


@dataclass(frozen=True)
class Report:
    """A page about runs, and what its reader should know."""

    folder: Path
    data: Json
    """All that the page shows, as JSON values."""
    runs: int
    recorded: int
    """Runs with an episode to play."""
    unfinished: dict[Path, str]
    problems: dict[Path, str]
    """Folders and files that could not be used, and why."""

    def html(self) -> str:
        """The page: one text that needs nothing else."""
        return page_text(self.data)

    def write(self, out: Path | None = None) -> Path:
        """Write the page, whole or not at all: to `index.html` in the folder unless told otherwise."""
        path = self.folder / "index.html" if out is None else out
        make_folder(path.parent)
        write_text(path, self.html())
        return path


def write_report(folder: Path | str, title: str | None = None, out: Path | None = None) -> Path:
    """Write a page about all runs below a folder; where it was written."""
    return build_report(folder, title).write(out)


def build_report(
    folder: Path | str,
    title: str | None = None,
    *,
    recorded: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Read all runs below a folder, and play episodes with `recorded` runs of each method, task and world.

    `progress` is told how many groups of runs are done, and of how many. What cannot be read is named in the report.
    """
    root = Path(folder)
    records, problems = read_records(root)
    begun = [*_begun(root), *(record.path for record in records if not len(record.returns))]
    unfinished = dict.fromkeys(begun, "begun; no episodes are saved yet")
    records = [record for record in records if len(record.returns)]
    if not records:
        raise FileError(_no_runs(root, problems, unfinished))
    for record in records:
        if not record.done:
            unfinished[record.path] = f"{len(record.returns):,} of {record.config.episodes:,} episodes"
    groups, twice = grouped(records)
    tiles, analyses = Tiles(), _Analyses()
    shown = []
    for number, group in enumerate(groups, 1):
        shown.append(_group_data(group, recorded, analyses, tiles, problems))
        if progress is not None:
            progress(number, len(groups))
    data = {
        "title": title or f"Runs in {'/'.join(root.resolve().parts[-2:])}",
        "folder": str(root),
        "written": datetime.now().astimezone().isoformat(timespec="minutes"),
        "version": version("neural-reward-machines"),
        "tasks": [_task_data(group, analyses.of(group)) for group in _first_of_each_task(groups)],
        "groups": shown,
        "tiles": tiles.images,
        "unfinished": _notes(unfinished, root),
        "problems": _notes({**problems, **twice}, root),
    }
    return Report(
        folder=root,
        data=data,
        runs=sum(len(group.records) for group in groups),
        recorded=sum(len(item["recordings"]) for item in shown),
        unfinished=unfinished,
        problems={**problems, **twice},
    )


class _Analyses:
    """The shortcuts of each task, found once; None where the analysis gave up."""

    def __init__(self) -> None:
        self._found: dict[str, Shortcuts | LimitError] = {}

    def of(self, group: Group) -> Shortcuts | LimitError:
        if group.task not in self._found:
            try:
                self._found[group.task] = shortcuts(group.records[0].config.build_task().machine())
            except LimitError as error:
                self._found[group.task] = error
        return self._found[group.task]


def _first_of_each_task(groups: list[Group]) -> list[Group]:
    first: dict[str, Group] = {}
    for group in groups:
        first.setdefault(group.task, group)
    return list(first.values())


def _task_data(group: Group, found: Shortcuts | LimitError) -> Json:
    task = group.records[0].config.build_task()
    return {
        "name": group.task,
        "formula": shorten(str(task.formula), 2000),
        "symbols": list(task.alphabet.symbols),
        "kind": task.alphabet.kind,
        "reward": task.reward if isinstance(task.reward, str) else "levels of its own",
        "machine": machine_data(task.machine()),
        "words": too_long(found) if isinstance(found, LimitError) else shortcut_words(found),
    }


def _group_data(group: Group, recorded: int, analyses: _Analyses, tiles: Tiles, problems: dict[Path, str]) -> Json:
    recordings: list[Json] = []
    found = analyses.of(group)
    for record in group.counted:
        if len(recordings) == recorded:
            break
        try:
            recordings.append(record_run(record, None if isinstance(found, LimitError) else found, tiles))
        except Exception as error:  # a damaged checkpoint must not cost the rest of the page
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            problems[record.path] = f"no episode was played: {reason}"
    return {
        "world": group.world,
        "task": group.task,
        "method": group.method,
        "variant": group.variant,
        **summary(group),
        "curves": curves(group),
        "recordings": recordings,
    }


def _begun(root: Path) -> list[Path]:
    """Run folders that hold no metrics yet: their run has just begun, or it died before its first checkpoint."""
    folders = [path.parent for path in sorted(root.rglob("versions.json"))]
    return [path for path in folders if (path / "config.json").exists() and not (path / "metrics.csv").exists()]


def _no_runs(root: Path, problems: dict[Path, str], unfinished: dict[Path, str]) -> str:
    if problems:
        path, reason = next(iter(problems.items()))
        return f"no run below {root} can be read; {path}: {reason}" + (
            f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        )
    if unfinished:
        names = listing([str(path) for path in unfinished], 3)
        return f"no run below {root} has saved an episode yet; wait for a checkpoint of {names}"
    return f"there are no runs below {root}; make one with 'nrm train --task 1 --out {root / 'run'}'"


def _notes(notes: dict[Path, str], root: Path) -> list[list[str]]:
    return [[_relative(path, root), reason] for path, reason in sorted(notes.items())]


def _relative(path: Path, root: Path) -> str:
    try:
        return str(path.relative_to(root))
    except ValueError:
        return str(path)
