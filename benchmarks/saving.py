"""What share of a long run goes into saving: a run is taken to many episodes at once, and then trained for a while.

Saving must not cost more the longer a run is. So the share at the end of a long run bounds that of the whole of it.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import torch
import tyro

from benchmarks.common import report
from nrm.agents import Trainer
from nrm.runs import RunFolder, choose_run, train


@dataclass(frozen=True)
class Config:
    """Measure saving."""

    out: Path = Path("out/bench")
    """Where the table goes."""
    episodes: tuple[int, ...] = (0, 500_000, 1_500_000)
    """How long runs are before they are measured."""
    seconds: float = 70.0
    """How long each is trained."""


class TimedFolder(RunFolder):
    """A run folder that knows how long saving took."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.saves: list[float] = []

    def save(self, trainer: Trainer, cpu_seconds: float | None = None) -> None:
        """Save, and note how long that took."""
        began = time.perf_counter()
        super().save(trainer, cpu_seconds)
        self.saves.append(time.perf_counter() - began)


def lengthened(trainer: Trainer, episodes: int) -> None:
    """Give a run the history of a long one: its own, again and again."""
    history = trainer.history
    for column in (history.returns, history.lengths, history.successes, history.steps):
        values: list[float] = column  # type: ignore[assignment]
        values.extend((values * (1 + episodes // len(values)))[: episodes - len(values)])


def measured(path: Path, episodes: int, seconds: float) -> tuple[object, ...]:
    """Episodes before, saves, seconds of one, the share of all seconds, and training steps a second."""
    folder = TimedFolder(path)
    folder.begin(choose_run("1", "map", "rm", total_episodes=10**9))
    trainer = folder.load()
    while len(trainer.history.returns) < 100:
        trainer.update()
    lengthened(trainer, episodes)
    folder.save(trainer)  # a long run has written most of its history before
    folder.saves.clear()
    began, first = time.perf_counter(), trainer.steps
    train(folder, trainer, interrupted=lambda: time.perf_counter() - began > seconds)
    passed = time.perf_counter() - began
    spent, count = sum(folder.saves), len(folder.saves)
    return episodes, count, f"{spent / count:.3f}", f"{spent / passed:.2%}", f"{(trainer.steps - first) / passed:,.0f}"


def main(config: Config) -> None:
    """Measure, print and write the table."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        rows = [measured(Path(folder) / str(count), count, config.seconds) for count in config.episodes]
    headings = ("episodes before", "saves", "seconds of one", "share of the time", "steps/s")
    report("Saving: RM, task 1, map", headings, rows, config.out, "saving")


if __name__ == "__main__":
    main(tyro.cli(Config))
