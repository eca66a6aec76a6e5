"""The examples run, in a small version."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
def test_examples_run(tmp_path: Path, name: str, options: list[str], written: str) -> None:
    command = [sys.executable, str(EXAMPLES / name), "--out", str(tmp_path), *options]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
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
