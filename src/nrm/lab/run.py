"""Run folders: one run, resumable at any moment, with all that its figures need."""

from __future__ import annotations

import csv
import io
import json
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nrm.agents import Trainer
from nrm.errors import FileError, NrmError, TrainingError
from nrm.files import read_text, write_bytes, write_text
from nrm.lab.config import RunConfig
from nrm.lab.events import EventLog

Column = np.ndarray[Any, np.dtype[np.float64]]

FORMAT = "nrm-checkpoint"
VERSION = 1


class RunFolder:
    """One run: config.json, versions.json, checkpoint.pt, metrics.csv, grounding.csv, cost.json, events/."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    @property
    def exists(self) -> bool:
        """Whether a run has been begun here."""
        return (self.path / "config.json").exists()

    def begin(self, config: RunConfig) -> None:
        """Make the folder for a new run. Anything else that lives there is left alone, and is an error."""
        if self.exists:
            same = self.config() == config
            what = "this very run" if same else "another run"
            raise FileError(
                f"{self.path} holds {what} already; go on with 'nrm train --resume {self.path}', or choose "
                "another --out"
            )
        if self.path.exists() and any(self.path.iterdir()):
            raise FileError(f"{self.path} is not empty and holds no run; choose another --out")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot make the folder {self.path}: {error.strerror}") from None
        versions = {name: version(name) for name in ("neural-reward-machines", "torch", "numpy")}
        versions["python"] = platform.python_version()
        write_text(self.path / "versions.json", json.dumps(versions, indent=2) + "\n")
        write_text(self.path / "config.json", json.dumps(config.to_json(), indent=2) + "\n")

    def config(self) -> RunConfig:
        """What the run is."""
        path = self.path / "config.json"
        if not path.exists():
            raise FileError(
                f"{self.path} holds no run (there is no config.json); begin one with 'nrm train --out {self.path}'"
            )
        try:
            return RunConfig.from_json(json.loads(read_text(path)))
        except json.JSONDecodeError as error:
            raise FileError(f"{path} is not JSON: {error.msg} at line {error.lineno}") from None

    def save(self, trainer: Trainer, cpu_seconds: float | None = None) -> None:
        """Write checkpoint, metrics and cost; each file is the old one or the new one, never half of one."""
        buffer = io.BytesIO()
        torch.save({"format": FORMAT, "version": VERSION, "trainer": trainer.state_dict()}, buffer)
        write_bytes(self.path / "checkpoint.pt", buffer.getvalue())
        history = trainer.history
        rows = zip(history.steps, history.returns, history.lengths, history.successes, strict=True)
        head = ("episode", "steps", "return", "length", "success")
        _write_csv(self.path / "metrics.csv", head, ((n, *row) for n, row in enumerate(rows, 1)))
        if history.accuracy:
            columns = ("episode", "accuracy", "balanced_accuracy", "accuracy_modulo_shortcuts")
            _write_csv(self.path / "grounding.csv", columns, iter(history.accuracy))
        if cpu_seconds is not None:
            write_text(self.path / "cost.json", json.dumps({"cpu_seconds": round(cpu_seconds, 3)}) + "\n")

    def cpu_seconds(self) -> float:
        """What the run has cost so far; 0 at its beginning."""
        path = self.path / "cost.json"
        try:
            return float(json.loads(read_text(path))["cpu_seconds"]) if path.exists() else 0.0
        except (ValueError, KeyError, TypeError):
            raise FileError(f"{path} is damaged; remove it (only the count of seconds is lost)") from None

    def load(self) -> Trainer:
        """The trainer as it was at the last checkpoint, or at the beginning when there is none."""
        config = self.config()
        trainer = new_trainer(config)
        path = self.path / "checkpoint.pt"
        if path.exists():
            state = _checkpoint(path)
            try:
                trainer.load_state_dict(state)
            except (KeyError, TypeError, ValueError, RuntimeError) as error:
                reason = f"{type(error).__name__}: {error}".splitlines()[0]
                raise FileError(f"{path} does not fit this run, or is of another release ({reason})") from None
        return trainer

    def metrics(self) -> dict[str, Column]:
        """The columns of metrics.csv."""
        return _columns(self.path / "metrics.csv")

    def grounding(self) -> dict[str, Column] | None:
        """The columns of grounding.csv; None for methods without a grounder."""
        path = self.path / "grounding.csv"
        return _columns(path) if path.exists() else None


def new_trainer(config: RunConfig) -> Trainer:
    """A run at its beginning."""
    return Trainer(config.build_world(), config.method, config.agent, config.seed)  # type: ignore[arg-type]


def train(
    folder: RunFolder,
    trainer: Trainer,
    every: int = 1000,
    progress: Callable[[Trainer], None] | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> bool:
    """Train with a checkpoint every so many episodes, to the end or until `interrupted`; whether it is the end.

    Between updates everything is consistent, so a run that is stopped or killed and resumed ends with exactly the
    metrics of an uninterrupted one. An error leaves the last checkpoint as it was.
    """
    saved = len(trainer.history.returns)
    earlier, began = folder.cpu_seconds(), time.process_time()
    events = EventLog(folder.path, trainer)
    try:
        while not trainer.done and not interrupted():
            try:
                trainer.update()
            except TrainingError as error:
                raise TrainingError(f"{error}. {_kept(folder, saved)}") from None
            events.update(trainer)
            if progress is not None:
                progress(trainer)
            if len(trainer.history.returns) - saved >= every:
                folder.save(trainer, earlier + time.process_time() - began)
                saved = len(trainer.history.returns)
    finally:
        events.close()
    folder.save(trainer, earlier + time.process_time() - began)
    return trainer.done


def _kept(folder: RunFolder, episodes: int) -> str:
    if not (folder.path / "checkpoint.pt").exists():
        return f"There is no checkpoint yet in {folder.path}"
    return f"The checkpoint of episode {episodes} is kept in {folder.path}"


def _checkpoint(path: Path) -> dict[str, Any]:
    try:
        data = torch.load(path, weights_only=True)
    except Exception as error:
        raise FileError(f"{path} is not a checkpoint, or it is damaged ({type(error).__name__})") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise FileError(f"{path} is no checkpoint of this program")
    if data.get("version") != VERSION:
        raise FileError(f"{path} is of version {data.get('version')}; this release reads version {VERSION}")
    state = data["trainer"]
    if not isinstance(state, dict):
        raise NrmError(f"{path} is malformed")
    return state


def _columns(path: Path) -> dict[str, Column]:
    rows = list(csv.reader(read_text(path).splitlines()))
    if not rows:
        raise FileError(f"{path} is empty")
    values = np.array(rows[1:], dtype=np.float64).reshape(-1, len(rows[0]))
    return {name: values[:, place] for place, name in enumerate(rows[0])}


def _write_csv(path: Path, head: tuple[str, ...], rows: Any) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    for row in rows:
        writer.writerow([int(value) if isinstance(value, bool) else value for value in row])
    write_text(path, text.getvalue())
