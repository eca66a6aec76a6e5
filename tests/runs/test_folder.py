"""Run folders: whole, atomic, resumable, and clear about what is wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from nrm.agents import AgentConfig
from nrm.envs import MINECRAFT_SYMBOLS, MinecraftConfig
from nrm.errors import ConfigError, FileError
from nrm.machines import Alphabet, Task
from nrm.runs import RunConfig, RunFolder, new_trainer, run_config, train, with_settings

torch.set_num_threads(1)
AGENT = AgentConfig(episodes=60, environments=4, grounding_every=20, grounding_epochs=20, grounding_restarts=1)
TASK = Task.from_paper(1, Alphabet.exclusive(MINECRAFT_SYMBOLS))


def config(method: str = "nrm", **changes: object) -> RunConfig:
    return run_config(TASK, MinecraftConfig(), method, replace(AGENT, **changes), seed=3)  # type: ignore[arg-type]


def test_configurations_read_back_equal() -> None:
    for chosen in (
        config(),
        run_config(TASK, MinecraftConfig(layout="episode", items=("gem", "lava")), "rm", AGENT, 1),
    ):
        assert RunConfig.from_json(json.loads(json.dumps(chosen.to_json()))) == chosen


def test_a_run_in_a_folder(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.begin(config())
    trainer = new_trainer(config())
    assert train(folder, trainer)
    metrics = folder.metrics()
    assert metrics["return"].tolist() == trainer.history.returns
    assert len(metrics["episode"]) == 60
    assert folder.load().history == trainer.history
    assert list((tmp_path / "run" / "events").iterdir())


def test_interrupted_and_resumed(tmp_path: Path) -> None:
    whole = new_trainer(config())
    assert train(_begun(tmp_path / "whole"), whole)
    folder = _begun(tmp_path / "parts")
    countdown = iter([False] * 12 + [True])
    assert not train(folder, new_trainer(config()), interrupted=lambda: next(countdown))
    assert train(folder, folder.load())
    assert (tmp_path / "parts" / "metrics.csv").read_text() == (tmp_path / "whole" / "metrics.csv").read_text()


@pytest.mark.parametrize("method", ["nrm", "rnn"])
def test_killed_and_resumed_ends_as_if_never_killed(tmp_path: Path, method: str) -> None:
    changes = {"episodes": 700, "grounding_every": 60}
    whole = _begun(tmp_path / "whole", method, **changes)
    assert train(whole, new_trainer(config(method, **changes)), every=50)
    folder = _begun(tmp_path / "killed", method, **changes)
    code = (
        "import sys, torch; torch.set_num_threads(1)\n"
        "from nrm.runs import RunFolder, train\n"
        "folder = RunFolder(sys.argv[1]); train(folder, folder.load(), every=50)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(folder.path)])
    while not (folder.path / "checkpoint.pt").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(folder.load().history.returns) < 700
    assert train(folder, folder.load(), every=50)
    assert (folder.path / "metrics.csv").read_text() == (whole.path / "metrics.csv").read_text()


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    folder = _begun(tmp_path / "run")
    with pytest.raises(FileError, match="holds this very run already; go on with 'nrm train --resume"):
        folder.begin(config())
    with pytest.raises(FileError, match="holds another run already"):
        folder.begin(config("rm"))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("keep")
    with pytest.raises(FileError, match="is not empty and holds no run"):
        RunFolder(tmp_path / "notes").begin(config())
    with pytest.raises(FileError, match="holds no run"):
        RunFolder(tmp_path / "notes").load()


def test_damaged_and_foreign_checkpoints(tmp_path: Path) -> None:
    folder = _begun(tmp_path / "run")
    path = folder.path / "checkpoint.pt"
    path.write_bytes(b"nonsense")
    with pytest.raises(FileError, match="not a checkpoint, or it is damaged"):
        folder.load()
    torch.save({"something": 1}, path)
    with pytest.raises(FileError, match="no checkpoint of this program"):
        folder.load()
    torch.save({"format": "nrm-checkpoint", "version": 99}, path)
    with pytest.raises(FileError, match="version 99"):
        folder.load()
    state = new_trainer(config()).state_dict()
    del state["cutter"]["totals"]
    torch.save({"format": "nrm-checkpoint", "version": 1, "trainer": state}, path)
    with pytest.raises(FileError, match=r"of another release \(KeyError: 'totals'\)"):
        folder.load()


def test_a_full_disk_keeps_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _begun(tmp_path / "run")
    trainer = new_trainer(config())
    for _ in range(5):
        trainer.update()
    folder.save(trainer)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    trainer.update()
    with pytest.raises(FileError, match="No space left"):
        folder.save(trainer)
    monkeypatch.undo()
    assert folder.load().updates == 5


def test_settings_are_read_by_their_type() -> None:
    changed = with_settings(AGENT, {"learning_rate": "0.5", "window": "7", "gradient_norm": "none", "belief": "open"})
    assert (changed.learning_rate, changed.window, changed.gradient_norm, changed.belief) == (0.5, 7, None, "open")
    assert with_settings(AGENT, {"normalise": "false"}).normalise is False
    for settings, message in (
        ({"windwo": "1"}, "did you mean 'window'"),
        ({"window": "x"}, "window is of type int, not 'x'"),
        ({"belief": "closed"}, "one of conditioned, open"),
        ({"normalise": "maybe"}, "true or false"),
    ):
        with pytest.raises(ConfigError, match=message):
            with_settings(AGENT, settings)


def _begun(path: Path, method: str = "nrm", **changes: object) -> RunFolder:
    folder = RunFolder(path)
    folder.begin(config(method, **changes))
    return folder
