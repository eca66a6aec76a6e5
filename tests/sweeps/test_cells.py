"""A cell's folder tells how far it is; broken and foreign folders are named; nothing is left half made."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from multiprocessing import Pipe
from pathlib import Path

import pytest
import torch

from nrm.errors import FileError, GridError, LockedError, describe
from nrm.files import TEMPORARY
from nrm.runs import RunFolder, lock
from nrm.runs.folder import clear_beginnings
from nrm.runs.lock import locked
from nrm.sweeps import Grid
from nrm.sweeps.cells import RUNS, cell_path, cell_state, run_cell
from nrm.sweeps.engines.cluster import pack, unpack
from nrm.sweeps.engines.local import serve

torch.set_num_threads(1)
GRID = Grid(("1",), methods=("rm",), total_episodes=40, num_envs=4)
(CELL,) = GRID.cells


def trained(store: Path, stop: Callable[[], bool] = lambda: False) -> RunFolder:
    folder = RunFolder(cell_path(store, CELL))
    run_cell(CELL, folder, 0.0, lambda trainer: None, stop)
    return folder


def test_from_new_to_done(tmp_path: Path) -> None:
    assert cell_state(tmp_path, CELL) == "new"
    trained(tmp_path, lambda: True)
    assert cell_state(tmp_path, CELL) == "begun"
    folder = trained(tmp_path)
    assert cell_state(tmp_path, CELL) == "done"
    assert json.loads((folder.path / "cell.json").read_text()) == {"variant": "", "done": True}


@pytest.mark.parametrize("name", ["metrics.csv", "cell.json"])
def test_a_done_cell_with_an_unfinished_file_is_mended(tmp_path: Path, name: str) -> None:
    folder = trained(tmp_path)
    whole = (folder.path / name).read_bytes()
    (folder.path / name).write_bytes(whole[:-3])
    assert cell_state(tmp_path, CELL) == "begun"
    trained(tmp_path)
    assert (folder.path / name).read_bytes() == whole


def test_a_done_cell_whose_metrics_are_lost_is_not_trusted(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    (folder.path / "metrics.csv").unlink()
    assert cell_state(tmp_path, CELL) == "begun"
    with pytest.raises(FileError, match=r"metrics\.csv.*remove"):
        trained(tmp_path)


def test_broken_folders(tmp_path: Path) -> None:
    folder = trained(tmp_path, lambda: True)
    (folder.path / "checkpoint.pt").write_bytes(b"nonsense")
    with pytest.raises(FileError, match=r"damaged.*remove"):
        trained(tmp_path)
    (folder.path / "config.json").write_text("{")
    with pytest.raises(FileError, match=r"JSON.*remove"):
        cell_state(tmp_path, CELL)
    (folder.path / "config.json").unlink()
    with pytest.raises(FileError, match=r"empty.*run"):
        cell_state(tmp_path, CELL)


def test_another_run_in_the_folder_refuses_the_grid(tmp_path: Path) -> None:
    trained(tmp_path)
    (other,) = Grid(("1",), methods=("rm",), total_episodes=50, num_envs=4).cells
    with pytest.raises(GridError, match=r"episodes.*40.*50"):
        cell_state(tmp_path, other)


def test_what_killed_processes_leave_is_removed(tmp_path: Path) -> None:
    folder = trained(tmp_path, lambda: True)
    (folder.path / f"{TEMPORARY}x1y2").write_bytes(b"half")
    (tmp_path / "runs" / ".begin-abc" / "half").mkdir(parents=True)
    trained(tmp_path)
    clear_beginnings(tmp_path / RUNS)
    hidden = [path.name for path in (tmp_path / RUNS).rglob("*") if path.name.startswith(".")]
    assert hidden == [lock.LOCK_FILE]


def test_a_folder_travels_as_bytes(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    files = pack(folder.path)
    assert {"config.json", "checkpoint.pt", "metrics.csv", "cell.json"} <= set(files)
    unpack(files, tmp_path / "other" / "place")
    assert pack(tmp_path / "other" / "place") == files
    unpack({"metrics.csv": b"new"}, tmp_path / "other" / "place")
    assert pack(tmp_path / "other" / "place") == {**files, "metrics.csv": b"new"}
    assert pack(tmp_path / "nowhere") == {}


def test_a_full_disk_fails_the_cell_and_the_worker_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    ours, theirs = Pipe()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        serve(theirs, CELL, str(tmp_path), 0.0)
    kind, why = ours.recv()
    assert kind == "failed"
    assert "No space left on device" in why
    assert list((tmp_path / "runs").iterdir()) == []
    serve(theirs, CELL, str(tmp_path), 0.0)
    while (message := ours.recv())[0] == "progress":
        pass
    assert message == ("done", "")


def test_unforeseen_errors_say_where_they_arose() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        _ = 1 // 0
    assert describe(caught.value).startswith("ZeroDivisionError: integer division or modulo by zero (/")
    assert "test_cells.py, line" in describe(caught.value)


# The file alone: the lab around it would load PyTorch, for seconds.
HOLD = "import runpy, sys, time; from pathlib import Path; locked = runpy.run_path(sys.argv[2])['locked']\n"


def test_the_second_process_is_told_and_the_lock_dies_with_its_holder(tmp_path: Path) -> None:
    code = HOLD + "with locked(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path), lock.__file__], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(LockedError, match=f"is in use by process {holder.pid} on"), locked(tmp_path):
        pass
    holder.kill()
    holder.communicate()
    with locked(tmp_path):
        pass


def test_workers_of_a_dead_process_are_waited_for(tmp_path: Path) -> None:
    code = HOLD + (
        "import os, subprocess\n"
        "with locked(Path(sys.argv[1])) as handle:\n"
        "    subprocess.Popen(['sleep', '1'], pass_fds=(handle,), stdout=subprocess.DEVNULL)\n"
        "    print('held', flush=True)\n"
        "    os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path), lock.__file__], check=False, capture_output=True)
    with locked(tmp_path):
        pass
