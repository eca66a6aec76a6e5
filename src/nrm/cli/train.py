"""`nrm train`: train an agent on a task in a world."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from nrm.cli.options import UsageError
from nrm.cli.terminal import interrupt_flag
from nrm.errors import NrmError, describe

if TYPE_CHECKING:
    from nrm.agents import Trainer
    from nrm.runs import RunConfig, RunFolder

_CHOOSERS = ("world", "method", "algorithm", "preset")
"""Options that decide which settings there are."""


@dataclass(frozen=True)
class Train:
    """Train an agent on a task. A run can be interrupted, and goes on exactly with --resume.

    Settings follow the world, the method and the algorithm: --help lists those of the ones that are named beside it.
    """

    task: str | None = None
    """A paper task (1 to 8, or its name), a formula over the world's symbols, or a task file (.toml). Some worlds have
    a ready one, which is then the default."""
    world: str = "map"
    """What the agent sees: map (its position), image (64x64 pixels), minigrid:ID (the image of one of MiniGrid's
    environments, such as minigrid:MiniGrid-LavaGapS5-v0), or module:name."""
    method: str = "nrm"
    """rm (is told the true symbols), nrm (learns them), rnn (knows no task), or module:name."""
    algorithm: str = "auto"
    """How the agent learns: a2c, ppo, module:name, or auto, which goes by the kind of world."""
    episodes: int = 10_000
    """How many episodes to train for."""
    environments: int | None = None
    """Environments that step side by side; the preset or the algorithm says otherwise."""
    seed: int = 0
    """Equal seeds give equal runs."""
    out: Path | None = None
    """The folder for the run: configuration, metrics, checkpoints."""
    preset: str = "default"
    """The settings to start from: default (ours) or paper (its hyper-parameters)."""
    end: Literal["outcome", "absorbing", "limit"] = "outcome"
    """When the task ends an episode: outcome (when it is done or lost), absorbing (where no symbol changes anything any
    more), or limit (at the limit of steps only, for tasks such as G(pickaxe -> F gem))."""
    resume: Path | None = None
    """Go on with the run in this folder."""
    quiet: bool = False
    """No progress bar."""

    def run(self) -> int:
        """Train to the end, or until interrupted."""
        import torch

        from nrm.files import remove_leftovers
        from nrm.runs import RunFolder, train
        from nrm.runs.lock import locked

        # The networks are small: more threads only get into each other's way.
        torch.set_num_threads(1)
        if self.resume is not None:
            if self != type(self)(resume=self.resume, quiet=self.quiet):
                raise UsageError("--resume goes on with the run as it was begun; drop the other options")
            folder = RunFolder(self.resume)
            folder.config()
        else:
            if self.out is None:
                raise UsageError("say where the run goes: --out DIR")
            folder = RunFolder(self.out)
            config = self._config()
            try:
                config.build_trainer()  # what cannot be built leaves no folder behind
            except NrmError:
                raise
            except Exception as error:
                if not any(":" in name for name in (self.method, self.algorithm, self.world)):
                    raise
                raise UsageError(f"a module of yours failed: {describe(error)}") from error
            folder.begin(config)
        with locked(folder.path):
            remove_leftovers(folder.path)
            trainer = folder.load()
            if trainer.done:
                folder.save(trainer)  # metrics that were lost or damaged are written again
                print(f"the run in {folder.path} is done already")
            else:
                with interrupt_flag() as interrupted, _progress(trainer, self.quiet) as progress:
                    train(folder, trainer, progress=progress, interrupted=interrupted)
        _summarise(trainer, folder)
        return 0 if trainer.done else 130

    def _config(self) -> RunConfig:
        from nrm.runs import choose_run

        return choose_run(
            self.task,
            self.world,
            self.method,
            self.seed,
            algorithm=self.algorithm,
            preset_name=self.preset,
            episodes=self.episodes,
            environments=self.environments,
            end=self.end,
            sections=_sections(self),
        )


def train_command(arguments: Sequence[str]) -> type[Train]:
    """`Train` with the settings of the world, method, algorithm and preset that the arguments name, by section."""
    from nrm.runs.sections import default_sections

    named: dict[str, str] = {name: getattr(Train, name) for name in _CHOOSERS}
    for place, argument in enumerate(arguments):
        name, equals, value = argument.removeprefix("--").partition("=")
        if name in named and argument.startswith("--"):
            named[name] = value if equals else arguments[place + 1] if place + 1 < len(arguments) else ""
    sections = default_sections(named["world"], named["method"], named["algorithm"], named["preset"])
    columns = [
        (f"{name}_section", Annotated[type(section), tyro.conf.arg(name=name)], field(default=section))
        for name, section in sections.items()
    ]
    made = make_dataclass("Train", columns, bases=(Train,), frozen=True)
    made.__doc__ = Train.__doc__
    return made


def _sections(command: Train) -> dict[str, Any] | None:
    """The settings that the command line has made, by section."""
    ending = "_section"
    found = {item.name: getattr(command, item.name) for item in fields(command) if item.name.endswith(ending)}
    return {name.removesuffix(ending): value for name, value in found.items()} or None


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
    began, first = time.monotonic(), trainer.steps
    with Progress(*columns, console=console, refresh_per_second=4) as bar:
        job = bar.add_task("train", total=trainer.episodes, rate=0.0, mean=0.0, ground="")

        def show(now: Trainer) -> None:
            seconds = max(time.monotonic() - began, 1e-9)
            accuracy = now.history.accuracy
            bar.update(
                job,
                completed=len(now.history.returns),
                rate=(now.steps - first) / seconds,
                mean=now.history.mean_return(),
                ground=f"grounding {accuracy[-1][3]:.0%}" if accuracy else "",
            )

        yield show


def _summarise(trainer: Trainer, folder: RunFolder) -> None:
    history = trainer.history
    done = len(history.returns)
    print(
        f"{done} of {trainer.episodes} episodes; mean return of the last {min(done, 100)}: {history.mean_return():.1f}"
    )
    if history.accuracy:
        _, plain, _, modulo = history.accuracy[-1]
        print(f"grounding accuracy {plain:.1%} plain, {modulo:.1%} modulo shortcuts")
    if (borders := trainer.borders()) is not None:
        print(f"within {borders.within:g} of a border between symbols {borders.near:.1%}, elsewhere {borders.far:.1%}")
    if history.decisions:
        last = history.decisions[-1]
        print(f"what is left to learn: {last.verdict} ({last.reason})")
    if trainer.meter.note:
        print(trainer.meter.note)
    if trainer.done:
        print(f"see it with: nrm evaluate {folder.path}, nrm watch {folder.path}")
    else:
        print(f"saved; go on with: nrm train --resume {folder.path}")
