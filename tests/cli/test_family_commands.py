"""`nrm tasks --family` and `nrm shortcuts --family`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nrm.agents import policy
from nrm.machines import compile_formula
from tests.cli.conftest import Nrm
from tests.said import names


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
    assert "resettable" in nrm_command("tasks").out


def test_exceptions_are_none_where_one_symbol_holds_at_a_time(nrm_command: Nrm) -> None:
    drawn = ("tasks", "--family", "avoid-except", "--count", "2")
    told = "where one symbol holds at a time, 'unless others hold' says nothing: !(a & !b) is !a"
    assert told in nrm_command(*drawn).out
    assert "note" not in nrm_command(*drawn, "--propositions", "a,b,c,d").out
    assert "note" not in nrm_command(*drawn, "--json").out
    assert "note" not in nrm_command("tasks", "--family", "reach-avoid", "--count", "2").out


def test_training_on_exceptions_says_so_too(nrm_command: Nrm, tmp_path: Path) -> None:
    env = ("--env", "letter", "--env.size", "4", "--env.letters", "4")
    train = (
        "train",
        "--tasks",
        "avoid-except",
        *env,
        "--tasks.count",
        "5",
        "--total-timesteps",
        "64",
        "--method",
        "rm",
    )
    told = nrm_command(*train, "--out", str(tmp_path / "run")).err
    assert "nrm: note: where one symbol holds at a time, 'unless others hold' says nothing" in told


def test_settings_of_a_family_are_options(nrm_command: Nrm) -> None:
    chain = ("--family", "reach", "--family.min-steps", "6", "--family.max-steps", "6")
    data = json.loads(nrm_command("tasks", *chain, "--count", "4", "--json").out)
    assert [task["steps"] for task in data["tasks"]] == [6] * 4
    mixed = ("--family", "mixture", "--family.families", "avoidance", "--symbols", "a,b,c,empty", "--count", "5")
    assert all("G" in task["formula"] for task in json.loads(nrm_command("tasks", *mixed, "--json").out)["tasks"])
    shown = json.loads(nrm_command("tasks", *chain[:2], "--family.max-choices=1", "--count", "7", "--json").out)
    assert len(shown["tasks"]) == 7


def test_what_a_family_cannot_teach_is_named(nrm_command: Nrm, tmp_path: Path) -> None:
    (tmp_path / "tasks.txt").write_text("F a & F b\nF c\n")
    family = ("--family", f"file:{tmp_path / 'tasks.txt'}", "--symbols", "a,b,c,empty")
    assert "{a, b}" in nrm_command("tasks", *family).out
    assert json.loads(nrm_command("tasks", *family, "--json").out)["confusable"] == [["a", "b"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tasks", "--family", "reech"), "'reach' … mixture"),
        (("tasks", "--count", "3"), "--family NAME"),
        (("tasks", "--family", "reach", "--count", "0"), "--count … 0"),
        (("tasks", "--family", "reach-avoid", "--symbols", "a,empty"), "3 … events … 1"),
        (("tasks", "--family", "file:nowhere.txt"), "nowhere.txt"),
        (("tasks", "--family.max-steps", "5"), "--family NAME"),
        (("tasks", "--family", "reach", "--family.max-steps", "0"), "max_steps … 0"),
        (("tasks", "--family", "file:few.txt", "--family.max-steps", "5"), "'family.max_steps'"),
        (("evaluate", "nowhere", "--family", "reach", "--family.max-steps", "5"), "holds no run"),
    ],
)
def test_bad_requests(nrm_command: Nrm, arguments: tuple[str, ...], message: str) -> None:
    outcome = nrm_command(*arguments)
    assert outcome.status == 2
    assert names(outcome.err, message)


ENV = (
    *("--env", "letter", "--env.size", "4", "--env.letters", "3", "--env.steps", "15"),
    *("--total-timesteps", "300", "--num-envs", "8", "--quiet"),
)


def test_bad_families_for_training(nrm_command: Nrm, tmp_path: Path) -> None:
    """Whatever cannot be trained on leaves no folder behind; what cannot be taught is said, and goes on."""
    listed, out = tmp_path / "tasks.txt", tmp_path / "run"
    for text, message in (
        ("# nothing", "holds no formula"),
        ("F a\nF z", "F z … 'z'"),
        ("F a\na & b", "a & b … satisfied"),
        ("F a\nG !b", "G !b"),
        ("X X true", "teach nothing"),
    ):
        listed.write_text(text)
        outcome = nrm_command("train", "--tasks", f"file:{listed}", *ENV, "--out", str(out))
        assert outcome.status == 2
        assert names(outcome.err, message)
        assert not out.exists()
    listed.write_text("F a\nF(a & F b)")
    outcome = nrm_command("train", "--tasks", f"file:{listed}", *ENV, "--out", str(out))
    assert outcome.status == 0
    assert names(outcome.err, "rewards … c, empty")


def test_bad_tasks_for_an_agent_of_many(nrm_command: Nrm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "MAX_STATES", 4)
    listed = tmp_path / "tasks.txt"
    listed.write_text("F a\nF(a & F b)")
    runs = {method: str(tmp_path / method) for method in ("nrm", "rm")}
    for method, out in runs.items():
        arguments = ("--tasks", f"file:{listed}", "--method", method, *ENV)
        assert nrm_command("train", *arguments, "--out", out).status == 0
    few = {"evaluate": ("--episodes", "2"), "watch": ()}
    for command, options in few.items():
        for task, message in (
            ("F z", "'z'"),
            ("a & b", "a & b … satisfied"),
            ("G !a", "nrm train --end limit"),
            ("F(a & F(b & F(a & F b)))", "5 states … 4"),
        ):
            outcome = nrm_command(command, runs["nrm"], *options, "--task", task)
            assert outcome.status == 2
            assert names(outcome.err, message)
        confused = nrm_command(command, runs["nrm"], *options, "--task", "F c")
        assert names(confused.err, "c, empty")
        told = nrm_command(command, runs["rm"], *options, "--task", "F c")
        assert (told.status, told.err) == (0, "")  # who is told the symbols confuses none
    drawn = ("--family", "reach", "--family.max-steps", "3", "--count", "3", *few["evaluate"])
    assert json.loads(nrm_command("evaluate", runs["rm"], *drawn, "--json").out)["sampled"] is True
    assert names(nrm_command("evaluate", runs["nrm"], *drawn).err, "3 tasks … c, empty")
