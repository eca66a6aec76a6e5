"""`nrm train`, `nrm evaluate` and `nrm watch` on MiniGrid."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("minigrid")

from nrm.results import read_record
from nrm.runs import RunConfig, RunFolder, choose_run, train
from tests.cli.conftest import Nrm
from tests.said import names

LAVA = "minigrid:MiniGrid-LavaGapS5-v0"
QUICK = ("--quiet", "--total-episodes", "16", "--num-envs", "4", "--algorithm.num-steps", "5")
GROUNDING = ("--grounding.every", "8", "--grounding.epochs", "5", "--grounding.restarts", "1")


@pytest.mark.parametrize("method", ["rm", "nrm", "rnn"])
def test_train_resume_evaluate_and_watch(nrm_command: Nrm, tmp_path: Path, method: str) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    options: tuple[str, ...] = ("--env", LAVA, "--task", "F goal & G !lava", "--method", method, *QUICK)
    options += GROUNDING if method == "nrm" else ()
    trained = nrm_command("train", *options, "--out", str(whole))
    assert trained.status == 0
    assert "16 of 16 episodes" in trained.out
    folder = RunFolder(parts)
    folder.begin(RunFolder(whole).config())
    countdown = iter([False] * 5 + [True])
    assert not train(folder, folder.load(), interrupted=lambda: next(countdown))
    assert nrm_command("train", "--resume", str(parts), "--quiet").status == 0
    assert (parts / "metrics.csv").read_text() == (whole / "metrics.csv").read_text()
    assert read_record(whole).env == LAVA
    data = json.loads(nrm_command("evaluate", str(whole), "--episodes", "2", "--json").out)
    assert (data["grounding_accuracy"] is None) == (method != "nrm")
    if method == "nrm":
        shown = nrm_command("watch", str(whole))
        assert "true symbol" in shown.out
        assert "WG" in shown.out
        picture = tmp_path / "episode.gif"
        assert nrm_command("watch", str(whole), "--out", str(picture)).status == 0
        assert picture.read_bytes().startswith(b"GIF8")


def test_the_ready_task_is_the_default() -> None:
    run = choose_run(None, "minigrid:MiniGrid-DoorKey-5x5-v0")
    task = run.build_task()
    assert task.alphabet.symbols == ("key", "door", "goal")
    assert not task.alphabet.is_exclusive
    assert RunConfig.from_json(json.loads(json.dumps(run.to_json()))) == run


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--env", "minigrid:MiniGrid-LavaGap5-v0"], "'MiniGrid-LavaGapS5-v0'"),
        (["--env", "minigird:MiniGrid-LavaGapS5-v0"], "'minigird:MiniGrid-LavaGapS5-v0'"),
        (["--env", LAVA, "--task", "F gaol"], "'goal'"),
        (["--env", LAVA, "--env.layout", "episode"], "'env.layout'"),
        (["--env", "minigrid:MiniGrid-Playground-v0"], "MiniGrid-Playground-v0"),
        (["--env", "minigrid:MiniGrid-Empty-5x5-v0", "--task", "F gem"], "'gem'"),
    ],
)
def test_bad_input(
    nrm_command: Nrm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = nrm_command("train", *arguments, "--out", "x")
    assert outcome.status == 2
    assert names(outcome.err, message)
    assert not list(tmp_path.iterdir())


def test_without_minigrid(nrm_command: Nrm, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "minigrid", None)
    outcome = nrm_command("train", "--env", LAVA, "--out", str(tmp_path / "run"))
    assert outcome.status == 2
    assert names(outcome.err, "neural-reward-machines[minigrid]")


def test_a_task_of_the_paper_and_a_forgotten_prefix(nrm_command: Nrm) -> None:
    assert "goal, lava, empty" in nrm_command("train", "--env", LAVA, "--task", "1", "--out", "x").err
    forgotten = nrm_command("train", "--env", LAVA.removeprefix("minigrid:"), "--out", "x")
    assert f"did you mean '{LAVA}'" in forgotten.err
