"""Records tell what run folders hold, and name the folders that cannot be read."""

import json
from pathlib import Path

import pytest

from nrm.errors import FileError
from nrm.results import read_records
from nrm.runs import RunFolder, choose_run, new_trainer, train


def finished(path: Path, seed: int = 0) -> RunFolder:
    folder = RunFolder(path)
    config = choose_run("1", "map", "nrm", seed, episodes=40)
    folder.begin(config)
    train(folder, new_trainer(config))
    return folder


def test_a_record_tells_the_run(tmp_path: Path) -> None:
    folder = finished(tmp_path / "runs" / "a")
    (folder.path / "cell.json").write_text(json.dumps({"variant": "wide"}))
    (record,), broken = read_records(tmp_path)
    assert not broken
    assert (record.method, record.world, record.seed, record.variant) == ("nrm", "map", 0, "wide")
    assert record.done
    assert len(record.returns) == 40
    assert record.last_return(10) == pytest.approx(record.returns[-10:].mean())
    assert record.grounding is not None
    assert record.cpu_seconds is not None
    assert record.cpu_seconds > 0


def test_broken_folders_are_named_and_others_are_read(tmp_path: Path) -> None:
    finished(tmp_path / "a")
    bad = finished(tmp_path / "b", seed=1)
    (bad.path / "metrics.csv").write_text("episode,steps\nx,y\n")
    records, broken = read_records(tmp_path)
    assert [record.seed for record in records] == [0]
    assert list(broken) == [bad.path]


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no folder"):
        read_records(tmp_path / "nowhere")


def test_cost_adds_up_over_resumptions(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "a")
    config = choose_run("1", "map", "rm", episodes=60)
    folder.begin(config)
    stops = iter([False, False, True])
    train(folder, new_trainer(config), interrupted=lambda: next(stops))
    before = folder.cpu_seconds()
    train(folder, folder.load())
    assert folder.cpu_seconds() > before > 0
