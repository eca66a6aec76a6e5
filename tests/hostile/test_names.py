"""Received files name code, and none of it runs unless somebody at the keyboard says so."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch

from nrm.errors import FileError, NrmError
from nrm.machines import load_task
from nrm.neural import MlpGrounder, NeuralRewardMachine, load_model, save_model
from nrm.report import build_report
from nrm.runs import RunFolder, load_run
from nrm.sweeps import load_grid
from tests.cli.conftest import Nrm, nrm_command
from tests.neural.examples import task
from tests.results.folders import run

__all__ = ["nrm_command"]
EVIL = """
from pathlib import Path
Path({mark!r}).touch()
name = label = "evil"
"""


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file that is there once code of the current folder has run."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    (here / "evilmod.py").write_text(EVIL.format(mark=str(tmp_path / "ran")))
    yield tmp_path / "ran"
    sys.modules.pop("evilmod", None)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("good") / "run", "nrm", 0)


def poisoned(good: Path, path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of a run's folder with another configuration."""
    shutil.copytree(good, path)
    config = json.loads((path / "config.json").read_text())
    change(config)
    (path / "config.json").write_text(json.dumps(config))
    return path


def as_shell(mark: Path, config: dict[str, Any]) -> None:
    config["env"] = "subprocess:run"
    env = {"source": "subprocess:run", "kwargs": {"args": f"touch {mark}", "shell": True}}
    config["settings"]["env"] = env


def as_gym(key: str, value: object, config: dict[str, Any]) -> None:
    config["env"] = "gym:CartPole-v1"
    config["settings"]["env"] = {"source": "gym:CartPole-v1", key: value}


CHANGES: dict[str, Callable[[Path, dict[str, Any]], None]] = {
    "shell": as_shell,
    "environment": lambda _, config: config.update(env="evilmod:ENV"),
    "source": lambda _, config: as_gym("source", "evilmod:ENV", config),
    "package": lambda _, config: config.update(env="gym:evilmod:ENV"),
    "package of a source": lambda _, config: as_gym("source", "gym:evilmod:ENV", config),
    "label": lambda _, config: as_gym("label", "evilmod:label", config),
    "method": lambda _, config: config.update(method="evilmod:METHOD"),
    "algorithm": lambda _, config: config.update(algorithm="evilmod:ALGORITHM"),
    "sampler": lambda _, config: config.update(tasks="evilmod:SAMPLER", task=""),
    "grounder": lambda _, config: config["settings"]["grounding"].update(grounder="evilmod:G"),
    "network": lambda _, config: config["settings"]["network"].update(encoder="evilmod:N"),
    "language": lambda _, config: config.update(
        task='name = "x"\nsymbols = ["a", "b"]\nformula = "evilmod:LANG: F a"\n'
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_received_run(good: Path, tmp_path: Path, mark: Path, nrm_command: Nrm, change: str) -> None:
    folder = poisoned(good, tmp_path / "runs" / "bad", lambda config: CHANGES[change](mark, config))
    for command in (("evaluate", str(folder)), ("watch", str(folder)), ("train", "--resume", str(folder))):
        outcome = nrm_command(*command)
        assert outcome.status == 2
        assert "--trust" in outcome.err
    reported = nrm_command("report", str(folder.parent), "--recorded", "2")
    assert "--trust" in reported.err
    for load in (load_run, lambda path: RunFolder(path).load()):
        with pytest.raises(NrmError, match="trust=True"):
            load(folder)
    build_or_refuse(folder.parent)
    assert not mark.exists()


def build_or_refuse(folder: Path) -> None:
    """A report in Python, which may have nothing to show."""
    with suppress(FileError):
        build_report(folder)


@pytest.mark.parametrize(
    "text",
    [
        'tasks = ["F a"]\nenvs = ["subprocess:run"]\n[settings.env]\nkwargs = {args = "touch MARK", shell = true}\n',
        'tasks = ["F gem"]\nenvs = ["evilmod:ENV"]\n',
        'tasks = "evilmod:SAMPLER"\nenvs = ["letter"]\n',
        'tasks = ["evilmod:LANG: F gem"]\n',
        'tasks = ["F gem"]\nmethods = ["evilmod:METHOD"]\n',
        'tasks = ["F gem"]\nmethods = ["nrm"]\n[settings.grounding]\ngrounder = "evilmod:G"\n',
        'tasks = ["F gem"]\n[settings.network]\nencoder = "evilmod:N"\n',
        'tasks = "mixture"\nenvs = ["letter"]\n[settings.family]\nfamilies = ["evilmod:SAMPLER"]\n',
    ],
)
def test_a_received_sweep(tmp_path: Path, mark: Path, nrm_command: Nrm, text: str) -> None:
    file = tmp_path / "grid.toml"
    file.write_text(text.replace("MARK", str(mark)))
    outcome = nrm_command("sweep", str(file), "--out", str(tmp_path / "out"))
    assert outcome.status == 2
    assert "--trust" in outcome.err
    with pytest.raises(NrmError, match="--trust"):
        load_grid(file)
    assert not mark.exists()


def test_a_received_task_file_and_list_of_formulas(tmp_path: Path, mark: Path, nrm_command: Nrm) -> None:
    task, some = tmp_path / "task.toml", tmp_path / "some.txt"
    task.write_text('formula = "evilmod:LANG: F a"\nsymbols = ["a", "b"]\n')
    some.write_text("evilmod:LANG: F a\n")
    for command in (
        ("compile", str(task)),
        ("explain", str(task)),
        ("shortcuts", str(task)),
        ("check", "--task", str(task), "--trace", "a"),
        ("tasks", "--family", f"file:{some}"),
    ):
        outcome = nrm_command(*command)
        assert outcome.status == 2
        assert "--trust" in outcome.err
    with pytest.raises(NrmError, match="trust=True"):
        load_task(task)
    assert not mark.exists()


def test_a_received_model(tmp_path: Path, mark: Path) -> None:
    path = save_model(tmp_path / "model.pt", NeuralRewardMachine(MlpGrounder(2, 5), task(1)))
    content = torch.load(path, weights_only=True)
    content["grounder"]["kind"] = "evilmod:G"
    torch.save(content, path)
    with pytest.raises(NrmError, match="trust=True"):
        load_model(path)
    assert not mark.exists()


def test_a_name_that_is_typed_or_trusted_is_followed_but_not_called_unseen(mark: Path, nrm_command: Nrm) -> None:
    typed = nrm_command("compile", "evilmod:LANG: F a")
    assert mark.exists()
    assert "evilmod" in typed.err
    outcome = nrm_command(
        "train", "--env", "subprocess:Popen", "--env.kwargs.args", "ls", "--task", "F a", "--out", "x"
    )
    assert outcome.status == 2
    assert "name a gymnasium.Env" in outcome.err


def test_the_current_folder_is_not_on_the_path_of_what_is_only_read(
    good: Path, tmp_path: Path, mark: Path, nrm_command: Nrm
) -> None:
    Path("secrets.py").write_text("raise SystemExit(3)\n")
    shutil.copytree(good, tmp_path / "runs" / "good")
    before = list(sys.path)
    assert nrm_command("report", str(tmp_path / "runs")).status == 0
    assert sys.path == before
