"""Golden runs: short runs of every method and world, compared byte by byte with those of another checkout.

Record them before a change (`python -m benchmarks.golden --out out/golden-before`), and after it again with
`--against out/golden-before`. Metrics depend on the processor and the version of PyTorch: compare on one machine.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import tyro

from nrm.runs import RunConfig, RunFolder, choose_run, train

FILES = ("metrics.csv", "grounding.csv")


@dataclass(frozen=True)
class Config:
    """Record golden runs, and compare them."""

    out: Path = Path("out/golden")
    """Where the runs go; those that are there already are not made again."""
    against: Path | None = None
    """Runs recorded before. Exit status 1 where a file differs."""


def runs() -> Iterator[tuple[str, RunConfig]]:
    """The runs, by name."""
    for method in ("rm", "nrm", "rnn"):
        for task in ("1", "4", "6"):
            yield f"map-{task}-{method}", choose_run(task, "map", method, episodes=600)
        yield f"map-8-{method}-seed3", choose_run("8", "map", method, 3, episodes=400)
        for task in ("1", "5"):
            yield f"image-{task}-{method}", choose_run(task, "image", method, episodes=300)
        drawn: Any = {"world": {"layout": "episode"}}
        yield f"drawn-1-{method}", choose_run("1", "image", method, algorithm="a2c", episodes=100, settings=drawn)
        yield f"paper-1-{method}", choose_run("1", "map", method, episodes=150, preset_name="paper")
        yield f"lava-{method}", choose_run(None, "minigrid:MiniGrid-LavaGapS5-v0", method, episodes=150)
    opened = {"grounding": {"belief": "open", "objective": "marginal"}}
    yield "open-1-nrm", choose_run("1", "map", "nrm", episodes=300, settings=opened)
    yield "door-nrm", choose_run(None, "minigrid:MiniGrid-DoorKey-5x5-v0", "nrm", episodes=60)
    yield "limit-nrm", choose_run("G(pickaxe -> F gem)", "map", "nrm", episodes=60, end="limit")


def record(folder: RunFolder, config: RunConfig) -> None:
    """Make a run in two parts: it must not matter that it was interrupted."""
    folder.begin(config)
    half = config.episodes // 2
    trainer = folder.load()
    train(folder, trainer, interrupted=lambda: len(trainer.history.returns) >= half)
    train(folder, folder.load())


def main(config: Config) -> int:
    """Record and compare."""
    torch.set_num_threads(1)
    differing = 0
    for name, run in runs():
        folder = RunFolder(config.out / name)
        if not folder.exists:
            record(folder, run)
        if config.against is None:
            print(f"{name}: recorded", flush=True)
            continue
        files = [file for file in FILES if (config.against / name / file).exists()]
        wrong = [file for file in files if _bytes(folder.path / file) != _bytes(config.against / name / file)]
        differing += bool(wrong or not files)
        told = "not recorded before" if not files else f"{', '.join(wrong)} differ" if wrong else "equal"
        print(f"{name}: {told}", flush=True)
    return 1 if differing else 0


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


if __name__ == "__main__":
    sys.exit(main(tyro.cli(Config)))
