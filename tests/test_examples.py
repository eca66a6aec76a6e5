"""The examples run, in a small version."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import pytest
import torch

import nrm.report.trials

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize(
    ("name", "options", "written"),
    [
        ("custom_environment.py", ["--steps", "1500"], "corridor.png"),
        ("demo.py", ["--episodes", "130", "--seeds", "1", "--steps", "600"], "index.html"),
        ("minigrid_ppo.py", ["--steps", "1024"], "agent.zip"),
        ("learned_machine.py", ["--task", "F pickaxe", "--episodes", "15", "--states", "2"], "learned.svg"),
        ("offline_grounding.py", ["--task", "F pickaxe", "--episodes", "40"], "log.npz"),
        ("own_task.py", [], "delivery.svg"),
        ("paper_tasks.py", [], "task-8.svg"),
        ("environments.py", [], "world-items.png"),
    ],
)
def test_examples_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, options: list[str], written: str
) -> None:
    """In this process, as the libraries take longer to load than most examples to run."""
    torch.set_num_threads(1)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    monkeypatch.setattr(sys, "argv", [name, "--out", str(tmp_path), *options])
    monkeypatch.setattr(nrm.report.trials, "EPISODES", 2)
    try:
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise
    assert (tmp_path / written).stat().st_size > 1000


def test_every_example_is_run() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {
        "custom_environment.py",
        "demo.py",
        "learned_machine.py",
        "minigrid_ppo.py",
        "offline_grounding.py",
        "own_task.py",
        "paper_tasks.py",
        "environments.py",
    }
