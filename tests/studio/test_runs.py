"""Runs are listed, begun, stopped and continued."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nrm.errors import NrmError
from nrm.runs import holder
from nrm.studio import running
from nrm.studio.questions import Begun, Home, Named
from nrm.studio.running import begin, choices, listed, resume, stop
from tests.studio.conftest import NASTY


@pytest.fixture
def home(root: Path) -> Home:
    return Home(str(root))


def test_all_runs_are_listed_and_a_damaged_one_costs_its_line(home: Home) -> None:
    found = {one["name"]: one for one in listed(home, Named())}
    assert list(found) == ["damaged", "many", f"deep/{NASTY}"] or set(found) == {"damaged", "many", f"deep/{NASTY}"}
    assert "config.json" in found["damaged"]["problem"]
    assert found["many"]["reached"] >= 320
    assert found["many"]["curves"]["unit"] == "steps"
    assert found[f"deep/{NASTY}"]["success"] >= 0
    assert not any(one["training"] for one in found.values())
    assert listed(Home(str(Path(home.root) / "deep")), Named())[0]["name"] == NASTY


def test_a_run_is_begun_as_the_command_line_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Home) -> None:
    started: list[Any] = []
    real = subprocess.Popen

    def popen(command: list[str], **options: Any) -> Any:
        started.append((command, options))
        return real([sys.executable, "-c", "print('no gem'); raise SystemExit(2)"], **options)

    monkeypatch.setattr("nrm.studio.running.subprocess.Popen", popen)
    begin(Home(str(tmp_path)), Begun("gem", "map", "nrm", 40, task="<a>tt", logic="ldlf"))
    command, options = started[0]
    assert command[1:4] == ["-m", "nrm", "train"]
    assert f"--out={tmp_path.resolve() / 'gem'}" in command
    assert "--task=ldlf: <a>tt" in command
    assert options["start_new_session"]
    running._STARTED[Home(str(tmp_path)), "gem"].wait()
    (row,) = listed(Home(str(tmp_path)), Named())
    assert (row["name"], row["training"], row["said"]) == ("gem", False, "no gem")


@pytest.mark.parametrize(
    "change",
    [
        {"name": "../x"},
        {"name": ".hidden"},
        {"name": "many"},
        {"env": "os:system"},
        {"env": "gym:CartPole-v1"},
        {"method": "os:system"},
        {"tasks": "file:/etc/passwd"},
        {"task": "/etc/passwd"},
        {"task": "os:system: a"},
        {"task": "--trust"},
    ],
)
def test_a_run_names_nothing_but_what_the_form_lists(home: Home, change: dict[str, Any]) -> None:
    plain: dict[str, Any] = {"name": "new", "env": "map", "method": "rm", "amount": 8, "task": "F gem"}
    from nrm.registry import received

    with pytest.raises(NrmError), received():
        begin(home, Begun(**{**plain, **change}))


def test_a_run_is_stopped_by_the_process_that_trains_it(tmp_path: Path) -> None:
    home, path = Home(str(tmp_path)), tmp_path / "mine"
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored in the background
    code += f"import time; from nrm.runs.lock import locked\nwith locked(__import__('pathlib').Path({str(path)!r})):\n"
    code += " print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert holder(path) == process.pid
        with pytest.raises(NrmError, match="already"):
            resume(home, Named("mine"))
        stop(home, Named("mine"))
        assert process.wait(20) in (-signal.SIGINT, 1, 130)
    assert holder(path) is None
    with pytest.raises(NrmError, match="nobody"):
        stop(home, Named("mine"))


def test_a_folder_without_runs_has_an_empty_list(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "config.json").write_text("{}")
    assert listed(Home(str(tmp_path)), Named()) == []


def test_choices_are_names_of_ours(home: Home) -> None:
    found = choices(home, Named())
    assert "map" in found["envs"]
    assert "mixture" in found["samplers"]
    assert not any(":" in name for names in found.values() for name in names)
