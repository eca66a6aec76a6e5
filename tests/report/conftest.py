from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from nrm.agents import AgentConfig
from nrm.envs import MINECRAFT_SYMBOLS, MinecraftConfig
from nrm.logic import parse
from nrm.machines import Alphabet, Task
from nrm.report import Report, build_report
from nrm.runs import RunFolder, new_trainer, run_config, train

NASTY = "<img src=x onerror=alert(1)></script><!-- <script>alert(2)</script>"
AGENT = AgentConfig(episodes=40, environments=4, grounding_every=20, grounding_epochs=5, grounding_restarts=1)


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def run(
    path: Path,
    method: str = "nrm",
    seed: int = 0,
    *,
    name: str = "visits",
    agent: AgentConfig = AGENT,
    world: MinecraftConfig | None = None,
    stop_after: int | None = None,
    variant: str = "",
) -> Path:
    """A small run folder; with `stop_after` it is left unfinished after so many updates."""
    task = Task(parse("F pickaxe & F lava"), Alphabet.exclusive(MINECRAFT_SYMBOLS), name=name)
    config = run_config(task, world or MinecraftConfig(), method, agent, seed)
    folder = RunFolder(path)
    folder.begin(config)
    updates = iter(range(10**6))
    train(folder, new_trainer(config), interrupted=lambda: stop_after is not None and next(updates) >= stop_after)
    if variant:
        (path / "cell.json").write_text(json.dumps({"variant": variant}))
    return path


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three methods with two seeds on a task with an ugly name, another task, and folders that are not in order."""
    root = tmp_path_factory.mktemp("runs")
    for method in ("rm", "nrm", "rnn"):
        for seed in range(2):
            run(root / "ugly" / f"{method}-{seed}", method, seed, name=NASTY)
    run(root / "plain" / "nrm-0", "nrm", 0)
    run(root / "plain" / "rm-0", "rm", 0, stop_after=20)
    broken = run(root / "broken", "rm", 7)
    (broken / "metrics.csv").write_text("episode,return\nx,y\n")
    return root


@pytest.fixture(scope="session")
def report(runs: Path) -> Report:
    return build_report(runs, title=NASTY)
