"""Figures need no exact references in tests of what they draw."""

from __future__ import annotations

import pytest

from nrm.envs import WithoutMemory
from nrm.figures import curves


@pytest.fixture(autouse=True)
def cheap_references(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "without_memory", lambda _: WithoutMemory(30.0, 60.0))
