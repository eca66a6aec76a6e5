"""Mistakes that are easily made on the command line, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Nrm
from tests.said import names


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("explain", "m.json"), "'m.json'"),
        (("compile", "visit-4"), "'visit-4' … 'visit-"),
        (("compile", "F a &"), "(!, X, WX, F, G, Y, O, H)"),
        (("train", "--task", "visit-4", "--out", "x"), "'visit-4' … 'visit-"),
        (
            ("train", "--task", "1", "--method", "rm", "--grounding.every", "60", "--out", "x"),
            "'grounding' … nrm, frozen",
        ),
        (
            ("train", "--task", "1", "--unknown", "both", "--method", "nrm", "--out", "x"),
            "--method … twice",
        ),
        (("train", "--task", "1", "--grouning.every", "60", "--out", "x"), "'grouning' … 'grounding'"),
        (("train", "--task", "1", "--grounding.every", "0", "--out", "x"), "every"),
        (("train", "--task", "1", "--method", "nmr"), "'nmr' … 'nrm'"),
    ],
)
def test_what_is_said(nrm_command: Nrm, arguments: tuple[str, ...], message: str) -> None:
    refused = nrm_command(*arguments)
    assert refused.status == 2
    assert names(refused.err, message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("evaluate", "x", "--task", "F a", "--task=F b"),
            "--task … twice",
        ),
        (("evaluate", "x", "--family", "reach", "--family", "mixture"), "--family … twice"),
        (("compile", "F a", "--max-states", "9", "--max_states", "8"), "--max-states … twice"),
        (("reproduce", "--tasks", "1", "--tasks", "2"), "--tasks A B"),
        (("reproduce", "--seeds", "1", "--seeds", "2"), "--seeds A B"),
        (
            ("train", "--task", "1", "--grounding.every", "9", "--grounding.every", "8"),
            "--grounding.every … twice",
        ),
        (("train", "--env.kwargs.size", "8", "--env.kwargs.size", "9"), "--env.kwargs.size … twice"),
        (("train", "--env.kwargs", "size", "8", "--env.kwargs.n", "9"), "--env.kwargs.n … twice"),
    ],
)
def test_options_that_are_given_twice(nrm_command: Nrm, arguments: tuple[str, ...], message: str) -> None:
    refused = nrm_command(*arguments)
    assert (refused.status, refused.out) == (2, "")
    assert names(refused.err, message)


def test_a_list_takes_all_words_once_the_task_is_there(nrm_command: Nrm) -> None:
    told = nrm_command("compile", "F a", "--symbols", "a,b,c").out
    for same in (("F a", "--symbols", "a", "b", "c"), ("--symbols", "a,b,c", "F a"), ("--symbols=a,b,c", "F a")):
        assert nrm_command("compile", *same).out == told
    assert "stands behind no option" in nrm_command("compile", "--symbols", "a", "b", "F a").err


def test_options_that_may_be_given_twice(nrm_command: Nrm) -> None:
    told = nrm_command("shortcuts", "F a", "--symbols", "a,b,c", "--and", "F b", "--and", "F c")
    assert told.status == 0
    assert nrm_command("report", "nowhere", "--task", "F a", "--task", "F b").err.count("given twice") == 0


def test_a_sequence_that_one_step_satisfies_is_told(nrm_command: Nrm) -> None:
    told = nrm_command("compile", "F(key & F door)")
    assert told.status == 0
    assert told.err.startswith("nrm: warning: one step can satisfy all of F(key & F door)")
    assert nrm_command("compile", "F(key & F door)", "--symbols", "key,door").err == ""


def test_a_warning_is_told_once(nrm_command: Nrm, tmp_path: Path) -> None:
    env = (
        "--env",
        "tests.envs.own:Corridor",
        "--env.label",
        "tests.envs.own:holds",
        "--env.propositions",
        "mail",
        "desk",
        "floor",
    )
    run = (
        "--task",
        "F(mail & F desk)",
        "--method",
        "rm",
        "--total-episodes",
        "3",
        "--quiet",
        "--out",
        str(tmp_path / "run"),
    )
    assert nrm_command("train", *env, *run).err.count("nrm: warning: one step can satisfy") == 1


def test_one_and_several(nrm_command: Nrm, tmp_path: Path) -> None:
    path = tmp_path / "task.toml"
    path.write_text('formla = "F a"\n')
    assert "(keys: name, formula," in nrm_command("compile", "--task", str(path)).err
    told = nrm_command("compile", "true", "--symbols", "a,b").out
    assert "1 state, 1 symbol class, minimal" in told
    assert "1 state, 1 symbol class\n" in nrm_command("explain", "true", "--symbols", "a,b").out
    assert (
        "1 state, 1 symbol class: wrote"
        in nrm_command("compile", "true", "--symbols", "a", "--out", str(tmp_path / "m.json")).out
    )
    assert "treats both symbols alike" in nrm_command("shortcuts", "true", "--symbols", "a,b").out
    assert "Only the identity is a renaming of propositions" in nrm_command("shortcuts", "F(a & !b)").out
