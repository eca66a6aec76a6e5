"""Warnings as people see them."""

from __future__ import annotations

import pytest

from nrm.errors import NrmWarning, ShownWarnings
from nrm.sweeps.grid_file import grid_words


def test_each_is_shown_once_ours_in_our_words(capsys: pytest.CaptureFixture[str]) -> None:
    shown = ShownWarnings(grid_words)
    for _ in range(2):
        shown.show(NrmWarning("set a limit: --env.steps 200"), NrmWarning, "a.py", 3)
        shown.show("old: --env.steps 200", DeprecationWarning, "b.py", 4)
    assert capsys.readouterr().err.splitlines() == [
        "nrm: warning: set a limit: settings.env.steps 200",
        "nrm: warning: old: --env.steps 200 (DeprecationWarning, b.py, line 4)",
    ]
    ShownWarnings().show(NrmWarning("set a limit: --env.steps 200"), NrmWarning, "a.py", 3)
    assert capsys.readouterr().err == "nrm: warning: set a limit: --env.steps 200\n"
