"""Who names a folder that is no run is told what is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import nrm
from nrm.errors import FileError


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("runs", "runs is no run itself, but holds the runs depot, office; name one, such as runs/depot"),
        ("grid", "grid is no run itself, but holds the run runs/rm-1; name one, such as grid/runs/rm-1"),
        ("runs/depto", "runs/depto holds no run (there is no such folder); did you mean 'runs/depot'?"),
        ("runs/zzz", "runs/zzz holds no run (there is no such folder); runs there: runs/depot, runs/office"),
        ("depot.py", "depot.py is a file, and a run is a folder; name the folder of a run"),
        ("runs/depot/config.json", "is a file, and a run is a folder; did you mean 'runs/depot'?"),
        ("models", "models holds no run (there is no config.json); train one with 'nrm train --task 1 --out models'"),
        ("far/away", "holds no run (there is no such folder); train one with 'nrm train --task 1 --out far/away'"),
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
    assert message in str(told.value)
