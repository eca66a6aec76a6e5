"""From the run folders below a folder to one page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path

from nrm.aliases import Json
from nrm.errors import FileError, LimitError, listing, shorten
from nrm.logic import named_formula
from nrm.machines import Task
from nrm.report.curves import curves, summary
from nrm.report.drawing import Tiles, machine_data
from nrm.report.learned import learned_data, shortcut_words, too_long, unbelieved_words, unread_words
from nrm.report.page import Page
from nrm.report.recording import NoPictureError, load_agent, record_task
from nrm.report.trials import Trials, first_line
from nrm.results import Group, Record, group_runs, method_named, method_order, read_records, without_memory
from nrm.shortcuts import Shortcuts, shortcuts

Analysis = Shortcuts | LimitError
"""The shortcuts of a task, or why the analysis gave up."""
Progress = Callable[[str, int, int], None]
"""Is told the name of a stage, how much of it is done, and of how much."""
DASH = 2
"""Pixels of a line's width, in which the lengths of its dashes are given."""
FORMULAS = 24
"""Formulas of a family that agents of many tasks are tried on."""


def write_report(folder: Path | str, title: str | None = None, out: Path | None = None) -> Path:
    """Write a page about all runs below a folder; where it was written."""
    return build_report(folder, title).write(out)


def build_report(
    folder: Path | str,
    title: str | None = None,
    *,
    recorded: int = 1,
    formulas: int = FORMULAS,
    tasks: Sequence[str] = (),
    progress: Progress | None = None,
) -> Page:
    """Read all runs below a folder, and play episodes with `recorded` runs of each method, task and environment.

    Agents of many tasks are tried on `formulas` tasks of their family that they were not trained on, and on `tasks`,
    which are formulas of the reader's. `progress` is told how far each stage of the work is. What cannot be read is
    named on the page.
    """
    root = Path(folder)
    told = partial(partial, progress or (lambda *_: None))
    records, problems = read_records(root, told("reading runs"))
    begun = [*_begun(root), *(record.path for record in records if not len(record.returns))]
    unfinished = dict.fromkeys(begun, "begun; no episodes are saved yet")
    records = [record for record in records if len(record.returns)]
    if not records:
        raise FileError(_no_runs(root, problems, unfinished))
    for record in records:
        if not record.done:
            unfinished[record.path] = f"{record.reached:,} of {record.config.amount:,} {record.config.unit}"
    found, copies = group_runs(records)
    # What is most to look at comes first: agents of many tasks.
    groups = sorted(found, key=lambda group: not group.many)
    problems |= copies
    tiles = Tiles()
    tried = Trials(groups, tiles, problems)
    tried.run(recorded, formulas, tasks, told("trying formulas"))
    drawn = told("groups of runs")
    drawn(0, len(groups))
    one_task = {group.task: group.records[0].task for group in groups}
    analyses = {name: _analysis(task) for name, task in one_task.items() if task is not None}
    shown = []
    for number, group in enumerate(groups):
        data = _group_data(group)
        data |= tried.of(number) if group.many else _recorded(group, recorded, analyses[group.task], tiles, problems)
        shown.append(data)
        drawn(number + 1, len(groups))
    data = {
        "title": title or f"Runs in {'/'.join(root.resolve().parts[-2:])}",
        "folder": str(root),
        "written": datetime.now().astimezone().isoformat(timespec="minutes"),
        "version": version("neural-reward-machines"),
        "methods": [_method_data(name) for name in sorted({group.method for group in groups}, key=method_order)],
        "tasks": [
            {"name": name} if task is None else _task_data(name, task, analyses[name])
            for name, task in one_task.items()
        ],
        "groups": shown,
        "trials": tried.data,
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
        "unread": unread_words(method),
        "unbelieved": unbelieved_words(method),
    }


def _task_data(name: str, task: Task, found: Analysis) -> Json:
    return {
        "name": name,
        "formula": shorten(named_formula(str(task.formula), task.logic), 2000),
        "machine": machine_data(task.machine()),
        "words": too_long(found) if isinstance(found, LimitError) else shortcut_words(found),
    }


def _group_data(group: Group) -> Json:
    # Numbers are about the finished runs, or about all while none is finished.
    counted = group.finished or group.records
    return {
        "env": group.env,
        "task": group.task,
        "many": group.many,
        "method": group.method,
        "variant": group.variant,
        "seeds": [record.seed for record in group.records],
        "finished": len(group.finished),
        **summary(counted),
        "curves": curves(counted),
        "without_memory": _without_memory(counted[0]),
        "learned": learned_data(counted[0]),
    }


def _without_memory(record: Record) -> Json | None:
    """What the best policies without memory earn; None where nobody can compute it."""
    found = without_memory(record)
    return None if found is None else {name: round(value, 1) for name, value in found._asdict().items()}


def _recorded(group: Group, recorded: int, found: Analysis, tiles: Tiles, problems: dict[Path, str]) -> Json:
    """Episodes of some runs on one task."""
    recordings: list[Json] = []
    known = None if isinstance(found, LimitError) else found
    for record in group.finished or group.records:
        if len(recordings) == recorded:
            break
        try:
            assert record.task is not None
            played = record_task(record.config, load_agent(record), record.task.machine(), tiles, known)
            recordings.append({"seed": record.seed, **played})
        except NoPictureError:
            break
        except Exception as error:  # a damaged checkpoint must not cost the rest of the page
            problems.setdefault(record.path, f"no episode was played: {first_line(error)}")
    return {"recordings": recordings}


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
