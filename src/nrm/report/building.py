"""From the run folders below a folder to one page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from importlib.metadata import version
from itertools import islice
from pathlib import Path

from nrm.aliases import Json
from nrm.errors import FileError, LimitError, listing, shorten
from nrm.groundability import Shortcuts, breaking_potential, shortcuts
from nrm.groundability.formatting import confusions, findings, remedies
from nrm.machines import Task
from nrm.report.curves import curves, summary
from nrm.report.drawing import machine_data
from nrm.report.filming import NoPictureError
from nrm.report.learned import learned_data
from nrm.report.page import Page
from nrm.report.pictures import Tiles
from nrm.report.recording import record_run
from nrm.results import Group, group_runs, method_named, method_order, read_records

Analysis = Shortcuts | LimitError
"""The shortcuts of a task, or why the analysis gave up."""
MOST_SYMBOLS = 40
"""Symbols that get a row of their own."""
DASH = 2
"""Pixels of a line's width, in which the lengths of its dashes are given."""


def write_report(folder: Path | str, title: str | None = None, out: Path | None = None) -> Path:
    """Write a page about all runs below a folder; where it was written."""
    return build_report(folder, title).write(out)


def build_report(
    folder: Path | str,
    title: str | None = None,
    *,
    recorded: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Page:
    """Read all runs below a folder, and play episodes with `recorded` runs of each method, task and world.

    `progress` is told how many groups of runs are done, and of how many. What cannot be read is named on the page.
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
    groups, copies = group_runs(records)
    problems |= copies
    tasks = {group.task: group.records[0].task for group in groups}
    analyses = {name: _analysis(task) for name, task in tasks.items()}
    tiles = Tiles()
    shown = []
    for number, group in enumerate(groups, 1):
        shown.append(_group_data(group, recorded, analyses[group.task], tiles, problems))
        if progress is not None:
            progress(number, len(groups))
    data = {
        "title": title or f"Runs in {'/'.join(root.resolve().parts[-2:])}",
        "folder": str(root),
        "written": datetime.now().astimezone().isoformat(timespec="minutes"),
        "version": version("neural-reward-machines"),
        "methods": [_method_data(name) for name in sorted({group.method for group in groups}, key=method_order)],
        "tasks": [_task_data(name, task, analyses[name]) for name, task in tasks.items()],
        "groups": shown,
        "tiles": list(tiles.images),
        "unfinished": _notes(unfinished, root),
        "problems": _notes(problems, root),
    }
    return Page(root, data, sum(len(group.records) for group in groups), unfinished, problems)


def _analysis(task: Task) -> Analysis:
    try:
        return shortcuts(task.machine())
    except LimitError as error:
        return error


def _method_data(name: str) -> Json:
    method = method_named(name)
    return {
        "name": name,
        "label": method.label,
        "knows": method.knows,
        "colour": f"light-dark({method.colour}, {method.dark})",
        "dash": " ".join(f"{DASH * length:g}" for length in method.dash),
        "grounds": method.grounds,
    }


def _task_data(name: str, task: Task, found: Analysis) -> Json:
    return {
        "name": name,
        "formula": shorten(str(task.formula), 2000),
        "machine": machine_data(task.machine()),
        "words": too_long(found) if isinstance(found, LimitError) else shortcut_words(found),
    }


def shortcut_words(found: Shortcuts) -> Json:
    """Sentences about the task, a row for each symbol, and what to do about what rewards cannot teach."""
    try:
        return {
            "sentences": findings(found),
            "symbols": [
                {"name": verdict.symbol, "teachable": verdict.groundable, "confusable": confusions(verdict)}
                for verdict in islice(found.verdicts, MOST_SYMBOLS)
            ],
            "hidden": max(0, len(found.alphabet.symbols) - MOST_SYMBOLS),
            "repair": remedies(found, breaking_potential(found) if found.symmetries > 1 else None),
        }
    except LimitError as error:
        return too_long(error)


def too_long(error: LimitError) -> Json:
    """The same where the analysis gave up."""
    return {"sentences": [f"The analysis gave up: {error}."], "symbols": [], "hidden": 0, "repair": []}


def _group_data(group: Group, recorded: int, found: Analysis, tiles: Tiles, problems: dict[Path, str]) -> Json:
    # Numbers are about the finished runs, or about all while none is finished.
    counted = group.finished or group.records
    recordings: list[Json] = []
    for record in counted:
        if len(recordings) == recorded:
            break
        try:
            recordings.append(record_run(record, None if isinstance(found, LimitError) else found, tiles))
        except NoPictureError:
            break
        except Exception as error:  # a damaged checkpoint must not cost the rest of the page
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            problems.setdefault(record.path, f"no episode was played: {reason}")
    return {
        "world": group.world,
        "task": group.task,
        "method": group.method,
        "variant": group.variant,
        "seeds": [record.seed for record in group.records],
        "finished": len(group.finished),
        **summary(counted),
        "curves": curves(counted),
        "recordings": recordings,
        "learned": learned_data(counted[0]),
    }


def _begun(root: Path) -> list[Path]:
    """Run folders that hold no metrics yet: their run has just begun, or it died before its first checkpoint."""
    folders = [path.parent for path in sorted(root.rglob("versions.json"))]
    return [path for path in folders if (path / "config.json").exists() and not (path / "metrics.csv").exists()]


def _no_runs(root: Path, problems: dict[Path, str], unfinished: dict[Path, str]) -> str:
    if problems:
        path, reason = next(iter(problems.items()))
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return f"no run below {root} can be read; {path}: {reason}{more}"
    if unfinished:
        names = listing([str(path) for path in unfinished], 3)
        return f"no run below {root} has saved an episode yet; wait for a checkpoint of {names}"
    return f"there are no runs below {root}; make one with 'nrm train --task 1 --out {root / 'run'}'"


def _notes(notes: dict[Path, str], root: Path) -> list[list[str]]:
    return [[str(path.relative_to(root)), reason] for path, reason in sorted(notes.items())]
