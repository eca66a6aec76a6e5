"""`nrm train`: train an agent on a task in a world."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from nrm.cli.interrupts import interrupt_flag
from nrm.cli.options import UsageError

if TYPE_CHECKING:
    from nrm.agents import Trainer
    from nrm.lab import RunConfig, RunFolder


@dataclass(frozen=True)
class Train:
    """Train RM, NRM or RNN on a task. A run can be interrupted, and goes on exactly with --resume."""

    task: str | None = None
    """A paper task (1 to 8, or its name), a formula over the world's symbols, or a task file (.toml). A MiniGrid world
    may have a ready one, which is then the default."""
    world: str = "map"
    """What the agent sees: map (its position), image (64x64 pixels), or minigrid:ID, the image of one of MiniGrid's
    environments, such as minigrid:MiniGrid-LavaGapS5-v0."""
    method: str = "nrm"
    """rm (is told the true symbols), nrm (learns them) or rnn (knows no task)."""
    episodes: int | None = None
    """How many episodes to train for; the preset says otherwise."""
    seed: int = 0
    """Equal seeds give equal runs."""
    out: Path | None = None
    """The folder for the run: configuration, metrics, checkpoints."""
    preset: str = "default"
    """default (ours) or paper (its hyper-parameters)."""
    layout: Literal["fixed", "seed", "episode"] = "fixed"
    """Whether items lie where the paper has them, or are drawn once per seed or anew every episode."""
    end: Literal["outcome", "absorbing", "limit"] = "outcome"
    """When the task ends an episode: outcome (when it is done or lost), absorbing (where no symbol changes anything any
    more), or limit (at the limit of steps only, for tasks such as G(pickaxe -> F gem))."""
    settings: Annotated[tuple[str, ...], tyro.conf.arg(name="set"), tyro.conf.UseAppendAction] = ()
    """Change a setting of the preset, such as --set learning_rate=0.002; may be given several times."""
    resume: Path | None = None
    """Go on with the run in this folder."""
    quiet: bool = False
    """No progress bar."""

    def run(self) -> int:
        """Train to the end, or until interrupted."""
        import torch

        from nrm.lab import RunFolder, new_trainer, train

        # The networks are small: more threads only get into each other's way.
        torch.set_num_threads(1)
        if self.resume is not None:
            if self != Train(resume=self.resume, quiet=self.quiet):
                raise UsageError("--resume goes on with the run as it was begun; drop the other options")
            folder = RunFolder(self.resume)
            trainer = folder.load()
        else:
            if self.out is None:
                raise UsageError("say where the run goes: --out DIR")
            folder = RunFolder(self.out)
            config = self._config()
            trainer = new_trainer(config)
            folder.begin(config)
        if trainer.done:
            print(f"the run in {folder.path} is done already")
        else:
            with interrupt_flag() as interrupted, _progress(trainer, self.quiet) as progress:
                train(folder, trainer, progress=progress, interrupted=interrupted)
        _summarise(trainer, folder)
        return 0 if trainer.done else 130

    def _config(self) -> RunConfig:
        from nrm.lab import choose_run

        return choose_run(
            self.task,
            self.world,
            self.method,
            self.seed,
            preset_name=self.preset,
            episodes=self.episodes,
            layout=self.layout,
            end=self.end,
            settings=_pairs(self.settings),
        )


def _pairs(settings: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--set takes name=value, not '{text}'")
        pairs[name.strip().replace("-", "_")] = value.strip()
    return pairs


@contextmanager
def _progress(trainer: Trainer, quiet: bool) -> Iterator[Callable[[Trainer], None] | None]:
    """A live line: episodes, steps per second, mean return of the last 100, grounding accuracy, time left."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.completed}/{task.total} episodes"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[rate]:>7,.0f} steps/s  return {task.fields[mean]:6.1f}  {task.fields[ground]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    size = trainer.config.window * trainer.config.environments
    began, first = time.monotonic(), trainer.updates
    with Progress(*columns, console=console, refresh_per_second=4) as bar:
        job = bar.add_task("train", total=trainer.config.episodes, rate=0.0, mean=0.0, ground="")

        def show(now: Trainer) -> None:
            seconds = max(time.monotonic() - began, 1e-9)
            accuracy = now.history.accuracy
            bar.update(
                job,
                completed=len(now.history.returns),
                rate=(now.updates - first) * size / seconds,
                mean=now.history.mean_return(),
                ground=f"grounding {accuracy[-1][3]:.0%}" if accuracy else "",
            )

        yield show


def _summarise(trainer: Trainer, folder: RunFolder) -> None:
    history = trainer.history
    done = len(history.returns)
    print(
        f"{done} of {trainer.config.episodes} episodes; "
        f"mean return of the last {min(done, 100)}: {history.mean_return():.1f}"
    )
    if history.accuracy:
        _, plain, _, modulo = history.accuracy[-1]
        print(f"grounding accuracy {plain:.1%} plain, {modulo:.1%} modulo shortcuts")
    if trainer.done:
        print(f"see it with: nrm evaluate {folder.path}, nrm watch {folder.path}")
    else:
        print(f"saved; go on with: nrm train --resume {folder.path}")
