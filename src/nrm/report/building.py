"""From the run folders below a folder to one page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np

from nrm.aliases import FloatArray, Json
from nrm.errors import FileError, LimitError, escaped, listing, shorten, shown
from nrm.logic import named_formula
from nrm.machines import Task
from nrm.registry import received
from nrm.report.drawing import Tiles, machine_data
from nrm.report.learned import learned_data
from nrm.report.page import Page
from nrm.report.recording import load_agents, noted, record_tasks
from nrm.report.trials import try_agents
from nrm.report.words import shortcut_words, too_long
from nrm.results import (
    Group,
    Record,
    group_runs,
    method_named,
    method_order,
    read_records,
    scores_of,
)
from nrm.shortcuts import Shortcuts, shortcuts

Analysis = Shortcuts | LimitError
"""The shortcuts of a task, or why the analysis gave up."""
Progress = Callable[[str, int, int], None]
"""Takes the name of a stage, how much of it is done, and of how much."""


def write_report(folder: Path | str, title: str | None = None, out: Path | None = None) -> Path:
    """Write an HTML report on all runs below a folder; returns its path."""
    return build_report(folder, title).write(out)


def build_report(
    folder: Path | str,
    title: str | None = None,
    *,
    recorded: int = 1,
    formulas: int = 24,
    tasks: Sequence[str] = (),
    progress: Progress | None = None,
    trust: bool = False,
) -> Page:
    """Read all runs below a folder, and play episodes with `recorded` runs of each method, task and environment.

    Agents of many tasks are tried on `formulas` tasks of their family that they were not trained on, and on `tasks`,
    which are formulas of the reader's. `progress` hears how far each stage of the work is. What cannot be read is
    named on the page. `trust`: import the modules that runs name (module:name).
    """
    with received(trust):
        return _built(folder, title, recorded, formulas, tasks, progress)


def _built(
    folder: Path | str,
    title: str | None,
    recorded: int,
    formulas: int,
    tasks: Sequence[str],
    progress: Progress | None,
) -> Page:
    root = Path(folder)
    stage = partial(partial, progress or (lambda *_: None))
    records, problems = read_records(root, stage("reading runs"))
    begun = [*_begun(root), *(record.path for record in records if not len(record.returns))]
    unfinished = dict.fromkeys(begun, "metrics.csv is missing or has no episodes; train on, or copy it with the agent")
    records = [record for record in records if len(record.returns)]
    if not records:
        raise FileError(_no_runs(root, problems, unfinished))
    for record in records:
        if not record.done:
            unfinished[record.path] = f"{record.reached:,} of {record.config.amount:,} {record.config.unit}"
    kinds, copies = group_runs(records)
    # What is most to look at comes first: agents of many tasks.
    groups = sorted(kinds, key=lambda group: group.only is not None)
    problems |= copies
    tiles = Tiles()
    tried = try_agents(groups, tiles, problems, recorded, formulas, tasks, stage("trying formulas"))
    drawn = stage("groups of runs")
    drawn(0, len(groups))
    one_task = {group.task: group.only for group in groups}
    analyses = {name: _analysis(task) for name, task in one_task.items() if task is not None}
    shown = []
    for number, group in enumerate(groups):
        first = group.records[0]
        data = {"trial": None, "tried": None, "recordings": [], "learned": None, **tried.groups.get(number, {})}
        with noted(first, problems):
            if (task := group.only) is not None:
                agents, found = load_agents(group, recorded, problems), analyses[group.task]
                known = found if isinstance(found, Shortcuts) else None
                data["recordings"] = record_tasks(agents, {0: task.acting()}, tiles, problems, known)
        with noted(first, problems, "what it learned is not shown"):
            data["learned"] = learned_data((group.finished or group.records)[0])
        with noted(first, problems, "it is not shown"):
            shown.append({**_group_data(group), **data})
        drawn(number + 1, len(groups))
    data = {
        "title": title or f"Runs in {'/'.join(root.resolve().parts[-2:])}",
        "folder": str(root),
        "written": datetime.now().astimezone().isoformat(timespec="minutes"),
        "version": version("neural-reward-machines"),
        "methods": [method_data(name) for name in sorted({group.method for group in groups}, key=method_order)],
        "tasks": [
            {"name": name} if task is None else _task_data(name, task, analyses[name])
            for name, task in one_task.items()
        ],
        "groups": shown,
        "trials": tried.trials,
        "tiles": list(tiles.images),
        "unfinished": _notes(unfinished, root),
        "problems": _notes(problems, root),
    }
    return Page(root, data, sum(len(group.records) for group in groups), unfinished, problems)


def _analysis(task: Task) -> Analysis:
    try:
        return shortcuts(task.acting())
    except LimitError as error:
        return error


def method_data(name: str) -> Json:
    """What to say of a method: `unread` and `unbelieved` are why it shows no symbols, and no belief over states."""
    method = method_named(name)
    own = "tracks the state of its own learned machine"
    return {
        "name": name,
        "label": method.label,
        "knows": method.knows,
        "colour": f"light-dark({method.colour}, {method.dark})",
        "dash": " ".join(f"{2 * length:g}" for length in method.dash),  # lines are 2 pixels wide
        "grounds": method.grounds,
        "unread": "learns symbols without names" if method.unknown == "both" else method.knows,
        "unbelieved": own if method.unknown in ("machine", "both") else method.knows,
    }


def _task_data(name: str, task: Task, found: Analysis) -> Json:
    return {
        "name": name,
        "formula": shorten(named_formula(str(task.formula), task.logic), 2000),
        "machine": machine_data(task.acting()),
        "words": too_long(found) if isinstance(found, LimitError) else shortcut_words(found),
    }


def _group_data(group: Group) -> Json:
    # Numbers are about the finished runs, or about all while none is finished.
    counted = group.finished or group.records
    return {
        "env": group.env,
        "task": group.task,
        "many": group.only is None,
        "method": group.method,
        "variant": group.variant,
        "seeds": [record.seed for record in group.records],
        "finished": len(group.finished),
        **_summary(counted),
        "curves": curves(counted),
    }


def _begun(root: Path) -> list[Path]:
    """Run folders that hold no metrics yet: their run has just begun, or it died before its first checkpoint."""
    folders = [path.parent for path in sorted(root.rglob("versions.json"))]
    return [path for path in folders if (path / "config.json").exists() and not (path / "metrics.csv").exists()]


def _no_runs(root: Path, problems: dict[Path, str], unfinished: dict[Path, str]) -> str:
    if not problems and not unfinished:
        why = "a run has config.json, versions.json and metrics.csv"
        return f"there are no runs below {root} ({why}); train one with 'nrm train --task 1 --out {root / 'run'}'"
    reasons = [f"{path}: {reason}" for path, reason in {**problems, **unfinished}.items()]
    return f"no run below {root} can be shown; {listing(reasons, 1)}"


def _notes(notes: dict[Path, str], root: Path) -> list[list[str]]:
    return [[escaped(str(path.relative_to(root))), shown(reason)] for path, reason in sorted(notes.items())]


def _summary(runs: Sequence[Record]) -> Json:
    """What some runs reached: [mean, standard deviation] of each score, None where it is unknown."""
    scores = {name: round(value, 4) for name, value in scores_of(runs).items()}
    columns = {"area": "area", "plain": "accuracy", "modulo": "accuracy_modulo_shortcuts", "cpu": "cpu_seconds"}
    return {
        "counted": len(runs),
        "episodes": max(len(record.returns) for record in runs),
        "success": scores["success"],
        "right_from": [record.right_from for record in runs],
        "last": [scores["last_mean"], scores["last_deviation"]],
        "iqm": [scores[name] for name in ("iqm", "iqm_low", "iqm_high")],
        **{
            name: [scores[column], scores[f"{column}_deviation"]] if column in scores else None
            for name, column in columns.items()
        },
    }


def curves(runs: Sequence[Record]) -> Json:
    """Each run in at most 200 bins, so that a long run keeps its shape: means over every `size` episodes, or steps.

    Over steps where a run counts these, or where it had many tasks, whose episodes differ in length.
    """
    unit = "steps" if any("steps" in (record.config.unit, record.about.axis) for record in runs) else "episodes"
    reached = max(_places(record, unit)[-1] for record in runs)
    amount = max(record.config.amount if record.config.unit == unit else reached for record in runs)
    size = max(1, math.ceil(amount / 200))
    return {"unit": unit, "size": size, "length": int(reached), "runs": [_run(record, unit, size) for record in runs]}


def _places(record: Record, unit: str) -> FloatArray:
    """(episodes,) how many episodes, or steps, were done when each episode was."""
    return record.metrics["steps" if unit == "steps" else "episode"]


def _run(record: Record, unit: str, size: int) -> Json:
    shown: Json = {"seed": record.seed, "done": record.done}
    # An episode counts where it ended; with 8 episodes in bins of 5, the bins end at 5 and at 10.
    bins = ((_places(record, unit) - 1) // size).astype(np.int64)
    counts = np.bincount(bins)
    for name, decimals in (("return", 1), ("success", 3), ("length", 1)):
        with np.errstate(invalid="ignore"):
            shown[name] = _rounded(np.bincount(bins, record.metrics[name]) / counts, decimals)
    if record.grounding is not None and len(record.grounding["episode"]):
        for name, column in (("plain", "accuracy"), ("modulo", "accuracy_modulo_shortcuts")):
            values = record.accuracy_at(column, counts.cumsum())
            if np.isfinite(values).any():
                shown[name] = _rounded(values, 4)
    return shown


def _rounded(values: FloatArray, decimals: int) -> list[float | None]:
    """Numbers for JSON, which has no NaN."""
    return [round(value, decimals) if math.isfinite(value) else None for value in values.tolist()]
