"""`nrm train`: train an agent on a task in an environment."""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nrm.cli.arguments import Arguments, UsageError
from nrm.cli.helping import print_settings
from nrm.cli.learned import learned_lines
from nrm.cli.options import RewardOption, SeedOption, TaskOptions, WorkOptions, reward_from_text
from nrm.cli.terminal import interrupt_flag, progress_bars, say
from nrm.errors import NrmError, NrmWarning, describe, listing
from nrm.registry import given
from nrm.runs import AUTO, RunOptions

if TYPE_CHECKING:
    from nrm.agents import Trainer
    from nrm.runs import RunConfig, RunFolder


@dataclass(frozen=True, kw_only=True)
class Train(SeedOption, WorkOptions, RunOptions, TaskOptions, RewardOption):
    """Train an agent in a new run folder, --out. You can interrupt a run; --resume continues it exactly.

    Add --help-all to see the settings of your --env, --method and --algorithm, or --recipe NAME --help to see a recipe.

    For example:
      nrm train --task "F gem" --out runs/gem
      nrm train --env letter --tasks mixture --out runs/letters
      nrm train --resume runs/gem
    """

    tasks: str | None = None
    """Train on many tasks, one per episode: a task sampler (see 'nrm tasks'), file:PATH, or module:name."""
    env: str = "map"
    """map, image, letter, flat, robot, zones, office, water, gold-mining, minigrid:ID, gym:ID, or module:name."""
    method: str = "nrm"
    """rm (symbols given), nrm (symbols learned), hrm and hrm-nrm (with a hierarchy), frozen (symbols not learned),
    automata-learning (symbols given, task learned), pure-learning (both learned), rnn, memoryless, or module:name."""
    device: str | None = None
    """cpu (the default), cuda, cuda:NUMBER or auto."""
    resume: Path | None = None
    """Continue the run in this folder; a larger --total-episodes or --total-timesteps extends it."""

    def run(self) -> int:
        """Train to the end, or until interrupted."""
        import torch

        from nrm.files import remove_leftovers
        from nrm.runs import locked, train

        # The networks are small: more threads only get into each other's way.
        torch.set_num_threads(1)
        folder, config, trainer = self._new() if self.resume is None else (self._resumed(self.resume), None, None)
        with locked(folder.path), folder.undone_on_failure(new=self.resume is None):
            remove_leftovers(folder.path)
            if config is None or trainer is None:
                folder.extend(self.total_episodes, self.total_timesteps)
                config, trainer = folder.config(), folder.load(self.device)
            if trainer.done:
                folder.save(trainer)  # what a kill kept from being written after the checkpoint
                longer = f"{config.length_option} {2 * config.amount}"
                way_on = f"to train longer: nrm train --resume {_typed(folder)} {longer}"
                say(f"the run in {folder} is already finished; {way_on}")
                say("(schedules, such as the learning rate, then continue as in a run of that length)")
            else:
                with interrupt_flag() as interrupted, _progress(trainer, self.quiet) as progress:
                    train(folder, trainer, progress=progress, interrupted=interrupted)
        _summarise(trainer, folder, config)
        return 0 if trainer.done else 130

    def _new(self) -> tuple[RunFolder, RunConfig, Trainer]:
        """The folder of a new run, its configuration and its trainer. What cannot be built leaves no folder behind."""
        from nrm.runs import RunFolder

        config = self._config()
        if self.out is None:
            raise UsageError("the folder of the run is missing: --out FOLDER")
        folder = RunFolder(self.out)
        for note in config.about.notes(config):
            say(note, file=sys.stderr, flush=True)
        try:
            trainer = folder.begin(config)
        except NrmError:
            raise
        except Exception as error:
            if not any(":" in name for name in (self.method, self.algorithm, self.env)):
                raise
            raise UsageError(f"your module failed: {describe(error)}") from error
        for names in config.about.confusable(config):
            warnings.warn(
                f"the rewards of these tasks cannot separate {listing(names)}, however long you train; more tasks may "
                "(nrm tasks --family NAME)",
                NrmWarning,
                stacklevel=2,
            )
        return folder, config, trainer

    def _resumed(self, path: Path) -> RunFolder:
        """The folder of a run to go on with, once the options are seen to ask for nothing else."""
        from nrm.runs import RunFolder
        from nrm.sweeps import CELL_FILE

        kept = {name: getattr(self, name) for name in ("quiet", "trust", "total_episodes", "total_timesteps", "device")}
        if self != type(self)(resume=path, **kept):
            raise UsageError(f"--resume continues the run as it was; drop all options except {listing(kept)}")
        folder = RunFolder(path)
        folder.config()
        if (self.total_episodes, self.total_timesteps) != (None, None) and (path / CELL_FILE).exists():
            raise UsageError(f"{path} belongs to a sweep, whose file sets its length; copy it without {CELL_FILE}")
        return folder

    def _config(self) -> RunConfig:
        from nrm.runs import choose_run

        if self.total_episodes is not None and self.total_timesteps is not None:
            raise UsageError("--total-episodes and --total-timesteps exclude each other; give one of them")
        said = {name: getattr(self, name) for name in RunOptions.__dataclass_fields__ if name != "logic"}
        task, device = self.task_text, self.device or "cpu"
        said["reward"] = None if self.reward is None else reward_from_text(self.reward)
        return choose_run(task, self.env, self.method, self.seed, tasks=self.tasks, device=device, **said)


def more_help(command: str, read: Arguments, everything: bool) -> None:
    """What --help shows besides the options: the recipe and the settings of what is named beside it."""
    from nrm.runs import default_sections, env_as_set, read_recipe
    from nrm.samplers import sampler_of

    if command != "train":
        if family := read.value("family", ""):
            print_settings({"family": sampler_of(family)})
        return
    env, method, algorithm, recipe = (read.value(name, getattr(Train, name)) for name in _SHOWN)
    tasks = read.value("tasks", "") or None
    if recipe != AUTO:
        say(read_recipe(recipe).text)
    if everything:
        place = env_as_set(env, read.settings)
        try:
            sections = default_sections(place, method, algorithm, recipe, tasks)
        except NrmError:  # help is given whatever the environment does
            sections = default_sections(place, method, "a2c", recipe, tasks)
        print_settings(sections)


_SHOWN = ("env", "method", "algorithm", "recipe")


@contextmanager
def _progress(trainer: Trainer, quiet: bool) -> Iterator[Callable[[Trainer], None] | None]:
    """A live line: episodes, steps per second, mean return of the last 100, grounding accuracy, time left."""
    began, first = time.monotonic(), trainer.steps
    total = trainer.most_steps or trainer.episodes
    with progress_bars(quiet) as (bars, _):
        what = "episodes" if trainer.most_steps is None else "steps"
        job = bars.add_task(what, total=total, completed=trainer.reached, note="")

        def show(now: Trainer) -> None:
            speed = (now.steps - first) / max(time.monotonic() - began, 1e-9)
            ground = f"  grounding {now.history.accuracy[-1][3]:.0%}" if now.history.accuracy else ""
            note = f"{speed:,.0f} steps/s  return {now.history.mean_return():.1f}{ground}"
            bars.update(job, completed=now.reached, note=note)

        yield None if bars.disable else show


def _summarise(trainer: Trainer, folder: RunFolder, config: RunConfig) -> None:
    from nrm.agents import diagnose

    history = trainer.history
    done = len(history.returns)
    how_many = f"{done} of {trainer.episodes} episodes"
    if trainer.most_steps is not None:
        whole = f" ({trainer.most_steps:,} asked for, in whole rollouts)" if trainer.steps > trainer.most_steps else ""
        asked = f" of {trainer.most_steps:,}" if trainer.steps < trainer.most_steps else ""
        how_many = f"{trainer.steps:,}{asked} steps{whole}, {done:,} episodes"
    if not done:
        say(f"{how_many}; no episode has ended yet: train longer, or make episodes shorter")
        say(f"continue with: nrm train --resume {_typed(folder)} --total-timesteps {10 * trainer.steps}")
        return
    recent = min(done, 100)
    succeeded = sum(history.successes[-100:]) / max(recent, 1)
    say(f"{how_many}; mean return of the last {recent}: {history.mean_return():.1f}, success {succeeded:.0%}")
    if done < 2 * trainer.env.count:
        say(f"(these are the quickest episodes of {trainer.env.count} environments: train longer for a fair success)")
    say("\n".join(diagnose(history, trainer.env.machine).lines))
    if history.accuracy:
        _, plain, _, modulo = history.accuracy[-1]
        known = "" if math.isnan(modulo) else f", {modulo:.1%} up to equivalence"
        say(f"grounding accuracy over the environment's observations {plain:.1%} exact{known}")
        if modulo > plain:
            command = config.about.analysis(_typed(folder), config)
            say(f"rewards cannot separate all symbols; which, and remedies: {command}")
    if (learned := folder.machines()) is not None:
        say("\n".join(learned_lines(learned, done)))
    if history.decisions:
        last = history.decisions[-1]
        say(f"last grounding check: {last.verdict} ({last.reason})")
    if trainer.meter.note:
        say(trainer.meter.note)
    go_on = f"saved; continue with: nrm train --resume {_typed(folder)}"
    say(config.about.way_on(_typed(folder), config) if trainer.done else go_on)


def _typed(folder: RunFolder) -> str:
    """A run in the next command: what names code of yours is only read with --trust."""
    known = given()
    return f"{folder} --trust" if known is not None and known.followed else str(folder)
