"""What finished and unfinished runs left behind, as values for statistics, figures and reports."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nrm.errors import FileError
from nrm.files import read_text
from nrm.runs.config import RunConfig
from nrm.runs.folder import Column, RunFolder


@dataclass(frozen=True)
class Record:
    """One run as its folder tells it."""

    path: Path
    config: RunConfig
    variant: str
    """The name of the configuration change that the run belongs to; empty for the preset as it is."""
    metrics: dict[str, Column]
    """Columns of metrics.csv, one entry per episode: episode, steps, return, length, success."""
    grounding: dict[str, Column] | None
    """Columns of grounding.csv: episode, accuracy, balanced_accuracy, accuracy_modulo_shortcuts."""
    cpu_seconds: float | None
    """What the run has cost so far, over all its resumptions."""

    @cached_property
    def task(self) -> str:
        """The task's name."""
        task = self.config.build_task()
        return task.name or task.formula.brief()

    @property
    def world(self) -> str:
        """The world's name: what the agent sees, and how items are laid out unless they are fixed."""
        return self.config.world_title

    @property
    def method(self) -> str:
        """rm, nrm or rnn."""
        return self.config.method

    @property
    def seed(self) -> int:
        """The run's seed."""
        return self.config.seed

    @property
    def returns(self) -> Column:
        """(episodes,) the return of each episode."""
        return self.metrics["return"]

    @property
    def done(self) -> bool:
        """Whether all episodes are there."""
        return len(self.returns) >= self.config.episodes

    def last_return(self, last: int = 100) -> float:
        """The mean return of the last episodes."""
        return float(self.returns[-last:].mean())


def read_record(path: Path) -> Record:
    """The run in a folder. It must have a checkpoint's metrics."""
    folder = RunFolder(path)
    config = folder.config()
    cell, cost = _json(path / "cell.json"), _json(path / "cost.json")
    return Record(
        path=path,
        config=config,
        variant=str(cell.get("variant", "")),
        metrics=folder.metrics(),
        grounding=folder.grounding(),
        cpu_seconds=cost.get("cpu_seconds"),
    )


def read_records(folder: Path | str) -> tuple[list[Record], dict[Path, str]]:
    """All runs below a folder that have metrics, in the order of their paths, and what is wrong with the others."""
    root = Path(folder)
    if not root.is_dir():
        what = f"{root} is a file" if root.exists() else f"there is no folder {root}"
        raise FileError(f"{what}; give the folder that holds the runs")
    records: list[Record] = []
    broken: dict[Path, str] = {}
    for config in sorted(root.rglob("config.json")):
        path = config.parent
        if not (path / "metrics.csv").exists():
            continue
        try:
            records.append(read_record(path))
        except Exception as error:
            broken[path] = str(error) or type(error).__name__
    return records, broken


def _json(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    data = json.loads(read_text(path))
    return data if isinstance(data, dict) else {}
