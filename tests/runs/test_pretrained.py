"""Agents that come with the library."""

from __future__ import annotations

from pathlib import Path

import pytest

import nrm
from nrm.cli import main
from nrm.errors import FileError
from nrm.runs import RunFolder, choose_run, find_run
from nrm.runs.folder import PRETRAINED

TASKS = {
    "letter": "F(a & (!b U c)) & F d",
    "layouts": "F(pickaxe & F gem) & G !lava",
    "flat": "F(orange & (!red U magenta))",
}


@pytest.mark.parametrize("name", sorted(TASKS))
def test_a_pretrained_agent_satisfies_a_formula(name: str) -> None:
    found = nrm.evaluate(name, task=TASKS[name], episodes=50)
    assert found.success_rate > 0.9


def test_every_agent_has_a_card_and_weights_alone() -> None:
    assert {path.name for path in PRETRAINED.iterdir()} == set(TASKS)
    for name in TASKS:
        files = {path.name for path in (PRETRAINED / name).iterdir()}
        assert files == {"README.md", "config.json", "versions.json", "policy.safetensors", "tasks.npz"}


def test_a_pretrained_agent_is_watched_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["watch", "letter", "--task", TASKS["letter"], "--seed", "1"])
    assert ended.value.code == 0
    assert "unfinished" not in capsys.readouterr().err


def test_a_folder_of_that_name_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_run("letter").path == PRETRAINED / "letter"
    RunFolder("letter").begin(choose_run("1", method="rm", total_episodes=10))
    assert find_run("letter").path.samefile("letter")


def test_a_misspelt_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match="letter"):
        nrm.load_run("lettr")
