"""Run folders: whole, atomic, resumable, and clear about what is wrong."""

from __future__ import annotations

import copy
import json
import os
import signal
import subprocess
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from nrm.agents import evaluate
from nrm.errors import ConfigError, FileError, LockedError
from nrm.files import TEMPORARY, remove_leftovers
from nrm.registry import received
from nrm.runs import RunConfig, RunFolder, choose_run, train
from nrm.runs.checkpoint import CHECKPOINT_VERSION, check_like
from nrm.runs.lock import locked
from nrm.tracking import MachineLearning

torch.set_num_threads(1)


def config(method: str = "nrm", episodes: int = 60, every: int = 20) -> RunConfig:
    settings = {"grounding": {"every": every, "epochs": 20, "restarts": 1}} if method == "nrm" else {}
    return choose_run("1", "map", method, 3, total_episodes=episodes, num_envs=4, settings=settings)


def test_a_run_in_a_folder(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.begin(config())
    trainer = config().build_trainer()
    assert train(folder, trainer)
    metrics = folder.metrics()
    assert metrics["return"].tolist() == trainer.history.returns
    assert len(metrics["episode"]) == 60
    assert folder.load().history == trainer.history
    assert list((tmp_path / "run" / "events").iterdir())


def test_interrupted_and_resumed(tmp_path: Path) -> None:
    whole = config().build_trainer()
    assert train(_begun(tmp_path / "whole"), whole)
    folder = _begun(tmp_path / "parts")
    countdown = iter([False] * 12 + [True])
    assert not train(folder, config().build_trainer(), interrupted=lambda: next(countdown))
    assert train(folder, folder.load())
    assert (tmp_path / "parts" / "metrics.csv").read_text() == (tmp_path / "whole" / "metrics.csv").read_text()


def test_killed_and_resumed_ends_as_if_never_killed(tmp_path: Path) -> None:
    whole = _begun(tmp_path / "whole", "nrm", 300, 60)
    assert train(whole, whole.load())
    folder = _begun(tmp_path / "killed", "nrm", 300, 60)
    code = (
        "import sys, torch; torch.set_num_threads(1)\n"
        "from nrm.runs import RunFolder, train\n"
        "folder = RunFolder(sys.argv[1]); train(folder, folder.load(), seconds=0.0)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(folder.path)])
    while not (folder.path / "checkpoint.pt").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(folder.load().history.returns) < 300
    assert train(folder, folder.load())
    for name in ("metrics.csv", "policy.safetensors"):
        assert (folder.path / name).read_bytes() == (whole.path / name).read_bytes()


@pytest.mark.parametrize("method", ["rm", "nrm", "rnn", "automata-learning"])
def test_results_do_not_depend_on_when_a_run_is_saved(tmp_path: Path, method: str) -> None:
    whole, often = (_begun(tmp_path / name, method, 40, 10) for name in ("whole", "often"))
    assert train(whole, whole.load(), seconds=float("inf"))
    while not (trainer := often.load()).done:
        trainer.update()
        often.save(trainer)
    for name in ("metrics.csv", "grounding.csv", "decisions.csv", "machines.json"):
        assert _content(often.path / name) == _content(whole.path / name)
    pairs = zip(_tensors(trainer.state_dict()), _tensors(whole.load().state_dict()), strict=True)
    for (path, one), (same, other) in pairs:
        assert path == same
        assert torch.equal(one, other), path


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def test_symbols_and_machine_of_endless_observations_are_loaded_and_resumed(tmp_path: Path) -> None:
    """What reads symbols comes into being later: a checkpoint has it, a run at its beginning does not."""
    env = {"label": "tests.envs.own:holds", "symbols": ["mail", "desk", "floor"]}
    chosen = choose_run(
        "F(mail & F desk)", "tests.envs.own:Corridor", "pure-learning", 1, total_episodes=120, settings={"env": env}
    )
    (whole, folder) = (RunFolder(tmp_path / name) for name in ("whole", "parts"))
    for one in (whole, folder):
        one.begin(chosen)
    assert train(whole, whole.load())
    # Interrupted before anything was learned, while observations are few, and once symbols are read.
    stops: list[Callable[[dict[str, Any]], bool]] = [
        lambda _: True,
        lambda state: bool(state["versions"]),
        lambda state: state["book"]["grounder"] is not None,
    ]
    for stop in stops:
        trainer = folder.load()
        assert trainer.inference is not None
        assert not train(folder, trainer, interrupted=partial(_is_at, trainer.inference, stop))
    assert trainer.inference is not None
    assert trainer.inference.state_dict()["book"]["grounder"]
    assert train(folder, folder.load())
    assert (folder.path / "metrics.csv").read_text() == (whole.path / "metrics.csv").read_text()
    learned, again = (run.load().inference for run in (whole, folder))
    assert learned is not None
    assert again is not None
    assert learned.versions == again.versions
    assert evaluate(folder.load(), chosen.build_env(4), 4, 9, greedy=True).mean_return > 0


def _is_at(learning: MachineLearning, stop: Callable[[dict[str, Any]], bool]) -> bool:
    return stop(learning.state_dict())


def test_a_saved_dict_may_be_ordered() -> None:
    check_like({"a": 1}, OrderedDict(a=1))
    with pytest.raises(ValueError, match=r"list.*dict"):
        check_like({"a": 1}, [1])


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    folder = _begun(tmp_path / "run")
    with pytest.raises(FileError, match="nrm train --resume"):
        folder.begin(config())
    with pytest.raises(FileError, match="another run"):
        folder.begin(config("rm"))
    settings = json.loads((folder.path / "config.json").read_text())
    (folder.path / "config.json").write_text(json.dumps({**settings, "env": "mine:Own"}))
    with received(), pytest.raises(FileError, match="another --out"):
        folder.begin(config())
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("keep")
    with pytest.raises(FileError, match=r"empty.*run"):
        RunFolder(tmp_path / "notes").begin(config())
    with pytest.raises(FileError, match="holds no run"):
        RunFolder(tmp_path / "notes").load()


@pytest.mark.parametrize("kept", ["checkpoint.pt", "metrics.csv", "events", "mine.txt"])
def test_only_folders_in_which_nothing_was_trained_go_when_a_new_run_fails(tmp_path: Path, kept: str) -> None:
    def fail(folder: RunFolder, new: bool) -> None:
        with locked(folder.path), pytest.raises(ZeroDivisionError), folder.undone_on_failure(new):
            raise ZeroDivisionError

    folder = _begun(tmp_path / "run")
    fail(folder, new=False)
    assert folder.exists
    with pytest.raises(FileError, match="already"):
        folder.begin(config())
    (folder.path / kept).mkdir()
    fail(folder, new=True)
    assert folder.exists
    (folder.path / kept).rmdir()
    fail(folder, new=True)
    assert not folder.path.exists()


def test_damaged_and_foreign_checkpoints(tmp_path: Path) -> None:
    folder = _begun(tmp_path / "run")
    path = folder.path / "checkpoint.pt"
    path.write_bytes(b"nonsense")
    with pytest.raises(FileError, match="nrm-checkpoint"):
        folder.load()
    torch.save({"something": 1}, path)
    with pytest.raises(FileError, match="format None"):
        folder.load()
    torch.save({"format": "nrm-checkpoint", "version": 99}, path)
    with pytest.raises(FileError, match="version 99"):
        folder.load()
    state = config().build_trainer().state_dict()
    del state["history"], state["recorder"]["totals"]
    _write(path, state)
    with pytest.raises(FileError, match=r"release.*state\.recorder.*totals"):
        folder.load()


def _tensors(state: object, path: tuple[object, ...] = ()) -> Iterator[tuple[tuple[object, ...], torch.Tensor]]:
    if isinstance(state, torch.Tensor):
        yield path, state
    entries = state.items() if isinstance(state, dict) else enumerate(state) if isinstance(state, list) else ()
    for key, value in entries:
        yield from _tensors(value, (*path, key))


def _write(path: Path, state: object) -> None:
    content = {"format": "nrm-checkpoint", "version": CHECKPOINT_VERSION, "tables": {}, "trainer": state}
    torch.save(content, path)


def _put(state: Any, path: tuple[Any, ...], value: object) -> None:
    for key in path[:-1]:
        state = state[key]
    state[path[-1]] = value


@pytest.mark.parametrize("method", ["nrm", "rnn"])
def test_no_tensor_of_another_shape_or_type_is_loaded(tmp_path: Path, method: str) -> None:
    folder = _begun(tmp_path / "run", method)
    trainer = folder.load()
    for _ in range(30):
        trainer.update()
    folder.save(trainer)
    whole = trainer.state_dict()
    del whole["history"]
    paths = [path for path, _ in _tensors(whole)]
    assert len(paths) > 40
    for number, path in enumerate(paths):
        value = dict(_tensors(whole))[path]
        state = copy.deepcopy(whole)
        _put(state, path, value.to(torch.complex64) if number % 2 else value[..., None])
        _write(folder.path / "checkpoint.pt", state)
        with pytest.raises(FileError, match="does not fit this run"):
            folder.load()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: [],
        lambda data: {**data, "task": ["F gem"]},
        lambda data: {**data, "seed": "three"},
        lambda data: {**data, "sede": 3},
        lambda data: {**data, "method": 7},
        lambda data: {**data, "method": "nmr"},
        lambda data: {**data, "env": "gone_module:ENV"},
        lambda data: {**data, "settings": {**data["settings"], "algorithm": {"learning_rate": "fast"}}},
        lambda data: {**data, "settings": {**data["settings"], "algorithm": {"learning_rat": 0.1}}},
        lambda data: {**data, "settings": []},
        lambda data: {key: value for key, value in data.items() if key != "end"},
    ],
)
def test_configurations_that_are_none(tmp_path: Path, damage: Callable[[Any], Any]) -> None:
    folder = _begun(tmp_path / "run")
    path = folder.path / "config.json"
    path.write_text(json.dumps(damage(json.loads(path.read_text()))))
    with pytest.raises(ConfigError) as caught:
        folder.load()
    assert str(caught.value).startswith(f"{path}: ")


def test_a_folder_whose_making_was_killed_can_be_begun_again(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; import nrm.runs.folder as folder\n"
        "from nrm.runs import RunFolder, choose_run\n"
        "write = folder.write_json\n"
        "def killed(path, data):\n"
        "    write(path, data)\n"
        "    os._exit(9)\n"
        "folder.write_json = killed\n"
        "RunFolder(sys.argv[1]).begin(choose_run('1'))"
    )
    path = tmp_path / "run"
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == 9
    (leftover,) = tmp_path.iterdir()
    os.utime(leftover, (0, 0))  # an hour later
    _begun(path)
    assert list(tmp_path.iterdir()) == [path]


def test_one_process_at_a_time_trains_in_a_folder(tmp_path: Path) -> None:
    folder = _begun(tmp_path / "run")
    code = "import sys; from nrm.cli import main; main(['train', '--resume', sys.argv[1], '--quiet'])"
    with locked(folder.path):
        done = subprocess.run([sys.executable, "-c", code, str(folder.path)], capture_output=True, text=True)
    assert done.returncode == 2
    assert f"is in use by process {os.getpid()}" in done.stderr
    with locked(folder.path), pytest.raises(LockedError), locked(folder.path):
        pass


def test_what_killed_writers_leave_is_removed(tmp_path: Path) -> None:
    folder = _begun(tmp_path / "run")
    (folder.path / f"{TEMPORARY}x1y2").write_bytes(b"half")
    remove_leftovers(folder.path)
    assert sorted(path.name for path in folder.path.iterdir()) == ["config.json", "versions.json"]


def test_an_agent_that_has_learned_nothing_is_not_evaluated(tmp_path: Path) -> None:
    folder = _begun(tmp_path / "run")
    with pytest.raises(FileError, match=r"checkpoint.*nrm train --resume"):
        folder.load_policy()
    train(folder, folder.load())
    assert folder.load_policy().done
    (folder.path / "checkpoint.pt").unlink()
    with pytest.raises(FileError, match=r"checkpoint\.pt.*metrics\.csv"):
        folder.load()


def test_a_full_disk_keeps_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _begun(tmp_path / "run")
    trainer = config().build_trainer()
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


def _begun(path: Path, method: str = "nrm", episodes: int = 60, every: int = 20) -> RunFolder:
    folder = RunFolder(path)
    folder.begin(config(method, episodes, every))
    return folder
