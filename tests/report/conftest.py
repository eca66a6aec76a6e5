from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import nrm.report.trials
from nrm.report import Page, build_report
from tests.results.folders import run

NASTY = "<img src=x onerror=alert(1)></script><!-- <script>alert(2)</script>"


@pytest.fixture(scope="package", autouse=True)
def _few_episodes() -> Iterator[None]:
    """Agents are tried on five episodes of each formula, which is as good a page as one of 25."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(nrm.report.trials, "EPISODES", 5)
        yield


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three methods with two seeds on a task with an ugly name, others, and folders that are not in order."""
    root = tmp_path_factory.mktemp("runs")
    for method in ("rm", "nrm", "rnn"):
        for seed in range(2):
            run(root / "ugly" / f"{method}-{seed}", method, seed, name=NASTY)
    run(root / "plain" / "nrm-0", "nrm", 0, formula="F pickaxe & F gem")
    run(root / "plain" / "rm-0", "rm", 0, formula="F pickaxe & F gem", stop_after=20)
    broken = run(root / "broken", "rm", 7)
    (broken / "metrics.csv").write_text("episode,return\nx,y\n")
    return root


@pytest.fixture(scope="session")
def page(runs: Path) -> Page:
    return build_report(runs, title=NASTY)
