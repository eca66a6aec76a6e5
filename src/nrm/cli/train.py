"""`nrm train`: train an agent on a task in an environment."""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from nrm.cli.arguments import Arguments, Count, Mark, Settings, UsageError
from nrm.cli.helping import print_settings
from nrm.cli.learned import learned_lines
from nrm.cli.options import Formula, Logic, formula_option
from nrm.cli.tasks import alone_note
from nrm.cli.terminal import duration, interrupt_flag, progress_bars
from nrm.errors import NrmError, NrmWarning, describe, listing
from nrm.logic import DEFAULT_LOGIC
from nrm.machines import is_machine_file

if TYPE_CHECKING:
    from nrm.agents import Trainer
    from nrm.runs import RunConfig, RunFolder


@dataclass(frozen=True)
class Train:
    """Train an agent on a task. A run can be interrupted, and goes on exactly with --resume.

    --help-all also lists the settings of the environment, method and algorithm that are named beside it; with --recipe,
    --help shows the recipe.

    For example:
      nrm train --task "F gem" --out runs/gem
      nrm train --env letter --tasks mixture --out runs/letters
      nrm train --resume runs/gem
    """

    task: Formula = None
    """A paper task (1 to 8, or its name), a formula, or a task file (.toml)."""
    machine: Annotated[str | None, Mark("FILE")] = None
    """A machine file instead of a task: .json, .dot, .hoa or .txt."""
    logic: Logic = DEFAULT_LOGIC
    """The language of the formula: ltlf, ldlf, ppltl, re, or module:name."""
    tasks: Annotated[str | None, Mark("FAMILY")] = None
    """Many tasks, sampled anew for every episode: a family (see nrm tasks), file:PATH, or module:name."""
    env: Annotated[str, Mark("ENV")] = "map"
    """map, image, letter, flat, robot, minigrid:ID, gym:ID, or module:name of your own."""
    method: Annotated[str, Mark("METHOD")] = "nrm"
    """rm (is given the true symbols), nrm (learns them), automata-learning (is given them, learns the task),
    pure-learning (learns both), rnn, memoryless, or module:name."""
    algorithm: Annotated[str, Mark("NAME")] = "auto"
    """a2c, ppo, module:name, or auto, which goes by the environment."""
    recipe: Annotated[str, Mark("RECIPE")] = "auto"
    """Settings to start from: paper, another recipe, a TOML file, none, or auto (the environment's own)."""
    grounder: Annotated[Path | None, Mark("RUN")] = None
    """A run whose grounder to begin with, on the same symbols and observations."""
    total_episodes: Count | None = None
    """Episodes to train for; 10,000 when absent."""
    total_timesteps: Count | None = None
    """Steps of all environments to train for, instead of episodes."""
    num_envs: Count | None = None
    """Environments that step side by side; the recipe or the algorithm says."""
    seed: int = 0
    """Equal seeds give equal runs."""
    device: Annotated[str | None, Mark("DEVICE")] = None
    """cpu (the default), cuda, cuda:NUMBER or auto."""
    out: Annotated[Path | None, Mark("RUN")] = None
    """The folder for the run: configuration, metrics, checkpoints (required, unless --resume names one)."""
    end: Literal["outcome", "absorbing", "limit"] = "outcome"
    """When the task ends an episode: when it is done or lost, when no symbol matters any more, or at the step limit."""
    resume: Annotated[Path | None, Mark("RUN")] = None
    """Go on with the run in this folder; a larger --total-episodes or --total-timesteps extends it."""
    quiet: bool = False
    """No progress bar."""
    settings: Settings = field(default_factory=dict)

    def run(self) -> int:
        """Train to the end, or until interrupted."""
        import torch

        from nrm.files import remove_leftovers
        from nrm.runs import locked, train

        # The networks are small: more threads only get into each other's way.
        torch.set_num_threads(1)
        folder, trainer = self._new() if self.resume is None else (self._resumed(self.resume), None)
        with locked(folder.path), folder.undone_on_failure(new=self.resume is None):
            remove_leftovers(folder.path)
            if trainer is None:
                folder.extend(self.total_episodes, self.total_timesteps)
                trainer = folder.load(self.device)
            if trainer.done:
                folder.save(trainer)  # what a kill kept from being written after the checkpoint
                print(f"the run in {folder.path} is done already; {_way_on(folder)}")
            else:
                with interrupt_flag() as interrupted, _progress(trainer, self.quiet) as progress:
                    train(folder, trainer, progress=progress, interrupted=interrupted)
        _summarise(trainer, folder)
        return 0 if trainer.done else 130

    def _new(self) -> tuple[RunFolder, Trainer]:
        """The folder of a new run, and its trainer. What cannot be built leaves no folder behind."""
        from nrm.runs import RunFolder, check_teaching

        if self.out is None:
            raise UsageError("say where the run goes: --out DIR")
        folder = RunFolder(self.out)
        config = self._config()
        if config.tasks is not None:
            print(f"drawing tasks of the family {config.tasks} …", file=sys.stderr, flush=True)
            if note := alone_note(config.settings["family"], config.alphabet):
                print(f"nrm: {note}", file=sys.stderr, flush=True)
        try:
            trainer = folder.begin(config)
        except NrmError:
            raise
        except Exception as error:
            if not any(":" in name for name in (self.method, self.algorithm, self.env)):
                raise
            raise UsageError(f"a module of yours failed: {describe(error)}") from error
        for names in check_teaching(config):
            warnings.warn(
                f"however long one trains, the rewards of these tasks cannot tell apart {listing(names)}; further "
                "tasks may (nrm tasks --family NAME)",
                NrmWarning,
                stacklevel=2,
            )
        return folder, trainer

    def _resumed(self, path: Path) -> RunFolder:
        """The folder of a run to go on with, once the options are seen to ask for nothing else."""
        from nrm.runs import RunFolder
        from nrm.sweeps import CELL_FILE

        kept = {name: getattr(self, name) for name in ("quiet", "total_episodes", "total_timesteps", "device")}
        if self != type(self)(resume=path, **kept):
            raise UsageError(
                "--resume goes on with the run as it was begun; drop the other options (--total-episodes and "
                "--total-timesteps may say that it shall be longer, --device that it goes on elsewhere)"
            )
        folder = RunFolder(path)
        folder.config()
        if (self.total_episodes, self.total_timesteps) != (None, None) and (path / CELL_FILE).exists():
            raise UsageError(
                f"{path} belongs to a grid, whose runs are as long as its file says; copy the folder elsewhere without "
                f"{CELL_FILE} to train this one further"
            )
        return folder

    def _config(self) -> RunConfig:
        from nrm.runs import EPISODES, choose_run

        if self.total_episodes is not None and self.total_timesteps is not None:
            raise UsageError("--total-episodes and --total-timesteps are given together; give one of them")
        if self.task is not None and self.machine is not None:
            raise UsageError("--task and --machine are given together; give one of them")
        if self.machine is not None and not is_machine_file(self.machine):
            raise UsageError(
                f"--machine takes a machine file (.json, .dot, .hoa, .txt), not '{self.machine}'; formulas and task "
                "files go to --task"
            )
        return choose_run(
            formula_option(self.task, self.logic) if self.machine is None else self.machine,
            self.env,
            self.method,
            self.seed,
            algorithm=self.algorithm,
            recipe=self.recipe,
            total_episodes=EPISODES if self.total_episodes is None else self.total_episodes,
            num_envs=self.num_envs,
            end=self.end,
            settings=self._settings(),
            tasks=self.tasks,
            total_timesteps=self.total_timesteps,
            device=self.device or "cpu",
        )

    def _settings(self) -> Settings:
        """The settings that were typed, and the grounder to begin with."""
        if self.grounder is None:
            return self.settings
        from nrm.agents import METHODS

        method = METHODS[self.method]
        if method.config is None or "initial" not in {item.name for item in fields(method.config)}:
            raise UsageError(
                "--grounder is for methods that learn the symbols of a task that is given (nrm), not for "
                f"'{self.method}'"
            )
        given = self.settings.get(method.section, {})
        return {**self.settings, method.section: {**given, "initial": str(self.grounder.resolve())}}


def more_help(command: str, read: Arguments, everything: bool) -> None:
    """What --help shows besides the options: the recipe and the settings of what is named beside it."""
    from nrm.runs import AUTO, default_sections, env_as_set, read_recipe
    from nrm.samplers import sampler_of

    named = {name: read.value(name, getattr(Train, name)) for name in ("env", "method", "algorithm", "recipe")}
    tasks = read.value("tasks", "") or None
    if command != "train":
        if family := read.value("family", ""):
            print_settings({"family": sampler_of(family)})
        return
    if named["recipe"] != AUTO:
        print(read_recipe(named["recipe"]).text)
    if everything:
        place = env_as_set(named["env"], read.settings)
        try:
            sections = default_sections(place, named["method"], named["algorithm"], named["recipe"], tasks)
        except NrmError:  # help is given whatever the environment does
            sections = default_sections(place, named["method"], "a2c", named["recipe"], tasks)
        print_settings(sections)


@contextmanager
def _progress(trainer: Trainer, quiet: bool) -> Iterator[Callable[[Trainer], None] | None]:
    """A live line: episodes, steps per second, mean return of the last 100, grounding accuracy, time left."""
    began, first = time.monotonic(), trainer.steps
    by_steps = trainer.most_steps is not None
    total = trainer.most_steps if by_steps else trainer.episodes
    with progress_bars(quiet) as (bars, _):
        job = bars.add_task("steps" if by_steps else "episodes", total=total, note="")
        reached = trainer.steps if by_steps else len(trainer.history.returns)

        def show(now: Trainer) -> None:
            seconds = max(time.monotonic() - began, 1e-9)
            done = now.steps if by_steps else len(now.history.returns)
            ground = f"  grounding {now.history.accuracy[-1][3]:.0%}" if now.history.accuracy else ""
            left = duration(seconds * ((total or 0) - done) / (done - reached) if done > reached else None)
            note = f"{(now.steps - first) / seconds:,.0f} steps/s  return {now.history.mean_return():.1f}{ground}"
            bars.update(job, completed=done, note=f"{note}  {left} left")

        yield None if bars.disable else show


def _way_on(folder: RunFolder) -> str:
    """How more can be learned from a run that is at its end."""
    config = folder.config()
    return (
        f"train it further with: nrm train --resume {folder.path} {config.length_option} {2 * config.amount}\n"
        "(what changes in the course of training, such as PPO's step size, then goes on as in a run of that length)"
    )


def _summarise(trainer: Trainer, folder: RunFolder) -> None:
    from nrm.agents import diagnose

    history = trainer.history
    done = len(history.returns)
    how_many = f"{done} of {trainer.episodes} episodes"
    if trainer.most_steps is not None:
        how_many = f"{trainer.steps:,} of {trainer.most_steps:,} steps, {done:,} episodes"
    if not done:
        print(f"{how_many}; no episode has ended yet: train for longer, or make episodes shorter")
        print(f"go on with: nrm train --resume {folder.path} --total-timesteps {10 * trainer.steps}")
        return
    recent = min(done, 100)
    succeeded = sum(history.successes[-100:]) / max(recent, 1)
    print(f"{how_many}; mean return of the last {recent}: {history.mean_return():.1f}, success {succeeded:.0%}")
    print("\n".join(diagnose(history, trainer.env.machine).lines))
    if history.accuracy:
        _, plain, _, modulo = history.accuracy[-1]
        known = "" if math.isnan(modulo) else f", {modulo:.1%} modulo shortcuts"
        print(f"grounding accuracy {plain:.1%} plain{known}")
    if (borders := trainer.borders()) is not None and borders.near == borders.near:  # nothing is near where it is NaN
        print(f"within {borders.within:g} of a border between symbols {borders.near:.1%}, elsewhere {borders.far:.1%}")
    if (learned := folder.machines()) is not None:
        print("\n".join(learned_lines(learned, done)))
    if history.decisions:
        last = history.decisions[-1]
        print(f"the last look at new episodes, before learning: {last.verdict} ({last.reason})")
    if trainer.meter.note:
        print(trainer.meter.note)
    if trainer.done and trainer.tasks is not None:
        print(f"try a formula: nrm evaluate {folder.path} --task '{trainer.tasks.names[0]}'")
    elif trainer.done:
        print(f"see it with: nrm evaluate {folder.path}, nrm watch {folder.path}")
    else:
        print(f"saved; go on with: nrm train --resume {folder.path}")
