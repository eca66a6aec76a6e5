"""`nrm evaluate` leaves out what cannot be known, and says so."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nrm.agents import Evaluation, evaluate
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
    assert outcome.err == "nrm: accuracy up to equivalence is left out: 933,120 symmetries are too many\n"
    data = json.loads(outcome.out, parse_constant=pytest.fail)
    for found in (data, data["sampled"]):
        assert found.pop("grounding_accuracy_modulo_shortcuts") is None
        assert found.pop("state_accuracy_modulo_shortcuts") is None
    assert data.items() <= {**known, "sampled": data["sampled"]}.items()
    assert "nan" not in nrm_command("evaluate", folder, "--episodes", "2").out


def test_an_agent_without_its_training_is_not_called_unfinished(nrm_command: Nrm, tmp_path: Path) -> None:
    folder = run(tmp_path / "a", "rm")
    (tmp_path / "copy").mkdir()
    for name in ("config.json", "policy.safetensors"):
        shutil.copy(folder / name, tmp_path / "copy")
    copied = nrm_command("evaluate", str(tmp_path / "copy"), "--episodes", "2")
    assert (copied.status, copied.err) == (0, "")


@pytest.mark.parametrize(("greedy", "sampled", "told"), [(0.0, 1.0, True), (0.8, 0.95, False), (1.0, 0.0, False)])
def test_best_actions_that_do_far_worse_than_drawn_ones_are_told(
    nrm_command: Nrm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, greedy: float, sampled: float, told: bool
) -> None:
    def played(*arguments: Any, **options: Any) -> Evaluation:
        return replace(evaluate(*arguments, **options), success_rate=greedy if options["greedy"] else sampled)

    monkeypatch.setattr("nrm.agents.evaluate", played)
    out = nrm_command("evaluate", str(run(tmp_path / "a", "rm", episodes=5)), "--episodes", "2").out
    assert ("far less often than sampled ones (0.0% and 100.0%)" in out) is told
    assert ("report the sampled result" in out) is told
