"""`nrm tasks --family` and `nrm shortcuts --family`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nrm.machines import compile_formula
from tests.cli.conftest import Nrm


def test_tasks_are_drawn_over_the_symbols_given(nrm_command: Nrm) -> None:
    options = ("tasks", "--family", "reach-avoid", "--symbols", "a,b,c,d,empty", "--count", "3", "--json")
    data = json.loads(nrm_command(*options, "--seed", "4").out)
    assert len(data["tasks"]) == 3
    for task in data["tasks"]:
        machine = compile_formula(task["formula"], "a,b,c,d,empty")
        assert task["states"] == machine.states
        assert task["steps"] == machine.distance_to_acceptance[machine.initial]
    assert data == json.loads(nrm_command(*options, "--seed", "4").out)
    assert data != json.loads(nrm_command(*options, "--seed", "5").out)


def test_people_see_formulas_and_a_verdict(nrm_command: Nrm) -> None:
    shown = nrm_command("tasks", "--family", "conjunctions", "--count", "40").out
    assert "states" in shown
    assert "can teach every symbol" in shown
    assert "set-backs" in nrm_command("tasks").out


def test_what_a_family_cannot_teach_is_named(nrm_command: Nrm, tmp_path: Path) -> None:
    (tmp_path / "tasks.txt").write_text("F a & F b\nF c\n")
    family = ("--family", f"file:{tmp_path / 'tasks.txt'}", "--symbols", "a,b,c,empty")
    assert "{a, b}" in nrm_command("shortcuts", *family).out
    data = json.loads(nrm_command("shortcuts", *family, "--json").out)
    assert data["confusable"] == [["a", "b"]]
    assert data["count"] == "2"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tasks", "--family", "reech"), "did you mean 'reach'? (families: mixture"),
        (("tasks", "--count", "3"), "add --family NAME"),
        (("tasks", "--family", "reach", "--count", "0"), "at least one task"),
        (("shortcuts", "F a", "--family", "reach"), "--family goes with"),
        (("shortcuts", "--family", "reach-avoid", "--symbols", "a,empty"), "3 different events at least; there are 1"),
        (("tasks", "--family", "file:nowhere.txt"), "nowhere.txt"),
    ],
)
def test_bad_requests(nrm_command: Nrm, arguments: tuple[str, ...], message: str) -> None:
    outcome = nrm_command(*arguments)
    assert outcome.status == 2
    assert message in " ".join(outcome.err.split())
