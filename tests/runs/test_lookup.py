"""Who names a folder that is no run is told what is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import nrm
from nrm.errors import FileError
from tests.said import names


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("runs", "runs … depot, office … runs/depot"),
        ("grid", "grid … runs/rm-1 … grid/runs/rm-1"),
        ("runs/depto", "runs/depto … 'runs/depot'"),
        ("runs/zzz", "runs/zzz … runs/depot, runs/office"),
        ("depot.py", "depot.py … file … folder"),
        ("runs/depot/config.json", "file … 'runs/depot'"),
        ("models", "models … config.json … 'nrm train --task 1 --out models'"),
        ("far/away", "'nrm train --task 1 --out far/away'"),
    ],
)
def test_what_is_there_instead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, message: str) -> None:
    for name in ("runs/depot", "runs/office", "grid/runs/rm-1", "models/other"):
        os.makedirs(tmp_path / name)
        (tmp_path / name / "config.json").write_text("{}")
        if not name.startswith("models"):  # not ours
            (tmp_path / name / "versions.json").write_text("{}")
    (tmp_path / "depot.py").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError) as told:
        nrm.load_run(named)
    assert names(str(told.value), message)
