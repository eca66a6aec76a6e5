"""`nrm sweep` and `nrm reproduce`: interrupted and used twice, and still the table of an uninterrupted one."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from nrm.runs import RunFolder
from nrm.sweeps import load_grid
from nrm.sweeps.cells import cell_path, run_cell
from tests.cli.conftest import Nrm
from tests.said import names

torch.set_num_threads(1)
SWEEP = """
tasks = [1]
methods = ["rm", "nrm"]
total_episodes = 200
num_envs = 4
[settings.grounding]
every = 40
epochs = 10
restarts = 1
[variants.base]
[variants.open]
grounding.belief = "open-loop"
algorithm.num_steps = 4
"""


@pytest.fixture
def sweep(tmp_path: Path) -> list[str]:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    return ["sweep", str(tmp_path / "sweep.toml"), "--processes", "1", "--quiet"]


def table(store: Path) -> list[dict[str, str]]:
    """The table of results without what the clock has to say."""
    rows = list(csv.DictReader((store / "results.csv").read_text().splitlines()))
    return [{name: value for name, value in row.items() if name != "cpu_seconds"} for row in rows]


def started(command: list[str], store: Path, cells: int) -> subprocess.Popen[str]:
    """A process that has begun so many cells."""
    process = subprocess.Popen(
        [sys.executable, "-m", "nrm", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while len(list(store.glob("runs/*/events"))) < cells:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return process


def test_shared_interrupted_and_still_the_same_table(nrm_command: Nrm, sweep: list[str], tmp_path: Path) -> None:
    store, whole = tmp_path / "grid", tmp_path / "whole"
    command = [*sweep, "--out", str(store)]
    process = started(command, store, cells=2)
    told = nrm_command(*command)
    assert told.status == 2
    assert f"{store} is in use by process {process.pid}" in told.err
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "run the same command again" in out

    ended = nrm_command(*command)
    assert ended.status == 0, ended.err
    assert "4 runs done" in ended.out
    for cell in load_grid(tmp_path / "sweep.toml").cells:
        run_cell(cell, RunFolder(cell_path(whole, cell)), 1000, lambda trainer: None, lambda: False)
    assert "4 runs done (4 " in nrm_command(*sweep, "--out", str(whole)).out
    assert table(store) == table(whole)
    rows = table(store)
    assert [(row["method"], row["variant"], row["runs"]) for row in rows] == [
        ("rm", "base", "1"),
        ("nrm", "base", "1"),
        ("rm", "open", "1"),
        ("nrm", "open", "1"),
    ]
    assert {row["accuracy"] != "" for row in rows if row["method"] == "nrm"} == {True}


def test_reproduce_in_part(nrm_command: Nrm, tmp_path: Path) -> None:
    command = [
        "reproduce",
        "--envs",
        "map",
        "--tasks",
        "3",
        "visit-2",
        "--methods",
        "rm",
        "--seeds",
        "4",
        "--total-episodes",
        "60",
    ]
    command += ["--processes", "1", "--out", str(tmp_path)]
    made = nrm_command(*command)
    assert made.status == 0
    assert "[1/2] map-task3-rm-seed4 done after" in made.err
    assert "[2/2] map-task1-rm-seed4 done after" in made.err
    assert "paper task 1: visit(a, b)" in (tmp_path / "results.md").read_text()
    assert (tmp_path / "figures" / "tasks-map.png").stat().st_size > 1000
    assert "map" in (tmp_path / "index.html").read_text()
    broken = tmp_path / "runs" / "map-task1-rm-seed4" / "config.json"
    broken.write_text("{")
    again = nrm_command(*command)
    assert again.status == 1
    assert "1 failed:\n  map-task1-rm-seed4:" in again.out
    assert "is not JSON" in again.out
    assert "map-task1-rm-seed4" in (tmp_path / "failed.md").read_text()
    assert len(table(tmp_path)) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sweep", "--out", "x"], "FILE"),
        (["sweep", "missing.toml", "--out", "x"], "missing.toml"),
        (["sweep", "sweep.toml"], "--out FOLDER"),
        (["sweep", "bad.toml", "--out", "x"], "bad.toml, line 2 … 'seed' … 'seeds'"),
        (["sweep", "sweep.toml", "--out", "x", "--processes", "0"], "--processes … 0"),
        (["sweep", "sweep.toml", "--out", "x", "--engine", "rya:a:1"], "--engine … rya"),
        (["sweep", "sweep.toml", "--out", "sweep.toml"], "sweep.toml"),
        (["reproduce", "--tasks", "9", "--out", "x"], "'9'"),
        (["reproduce", "--methods", "nmr", "--out", "x"], "'nmr' … 'nrm'"),
        (
            ["reproduce", "--total-episodes", "0", "--out", "x"],
            "--total-episodes … 0",
        ),
        (["reproduce", "--seeds", "1", "1", "--out", "x"], "seeds … 1"),
        (["reproduce", "--engine", "ray:a:1", "--processes", "2", "--out", "x"], "--processes"),
    ],
)
def test_bad_input(
    nrm_command: Nrm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    (tmp_path / "bad.toml").write_text("tasks = [1]\nseed = 3\n")
    outcome = nrm_command(*arguments)
    assert outcome.status == 2
    assert names(outcome.err, message)
    assert not (tmp_path / "x").exists()


def test_ray_that_is_missing_or_out_of_reach(nrm_command: Nrm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["reproduce", "--envs", "map", "--out", str(tmp_path), "--quiet", "--engine"]
    monkeypatch.setitem(sys.modules, "ray", None)
    missing = nrm_command(*command, "ray")
    assert missing.status == 2
    assert "pip install 'neural-reward-machines[ray]'" in missing.err
    monkeypatch.undo()
    pytest.importorskip("ray", reason="Ray is not installed (extra [ray])")
    away = nrm_command(*command, "ray:127.0.0.1:1")
    assert away.status == 2
    assert "no Ray cluster can be reached at '127.0.0.1:1'" in away.err
