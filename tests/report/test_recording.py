"""Recorded episodes and groundings are what the task and the environment say."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

import nrm
from nrm.report import Page, build_report
from nrm.report.recording import small
from nrm.runs import RunFolder, choose_run, train
from tests.results.folders import run

DRAWN = {"layout": "episode", "items": ["pickaxe", "lava", "door", "gem"]}


def test_recorded_episodes_follow_the_task(page: Page) -> None:
    for group in page.data["groups"]:
        formula = next(task["formula"] for task in page.data["tasks"] if task["name"] == group["task"])
        machine = nrm.compile(formula, "pickaxe lava door gem empty")
        for recording in group["recordings"]:
            for episode in recording["episodes"]:
                cell, state, total = episode["start"], machine.initial, 0.0
                for step in episode["steps"]:
                    x, y = cell % 4, cell // 4
                    dx, dy = ((0, -1), (1, 0), (0, 1), (-1, 0))[step["action"]]
                    cell = min(max(y + dy, 0), 3) * 4 + min(max(x + dx, 0), 3)
                    assert step["cell"] == cell
                    assert step["letter"] == recording["letters"][recording["contents"][cell]]
                    state = machine.next_state(state, step["letter"])
                    assert step["state"] == state
                    total += step["reward"]
                assert total == pytest.approx(machine.outputs[state] - machine.outputs[machine.initial])
                assert (episode["end"] == "success") == bool(machine.accepting[state])
                beliefs = [step.get("belief") for step in episode["steps"]]
                assert (None in beliefs) == (group["method"] == "rnn")
                if group["method"] == "rm":
                    assert beliefs == [[[step["state"], 1.0]] for step in episode["steps"]]


@pytest.mark.parametrize("method", ["automata-learning", "pure-learning"])
def test_who_learns_the_machine_shows_where_it_is_in_it(tmp_path: Path, method: str) -> None:
    run(tmp_path / "a", method, 0, episodes=40)
    (group,) = build_report(tmp_path).data["groups"]
    for episode in group["recordings"][0]["episodes"]:
        for step in episode["steps"]:
            assert "belief" not in step
            assert sum(share for _, share in step["learned"]) == pytest.approx(1, abs=0.02)


def test_the_grounding_of_a_layout_that_is_drawn(tmp_path: Path) -> None:
    run(tmp_path / "a", "nrm", 0, episodes=10, settings={"env": DRAWN, "grounding": {"every": 999}})
    (group,) = build_report(tmp_path).data["groups"]
    (recording,) = group["recordings"]
    assert group["env"] == "map-episode"
    assert recording["drawn"]
    assert sorted(recording["contents"]) == [0] * 12 + [1, 2, 3, 4]
    truth = [recording["letters"][content] for content in recording["contents"]]
    assert recording["grounding"]["truth"] == truth
    verdicts = zip(truth, recording["grounding"]["learned"], recording["grounding"]["verdicts"], strict=True)
    assert all((a == b) == (verdict == "right") for a, b, verdict in verdicts)


def test_a_large_env_has_curves_and_no_picture(tmp_path: Path) -> None:
    run(tmp_path / "a", "rm", 0, episodes=5, settings={"env": {"size": 40, "pixels": 80}})
    page = build_report(tmp_path)
    assert page.data["groups"][0]["recordings"] == []
    assert "up to 1,024 cells" in next(iter(page.problems.values()))


def test_a_env_that_renders_pixels_is_filmed(tmp_path: Path) -> None:
    env = {"label": "tests.envs.own:holds", "symbols": ["mail", "desk", "floor"]}
    task = nrm.Task(nrm.parse("F(mail & F desk)"), nrm.Alphabet.exclusive(("mail", "desk", "floor")))
    config = choose_run(task, "tests.envs.own:Corridor", "nrm", total_episodes=20, settings={"env": env})
    folder = RunFolder(tmp_path / "a")
    folder.begin(config)
    train(folder, folder.load())
    page = build_report(tmp_path, trust=True)
    assert not page.problems
    (recording,) = page.data["groups"][0]["recordings"]
    machine = task.machine()
    for episode in recording["episodes"]:
        place, state = 2, machine.initial
        assert _red(page, episode["start"]) == place
        for step in episode["steps"]:
            place = min(max(place + (1 if step["action"] else -1), 0), 4)
            assert _red(page, step["frame"]) == place  # the picture of this very step
            assert recording["names"][step["letter"]] == {0: "mail", 4: "desk"}.get(place, "floor")
            assert 0 <= step["read"][0][1] <= 1
            state = machine.next_state(state, step["letter"])
            assert step["state"] == state
    assert len(page.data["tiles"]) <= 5  # each picture is in the page once


def _red(page: Page, number: int) -> int:
    """Where the red square is in a picture of the corridor: pixels of a PNG, without filters as we write them."""
    raw = base64.b64decode(page.data["tiles"][number].split(",")[1])
    width, height = struct.unpack(">II", raw[16:24])
    size = struct.unpack(">I", raw[33:37])[0]
    rows = np.frombuffer(zlib.decompress(raw[41 : 41 + size]), np.uint8).reshape(height, 1 + 3 * width)
    pixels = rows[:, 1:].reshape(height, width, 3)
    return int(np.flatnonzero((pixels[4] == (200, 30, 30)).all(-1))[0]) // 8


def test_a_env_that_renders_nothing_is_played_with_its_observations(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "a")
    folder.begin(choose_run(None, "tests.envs.own:with_task", "rm", total_episodes=10))
    train(folder, folder.load())
    page = build_report(tmp_path, trust=True)
    assert not page.problems
    (recording,) = page.data["groups"][0]["recordings"]
    assert page.data["tiles"] == []
    for episode in recording["episodes"]:
        assert "tests.envs.own:with_task" in episode["start"]
        assert episode["steps"]
        assert all(step["frame"].startswith("observation [") for step in episode["steps"])


def test_a_env_that_renders_text_is_played_with_it(tmp_path: Path) -> None:
    env = {"label": "tests.envs.own:holds", "symbols": ["mail", "desk", "floor"]}
    task = nrm.Task(nrm.parse("F(mail & F desk)"), nrm.Alphabet.exclusive(("mail", "desk", "floor")))
    folder = RunFolder(tmp_path / "a")
    folder.begin(choose_run(task, "tests.envs.own:Typed", "rm", total_episodes=10, settings={"env": env}))
    train(folder, folder.load())
    page = build_report(tmp_path, trust=True)
    assert not page.problems
    (recording,) = page.data["groups"][0]["recordings"]
    for episode in recording["episodes"]:
        place = 2
        assert episode["start"] == "..@.."
        for step in episode["steps"]:
            place = min(max(place + (1 if step["action"] else -1), 0), 4)
            assert step["frame"].index("@") == place


def test_pictures_are_made_small() -> None:
    picture = np.zeros((400, 600, 3), dtype=np.uint8)
    picture[:, :300] = 255
    shrunk = small(picture)
    assert shrunk.shape == (100, 150, 3)
    assert shrunk[0, 0].tolist() == [251, 251, 251]
    assert shrunk[0, 149].tolist() == [3, 3, 3]
    assert small(picture[:160, :160]).shape == (160, 160, 3)
