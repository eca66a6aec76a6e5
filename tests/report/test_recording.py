"""Recorded episodes and groundings are what the task and the world say."""

from __future__ import annotations

from pathlib import Path

import pytest

import nrm
from nrm.report import Page, build_report
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


def test_the_grounding_of_a_layout_that_is_drawn(tmp_path: Path) -> None:
    run(tmp_path / "a", "nrm", 0, episodes=10, settings={"world": DRAWN, "grounding": {"every": 999}})
    (group,) = build_report(tmp_path).data["groups"]
    (recording,) = group["recordings"]
    assert group["world"] == "map-episode"
    assert recording["drawn"]
    assert sorted(recording["contents"]) == [0] * 12 + [1, 2, 3, 4]
    truth = [recording["letters"][content] for content in recording["contents"]]
    assert recording["grounding"]["truth"] == truth
    verdicts = zip(truth, recording["grounding"]["learned"], recording["grounding"]["verdicts"], strict=True)
    assert all((a == b) == (verdict == "right") for a, b, verdict in verdicts)


def test_a_large_world_has_curves_and_no_picture(tmp_path: Path) -> None:
    run(tmp_path / "a", "rm", 0, episodes=5, settings={"world": {"size": 40, "pixels": 80}})
    page = build_report(tmp_path)
    assert page.data["groups"][0]["recordings"] == []
    assert "up to 1,024 cells" in next(iter(page.problems.values()))
