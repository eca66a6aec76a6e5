"""What is made of a grid's runs, when some of them cannot be read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nrm.cli.grids import finish
from nrm.sweeps import Outcome
from tests.results.folders import BREAKAGES, lose_method, run
from tests.said import names


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("grid")
    for method in ("rm", "nrm"):
        run(root / "runs" / method, method, episodes=10)
    return root


def test_broken_runs_cost_only_themselves(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "grid"
    shutil.copytree(store, root)
    for what, (break_it, _) in BREAKAGES.items():
        shutil.copytree(root / "runs" / "rm", root / "runs" / what)
        break_it(root / "runs" / what)
    shutil.copytree(root / "runs" / "rm", root / "runs" / "method gone")
    lose_method(root / "runs" / "method gone")
    assert finish(root, Outcome(done=["nrm", "rm"])) == 1
    assert f"{len(BREAKAGES) + 1} failed:\n" in capsys.readouterr().out
    for name in ("failed.md", "results.md", "index.html"):
        text = (root / name).read_text()
        assert all(names(text, message) for _, message in BREAKAGES.values())
        assert "only its numbers are shown" in text
    assert [line.split(",")[3] for line in (root / "results.csv").read_text().splitlines()] == [
        *("method", "rm", "nrm", "nowhere:METHOD")
    ]
    assert (root / "figures" / "tasks-map.png").exists()


def test_copies_are_named_and_counted_once(store: Path, tmp_path: Path) -> None:
    root = tmp_path / "grid"
    shutil.copytree(store, root)
    shutil.copytree(root / "runs" / "rm", root / "runs" / "rm-again")
    assert finish(root, Outcome()) == 0
    assert ",rm,1,0," in (root / "results.csv").read_text()
    for name in ("results.md", "index.html"):
        assert "it is counted once" in (root / name).read_text()


def test_the_cost_is_summed_by_method(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "grid"
    shutil.copytree(store, root)
    cost = (root / "runs" / "rm" / "cost.json").read_text()
    spent = json.loads(cost)["cpu_seconds"]
    (root / "runs" / "rm" / "cost.json").write_text(json.dumps({"cpu_seconds": 90.0}))
    (root / "runs" / "nrm" / "cost.json").write_text(json.dumps({"cpu_seconds": 150.0}))
    assert spent > 0
    finish(root, Outcome())
    assert "CPU minutes: 4.0 (RM 1.5, NRM 2.5)\n" in capsys.readouterr().out


def test_the_report_tells_how_far_it_is_in_a_terminal(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "grid"
    shutil.copytree(store, root)
    monkeypatch.setenv("FORCE_COLOR", "1")
    finish(root, Outcome())
    assert "groups of runs" in capsys.readouterr().err
    finish(root, Outcome(), quiet=True)
    assert capsys.readouterr().err == ""
