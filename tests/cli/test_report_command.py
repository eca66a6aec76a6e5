"""`nrm report` says what it wrote and what it could not use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Nrm
from tests.results.folders import many_run, run


def test_a_report(nrm_command: Nrm, tmp_path: Path) -> None:
    run(tmp_path / "runs" / "a", "rm", 0)
    run(tmp_path / "runs" / "b", "rm", 1, stop_after=20)
    broken = run(tmp_path / "runs" / "c", "rm", 2)
    (broken / "metrics.csv").write_text("x\ny\n")
    outcome = nrm_command("report", str(tmp_path / "runs"))
    assert outcome.status == 0
    assert outcome.out.startswith("2 runs, 1 task, 1 environment: wrote ")
    assert "nrm: unfinished: " in outcome.err
    assert f"nrm: problem: {broken}: " in outcome.err
    assert "<title>" in (tmp_path / "runs" / "index.html").read_text()
    elsewhere = nrm_command("report", str(tmp_path / "runs"), "--out", str(tmp_path / "x.html"))
    assert elsewhere.status == 0
    assert (tmp_path / "x.html").exists()


def test_families_are_counted_as_such(nrm_command: Nrm, tmp_path: Path) -> None:
    many_run(tmp_path / "many", "rm")
    said = ("report", str(tmp_path))
    assert nrm_command(*said).out.startswith("1 run, 1 task distribution, 1 environment: wrote ")
    run(tmp_path / "one", "rm", 0)
    assert nrm_command(*said).out.startswith("2 runs, 1 task, 1 task distribution, 2 environments: wrote ")


def test_bad_input(nrm_command: Nrm, tmp_path: Path) -> None:
    for arguments, message in (
        ([str(tmp_path)], "there are no runs below"),
        ([str(tmp_path / "nowhere")], "there is no folder"),
    ):
        outcome = nrm_command("report", *arguments)
        assert outcome.status == 2
        assert outcome.err.startswith("nrm: error: ")
        assert message in outcome.err
    run(tmp_path / "a", "rm", 0)
    outcome = nrm_command("report", str(tmp_path), "--out", str(tmp_path))
    assert outcome.status == 2
    assert "it is a folder" in outcome.err


def test_progress_of_each_stage(nrm_command: Nrm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path / "a", "rm", 0)
    run(tmp_path / "b", "memoryless", 0)
    many_run(tmp_path / "many", "rm")
    said = ("report", str(tmp_path), "--count", "2")
    assert nrm_command(*said).err == ""  # no terminal, so nobody looks at it
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    ended = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", nrm_command(*said).err).splitlines()[-3:]
    for line, stage, count in zip(
        ended, ("reading runs", "trying formulas", "groups of runs"), ("3/3", "1/1", "3/3"), strict=True
    ):
        assert line.startswith(stage)
        assert count in line
