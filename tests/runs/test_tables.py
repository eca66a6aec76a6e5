"""Histories on file: a save costs what is new, and a kill at any moment of it loses nothing."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from nrm.agents import Decided, History, Trainer
from nrm.errors import FileError
from nrm.files import append_text, csv_text
from nrm.runs import RunFolder, choose_run, train
from nrm.runs import checkpoint as saving
from nrm.runs.checkpoint import GROUNDING, METRICS, TABLES, Tables, read_columns, read_history

torch.set_num_threads(1)
SETTINGS = {"grounding": {"every": 20, "epochs": 5, "restarts": 1}}
CONFIG = choose_run("1", "map", "nrm", 3, total_episodes=80, num_envs=4, settings=SETTINGS)
HISTORY = History(
    [0.1 + 0.2, -100.0, 1e-17],
    [3, 26, 1],
    [True, False, True],
    [48, 2**40, 2**40 + 16],
    [(0, 0.25, 1 / 3, float("nan")), (3, 1.0, 1.0, 1.0)],
    [Decided(2, 0.7, 0.0, None, "waits", 'too few, "yet"\nsoon'), Decided(3, 0.7, 0.5, 0.1, "learns", "über 5 %")],
)


def begun(path: Path) -> RunFolder:
    folder = RunFolder(path)
    folder.begin(CONFIG)
    return folder


def until(trainer: Trainer, episodes: int) -> Trainer:
    while len(trainer.history.returns) < episodes:
        trainer.update()
    return trainer


def written(folder: RunFolder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.path.glob("*.csv")}


def test_a_history_is_read_as_it_was_written(tmp_path: Path) -> None:
    files = Tables(tmp_path, History())
    assert files.written() == {"metrics.csv": [0, ",".join(METRICS) + "\n"]}
    files.append()
    files.history = HISTORY
    before = files.written()
    assert before["metrics.csv"] == [
        36,
        "1,48,0.30000000000000004,3,1\n2,1099511627776,-100.0,26,0\n3,1099511627792,1e-17,1,1\n",
    ]
    for after in (False, True):  # the rows are in the checkpoint, or on file already
        if after:
            files.append()
        found = read_history(tmp_path, before)
        assert repr(found) == repr(HISTORY)  # NaN equals nothing
    assert {path.name for path in tmp_path.iterdir()} == set(TABLES)


def test_tables_grow_as_if_they_were_written_at_once(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run")
    trainer = folder.load()
    for episodes in (0, 0, 1, 30, 60, 80):
        folder.save(until(trainer, episodes))
    found = trainer.history
    rows = zip(range(1, 81), found.steps, found.returns, found.lengths, map(int, found.successes), strict=True)
    assert written(folder) == {
        "metrics.csv": csv_text(METRICS, rows).encode(),
        "grounding.csv": csv_text(GROUNDING, found.accuracy).encode(),
        "decisions.csv": csv_text(Decided._fields, found.decisions).encode(),
    }
    assert len(found.accuracy) > 1


def test_a_save_costs_the_same_however_long_the_run_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    appended: list[int] = []

    def noted(path: Path, size: int, text: str) -> int:
        appended.append(len(text))
        return append_text(path, size, text)

    monkeypatch.setattr(saving, "append_text", noted)
    folder = RunFolder(tmp_path / "run")
    folder.begin(replace(CONFIG, total_episodes=10**6))
    trainer = until(folder.load(), 20)
    sizes = []
    for copies in (1, 1000):
        history = trainer.history
        for column in (history.returns, history.lengths, history.successes, history.steps):
            column *= copies
        folder.save(trainer)
        appended.clear()
        until(trainer, len(history.returns) + 1)
        folder.save(trainer)
        assert sum(appended) < 2000
        sizes.append((folder.path / "checkpoint.pt").stat().st_size)
    assert sizes[1] < sizes[0] + 3000
    assert len(folder.metrics()["return"]) == len(trainer.history.returns) > 20_000


def test_a_kill_at_any_moment_of_a_save_loses_nothing(tmp_path: Path) -> None:
    whole = begun(tmp_path / "whole")
    assert train(whole, whole.load())
    first, second = begun(tmp_path / "first"), RunFolder(tmp_path / "second")
    trainer = until(first.load(), 30)
    first.save(trainer)
    shutil.copytree(first.path, second.path)
    first.save(until(trainer, 60))
    before, after = written(second), written(first)
    middle = {name: text[: (len(before[name]) + len(text) + 3) // 2] for name, text in after.items()}
    torn = {name: text + b"12,3" for name, text in before.items()}
    states = [
        (second, before, 30),  # killed before the checkpoint was there
        (second, after, 30),  # tables that came without their checkpoint, from elsewhere
        (first, before, 60),  # killed before any row was appended
        (first, torn, 60),  # killed while they were
        (first, middle, 60),
        (first, {**before, "metrics.csv": after["metrics.csv"]}, 60),
        (first, after, 60),
    ]
    for number, (checkpoint, files, episodes) in enumerate(states):
        folder = RunFolder(tmp_path / str(number))
        shutil.copytree(checkpoint.path, folder.path)
        for name, text in files.items():
            (folder.path / name).write_bytes(text)
        assert len(folder.metrics()["return"]) == files["metrics.csv"].count(b"\n") - 1
        trainer = folder.load()
        assert episodes <= len(trainer.history.returns) < episodes + 10
        assert train(folder, trainer)
        assert written(folder) == written(whole)


def test_a_run_is_saved_by_time_though_no_episode_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(1000))  # one passes at every look
    monkeypatch.setattr(
        "nrm.runs.folder.time", SimpleNamespace(monotonic=lambda: next(seconds), process_time=time.process_time)
    )
    folder = begun(tmp_path / "run")
    with pytest.raises(KeyboardInterrupt):
        train(folder, folder.load(), seconds=2.0, interrupted=killed_at(20))
    # At the second update. That took a second, which must not be more than a small share: the next is long after it.
    assert RunFolder(folder.path).load().updates == 2


def killed_at(update: int) -> Callable[[], bool]:
    """What kills a process after so many updates, in place of interrupting it."""
    left = iter(range(update))

    def kill() -> bool:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return False

    return kill


def test_a_save_that_fails_is_made_up_for_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, folder = begun(tmp_path / "whole"), begun(tmp_path / "run")
    assert train(whole, whole.load())
    trainer = until(folder.load(), 30)
    folder.save(trainer)

    def full(path: Path, size: int, text: str) -> int:
        append_text(path, size, text[: len(text) // 2])
        raise FileError("no space left")

    until(trainer, 50)
    monkeypatch.setattr(saving, "append_text", full)
    with pytest.raises(FileError):
        folder.save(trainer)
    monkeypatch.undo()
    assert RunFolder(folder.path).load().history == trainer.history
    (folder.path / "grounding.csv").unlink()  # nor does it matter what others do meanwhile
    assert train(folder, trainer)
    assert written(folder) == written(whole)


def test_tables_that_were_cut_or_changed_are_named(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run")
    trainer = until(folder.load(), 60)
    folder.save(trainer)
    before = written(folder)
    assert train(folder, trainer)
    for name, text in written(folder).items():
        for damaged in (before[name][:-1], b"x" * len(text)):
            (folder.path / name).write_bytes(damaged)
            with pytest.raises(FileError, match=rf"{name} .*mend it, or remove .*run to begin that run anew"):
                RunFolder(folder.path).load()
        (folder.path / name).write_bytes(text)
    assert RunFolder(folder.path).load().done


def test_a_line_that_is_being_written_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n3,4")
    assert {name: column.tolist() for name, column in read_columns(path, ("a", "b")).items()} == {"a": [1], "b": [2]}
    path.write_text("a,b\n")
    assert read_columns(path, ("a", "b"))["a"].tolist() == []
    for text in ("a,c\n", "", "a,b\n1,x\n", "a,b\n1\n", "a,b\n1,2\n3\n", "a,b\n1,\n"):
        path.write_text(text)
        with pytest.raises(FileError, match=r"table\.csv"):
            read_columns(path, ("a", "b"))
