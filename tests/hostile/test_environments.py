"""Environments that do what no environment should, and those that have changed or gone since a run was trained."""

from __future__ import annotations

import os
import shutil
import sys
from contextvars import ContextVar
from functools import partial
from pathlib import Path

import pytest
import torch

import nrm
from nrm.envs import GymVectorEnv
from nrm.envs.gym import gym_env
from nrm.errors import EnvError
from nrm.runs import RunFolder, choose_run, train
from nrm.sweeps import load_grid
from tests.cli.conftest import Nrm, nrm_command
from tests.envs import own

__all__ = ["nrm_command"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which holds nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nrm.registry._THERE", ContextVar("there", default=None))
    return tmp_path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("good") / "run"
    config = choose_run("F(mail & F desk)", "tests.envs.own:Failing", "rm", num_envs=2, total_episodes=20)
    folder = RunFolder(path)
    train(folder, folder.begin(config))
    return path


@pytest.mark.parametrize("odd", ["exit", "text", "object", "complex", "ragged"])
def test_an_environment_that_fails_later_keeps_the_checkpoint(
    nrm_command: Nrm, monkeypatch: pytest.MonkeyPatch, trained: Path, odd: str
) -> None:
    shutil.copytree(trained, "run")
    monkeypatch.setattr(own.Failing, "odd", odd)
    failed = nrm_command("train", "--trust", "--resume", "run", "--total-episodes", "900", "--quiet")
    assert failed.status == 2
    assert "Failing, step" in failed.err
    assert "The checkpoint of episode 20 is kept in run" in failed.err
    assert Path("run/checkpoint.pt").read_bytes() == (trained / "checkpoint.pt").read_bytes()


def test_an_environment_that_cannot_be_closed(nrm_command: Nrm, monkeypatch: pytest.MonkeyPatch, trained: Path) -> None:
    monkeypatch.setattr(own.Failing, "odd", "close")
    seen = nrm_command("watch", "--trust", str(trained))
    assert seen.status == 0
    assert "SystemExit: 7" in seen.err


def test_a_process_of_an_environment_that_ends() -> None:
    env = GymVectorEnv.of(partial(gym_env, "tests.envs.own:Speaking", nrm.compile("F mail", own.SYMBOLS)), 1)
    env.reset(0)

    def gone(_: object) -> None:
        raise EOFError

    env.vector.step = gone
    with pytest.raises(EnvError, match="has ended"):
        env.step(torch.zeros(1, dtype=torch.int64))


def test_an_environment_that_changes_the_folder(nrm_command: Nrm, here: Path) -> None:
    (here / "there").mkdir()
    env = ("--env", "tests.envs.own:Failing", "--env.kwargs.folder", str(here / "there"))
    run = ("--task", "F mail", "--method", "rm", "--total-episodes", "20", "--quiet", "--out", "runs/one")
    assert nrm_command("train", *env, *run).status == 0
    assert nrm_command("watch", "--trust", "runs/one", "--out", "one.gif").status == 0
    assert nrm_command("report", "--trust", "runs", "--out", "page.html").status == 0
    (here / "grid.toml").write_text(
        'tasks = ["F mail"]\nenvs = ["tests.envs.own:Failing"]\nmethods = ["rm"]\ntotal_episodes = 9\n'
        f'seeds = [0, 1]\n[settings.env]\nkwargs = {{folder = "{here / "there"}"}}\n'
    )
    assert len(load_grid("grid.toml", trust=True).cells) == 2
    assert sorted(os.listdir(here)) == ["grid.toml", "one.gif", "page.html", "runs", "there"]
    assert not list((here / "there").iterdir())


@pytest.fixture
def mine(here: Path, monkeypatch: pytest.MonkeyPatch, trained: Path) -> Path:
    """A module of the user's, and a run that was trained in its environment."""
    monkeypatch.syspath_prepend(here)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    shutil.copy(own.__file__, "mine.py")
    shutil.copytree(trained, "runs/one")
    config = Path("runs/one/config.json")
    config.write_text(config.read_text().replace("tests.envs.own:", "mine:"))
    return here / "mine.py"


PLAYED = {
    "another length": ("self.time >= 30", "self.time >= 5"),
    "a comment": ("class Failing", "# mine\nclass Failing"),
}
UNPLAYED = {
    "wider": ("spaces.Box(-1.0, size + 1.0, (1,)", "spaces.Box(-1.0, size + 1.0, (2,)"),
    "more actions": ("spaces.Discrete(2)", "spaces.Discrete(4)"),
    "another symbol": ('corridor.size: "desk"', 'corridor.size: "table"'),
    "no class": ("class Failing", "class Failed"),
    "no Python": ("class Failing", "class class"),
    "an exit": ("class Failing", "raise SystemExit(0)\nclass Failing"),
}


@pytest.mark.parametrize("change", [*PLAYED, *UNPLAYED, "gone"])
def test_a_source_that_has_changed_since(nrm_command: Nrm, mine: Path, change: str) -> None:
    if change == "gone":
        mine.unlink()
    else:
        mine.write_text(mine.read_text().replace(*{**PLAYED, **UNPLAYED}[change]))
    begun = Path("runs/one/checkpoint.pt").read_bytes()
    for command in (("evaluate", "runs/one", "--episodes", "2"), ("watch", "runs/one"), ("report", "runs")):
        sys.modules.pop("mine", None)
        done = nrm_command(*command, "--trust")
        assert done.status == (0 if change in PLAYED or command[0] == "report" else 2)
        assert "mine" in done.err
        assert ("the source of mine:Failing has changed" in done.err) == (change in [*PLAYED, *list(UNPLAYED)[:3]])
        assert "remove" not in done.err
    assert "mine:Failing" in Path("runs/index.html").read_text()
    resumed = nrm_command("train", "--trust", "--resume", "runs/one", "--total-episodes", "40", "--quiet")
    assert resumed.status == (0 if change == "a comment" else 2)
    assert (Path("runs/one/checkpoint.pt").read_bytes() == begun) == (change != "a comment")
