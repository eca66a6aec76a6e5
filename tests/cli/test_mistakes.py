"""Mistakes that are easily made on the command line, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Nrm


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("compile", "--task", "m.json"), "'m.json' is a machine file, not task; compile, check, shortcuts and train"),
        (("compile", "m.hoa"), "is a machine file, not a formula"),
        (("compile", "t.toml"), "is a task file, not a formula; write --file t.toml"),
        (("train", "--task", "visit-4", "--out", "x"), "unknown paper task 'visit-4'; did you mean 'visit-"),
        (
            ("train", "--task", "1", "--method", "rm", "--grounding.every", "60", "--out", "x"),
            "--grounding.every: the section 'grounding' is for the method nrm, which is not the one of this run",
        ),
        (
            ("train", "--task", "1", "--unknown", "both", "--method", "nrm", "--out", "x"),
            "--unknown both is the method 'both', not 'nrm'; give one of them",
        ),
        (("train", "--task", "1", "--grouning.every", "60", "--out", "x"), "unknown section 'grouning'; did you mean"),
        (("train", "--task", "1", "--grounding.every", "0", "--out", "x"), "grounding.every must be positive, not 0"),
    ],
)
def test_what_is_said(nrm_command: Nrm, arguments: tuple[str, ...], message: str) -> None:
    refused = nrm_command(*arguments)
    assert refused.status == 2
    assert message in refused.err


def test_a_sequence_that_one_step_satisfies_is_told(nrm_command: Nrm) -> None:
    told = nrm_command("compile", "F(key & F door)")
    assert told.status == 0
    assert told.err.startswith("nrm: warning: one step can satisfy F(key & F door) whole")
    assert nrm_command("compile", "F(key & F door)", "--symbols", "key,door").err == ""


def test_a_warning_is_told_once(nrm_command: Nrm, tmp_path: Path) -> None:
    world = (
        "--world",
        "tests.envs.own:Corridor",
        "--label",
        "tests.envs.own:holds",
        "--propositions",
        "mail,desk,floor",
    )
    run = ("--task", "F(mail & F desk)", "--method", "rm", "--episodes", "3", "--quiet", "--out", str(tmp_path / "run"))
    assert nrm_command("train", *world, *run).err.count("nrm: warning: one step can satisfy") == 1
