"""The local engine: killed workers, broken folders, interruptions; the results are those of plain training."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from nrm.errors import EngineError, GridError
from nrm.sweeps import Grid, run_grid
from nrm.sweeps.cells import cell_path
from nrm.sweeps.engines import Event, LocalEngine, RayEngine
from tests.sweeps.grids import GRID, Killer, events, metrics, reference

torch.set_num_threads(1)


def test_killed_broken_interrupted_and_still_the_same_results(tmp_path: Path) -> None:
    damaged, garbled, *others = GRID.cells
    for cell, name in ((damaged, "checkpoint.pt"), (garbled, "config.json")):
        cell_path(tmp_path, cell).mkdir(parents=True)
        (cell_path(tmp_path, cell) / name).write_bytes(b"nonsense")
    (cell_path(tmp_path, damaged) / "config.json").write_text(json.dumps(damaged.config.to_json()))
    killer, stop = Killer(), False
    seen: list[Event] = []

    def watch(event: Event) -> None:
        nonlocal stop
        stop = stop or (event.kind == "progress" and any(one.kind == "retried" for one in seen))
        seen.append(event)
        killer(event)

    first = run_grid(GRID, tmp_path, LocalEngine(1, seconds=0.0), lambda cells, done: watch, lambda: stop)
    assert set(first.failed) == {damaged.name, garbled.name}
    assert "checkpoint.pt is not" in first.failed[damaged.name]
    assert "config.json is not JSON" in first.failed[garbled.name]
    assert [event.cell.name for event in seen if event.kind == "retried"] == [killer.killed]
    assert first.interrupted
    assert first.done == []
    assert first.saved + first.waiting == [cell.name for cell in others]

    for cell in (damaged, garbled):
        for path in cell_path(tmp_path, cell).iterdir():
            path.unlink()
    second = run_grid(GRID, tmp_path, LocalEngine(1))
    assert second.done == [cell.name for cell in GRID.cells]
    assert metrics(GRID, tmp_path) == reference(GRID, tmp_path / "reference")

    changed = replace(GRID, total_episodes=300)
    with pytest.raises(GridError, match=r"episodes.*200.*300"):
        run_grid(changed, tmp_path, LocalEngine(1))


DIES = """
import os, sys
from multiprocessing.connection import Connection
pipe = Connection(int(sys.argv[1]))
pipe.send(("ready", os.getpid()))
pipe.poll(None)
os.kill(os.getpid(), 9)
"""


def test_a_cell_is_not_retried_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nrm.sweeps.engines.local.WORKER", ("-c", DIES))
    outcome = run_grid(GRID, tmp_path, LocalEngine(2, retries=2))
    assert outcome.failed == {
        cell.name: "its process died 3 times; the last one was killed by signal 9" for cell in GRID.cells
    }


def test_nothing_to_do(tmp_path: Path) -> None:
    assert list(events(LocalEngine(2), Grid(("1",), methods=("rm",)), tmp_path, stop=lambda: True)) == []


def test_workers_that_cannot_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nrm.sweeps.engines.local._environment", lambda: {"PYTHONHOME": "/nowhere"})
    with pytest.raises(EngineError, match="worker"):
        list(events(LocalEngine(1, retries=1), GRID, tmp_path))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: LocalEngine(0), "processes is int >= 1, not 0"),
        (lambda: RayEngine(processes=-1), "processes is int >= 1, not -1"),
        (lambda: RayEngine(address="a:1", processes=2), "drop --processes"),
    ],
)
def test_bad_engines(build: object, message: str) -> None:
    with pytest.raises(EngineError, match=message):
        build()  # type: ignore[operator]
