"""`nrm evaluate` leaves out what cannot be known, and says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nrm.errors import LimitError
from nrm.machines import MooreMachine
from tests.cli.conftest import Nrm
from tests.results.folders import run


def test_a_task_with_too_many_symmetries(nrm_command: Nrm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(run(tmp_path / "a", "nrm", episodes=5))
    known = json.loads(nrm_command("evaluate", folder, "--episodes", "2", "--json").out)

    def too_many(machine: MooreMachine) -> None:
        raise LimitError("933,120 symmetries are too many")

    monkeypatch.setattr("nrm.tracking.accuracy.shortcuts", too_many)
    outcome = nrm_command("evaluate", folder, "--episodes", "2", "--json")
    assert outcome.err == "nrm: accuracy modulo shortcuts is left out: 933,120 symmetries are too many\n"
    data = json.loads(outcome.out, parse_constant=pytest.fail)
    for found in (data, data["sampled"]):
        assert found.pop("grounding_accuracy_modulo_shortcuts") is None
        assert found.pop("state_accuracy_modulo_shortcuts") is None
    assert data.items() <= {**known, "sampled": data["sampled"]}.items()
    assert "nan" not in nrm_command("evaluate", folder, "--episodes", "2").out
