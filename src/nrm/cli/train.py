"""`nrm train`: train an agent on a task in an environment."""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from nrm.cli.learned import learned_lines
from nrm.cli.options import UsageError, formula_option
from nrm.cli.tasks import alone_note
from nrm.cli.terminal import interrupt_flag
from nrm.errors import NrmError, NrmWarning, describe, listing, suggestion
from nrm.logic import DEFAULT_LOGIC
from nrm.machines import is_machine_file, split_names

if TYPE_CHECKING:
    from nrm.agents import Trainer
    from nrm.runs import RunConfig, RunFolder


@dataclass(frozen=True)
class Train:
    """Train an agent on a task. A run can be interrupted, and goes on exactly with --resume.

    Settings follow the environment, the method and the algorithm: --help lists those of the ones that are named
    beside it.
    """

    task: str | None = None
    """A paper task (1 to 8, or its name), a formula over the environment's symbols, or a task file (.toml). Some
    environments have a ready one, which is then the default."""
    machine: str | None = None
    """A machine file instead of a task: .json, .dot, .hoa, or .txt as the original reward machine code has it."""
    logic: str = DEFAULT_LOGIC
    """The language of a formula that is the task: ltlf, ldlf, ppltl (pure past), re (regular expressions), or
    module:name."""
    tasks: str | None = None
    """Many tasks instead of one, another with every episode: a family that they are drawn from (nrm tasks lists them),
    file:PATH for the formulas of a file, or module:name. The agent then obeys formulas that it has never seen."""
    env: str = "map"
    """Where the agent acts: map (it sees its position), image (64x64 pixels), minigrid:ID (one of MiniGrid's
    environments, such as minigrid:MiniGrid-LavaGapS5-v0), gym:ID (any that Gymnasium knows, such as gym:CartPole-v1;
    gym:package:ID imports the package first), or module:name (a function or class of yours that makes one)."""
    label: str | None = None
    """Of an environment of yours: what holds after a step, as module:name of a function of (observation, info,
    environment), or info:KEY. The same as --env.label."""
    symbols: str | None = None
    """Of an environment of yours: comma-separated symbols, exactly one of which holds at each step."""
    propositions: str | None = None
    """Of an environment of yours: comma-separated propositions, any of which may hold. The default: those of the
    formula."""
    grounder: Path | None = None
    """A run whose grounder to begin with, on the same symbols and observations; --grounding.learn false keeps it."""
    method: str = "nrm"
    """rm (is given the true symbols), nrm (learns them), automata-learning (is given them, learns the task),
    pure-learning (learns symbols and task), rnn (knows no task), memoryless, or module:name."""
    unknown: Literal["grounding", "machine", "both"] | None = None
    """What is learned, in place of a method: what the symbols look like, the task's machine, or both."""
    view: Literal["auto", "state", "task"] | None = None
    """What the policy sees of the task: its state, or which symbols help and which hurt from there (task; always so
    with --tasks). The same as --network.view."""
    algorithm: str = "auto"
    """How the agent learns: a2c, ppo, module:name, or auto, which goes by the environment. In one of yours that is
    ppo where actions are continuous or observations hardly come again, else a2c."""
    total_episodes: int | None = None
    """How many episodes to train for: 10,000, unless something else is said. With --resume: in the end."""
    total_timesteps: int | None = None
    """How many steps of all environments together to train for, in place of episodes. With --resume: in the end."""
    num_envs: int | None = None
    """Environments that step side by side; the preset or the algorithm says otherwise."""
    seed: int = 0
    """Equal seeds give equal runs."""
    device: str | None = None
    """Where agent and grounder learn: cpu (the default), cuda, cuda:NUMBER, or auto, a GPU where there is one. With
    --resume: another one than before. Environments stay on the processor."""
    out: Path | None = None
    """The folder for the run: configuration, metrics, checkpoints."""
    preset: str = "default"
    """The settings to start from: default (ours) or paper (its hyper-parameters)."""
    end: Literal["outcome", "absorbing", "limit"] = "outcome"
    """When the task ends an episode: outcome (when it is done or lost), absorbing (where no symbol changes anything any
    more), or limit (at the limit of steps only, for tasks such as G(pickaxe -> F gem))."""
    resume: Path | None = None
    """Go on with the run in this folder; with --total-episodes or --total-timesteps, further than it was made for."""
    quiet: bool = False
    """No progress bar."""

    def run(self) -> int:
        """Train to the end, or until interrupted."""
        import torch

        from nrm.files import remove_leftovers
        from nrm.runs import RunFolder, known_model, train
        from nrm.runs.kept_tasks import check_teaching
        from nrm.runs.lock import locked

        # The networks are small: more threads only get into each other's way.
        torch.set_num_threads(1)
        if self.resume is not None:
            folder = self._resumed(self.resume)
        else:
            if self.out is None:
                raise UsageError("say where the run goes: --out DIR")
            folder = RunFolder(self.out)
            config = self._config()
            if config.tasks is not None:
                print(f"drawing tasks of the family {config.tasks} …", file=sys.stderr, flush=True)
                if note := alone_note(config.settings["family"], config.alphabet):
                    print(f"nrm: {note}", file=sys.stderr, flush=True)
            try:
                # What cannot be built leaves no folder behind.
                config.build_trainer(None if config.initial is None else known_model(config).grounder)
            except NrmError:
                raise
            except Exception as error:
                if not any(":" in name for name in (self.method, self.algorithm, self.env)):
                    raise
                raise UsageError(f"a module of yours failed: {describe(error)}") from error
            folder.begin(config)
            for names in check_teaching(config):
                warnings.warn(
                    f"however long one trains, the rewards of these tasks cannot tell apart {listing(names)}; further "
                    "tasks may (nrm shortcuts --family)",
                    NrmWarning,
                    stacklevel=2,
                )
        with locked(folder.path), folder.undone_on_failure(new=self.resume is None):
            remove_leftovers(folder.path)
            if self.resume is not None:
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

    def _resumed(self, path: Path) -> RunFolder:
        """The folder of a run to go on with, once the options are seen to ask for nothing else."""
        from nrm.runs import RunFolder
        from nrm.sweeps.cells import CELL_FILE

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

    @property
    def _method(self) -> str:
        return self.method if self.unknown is None else method_for(self.unknown)

    def _config(self) -> RunConfig:
        from nrm.runs import choose_run
        from nrm.runs.config import EPISODES

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
            self._method,
            self.seed,
            algorithm=self.algorithm,
            preset_name=self.preset,
            total_episodes=EPISODES if self.total_episodes is None else self.total_episodes,
            num_envs=self.num_envs,
            end=self.end,
            sections=self._sections(),
            tasks=self.tasks,
            total_timesteps=self.total_timesteps,
            device=self.device or "cpu",
        )

    def _sections(self) -> dict[str, Any] | None:
        """The settings that the command line has made, by section."""
        ending = "_section"
        found = {item.name: getattr(self, item.name) for item in fields(self) if item.name.endswith(ending)}
        sections = {name.removesuffix(ending): value for name, value in found.items()}
        if "env" in sections:
            sections["env"] = replace(sections["env"], **self._of_env(sections["env"]))
        if self.view is not None:
            sections["network"] = replace(sections["network"], view=self.view)
        if self.grounder is not None:
            holders = [name for name, section in sections.items() if hasattr(section, "initial")]
            if not holders:
                raise UsageError(
                    "--grounder is for methods that learn the symbols of a task that is given (nrm), not for "
                    f"'{self._method}'"
                )
            sections[holders[0]] = replace(sections[holders[0]], initial=str(self.grounder.resolve()))
        return sections or None

    def _of_env(self, config: Any) -> dict[str, Any]:
        """What the short options say of the environment."""
        short = {
            "label": self.label,
            "symbols": None if self.symbols is None else split_names(self.symbols),
            "propositions": None if self.propositions is None else split_names(self.propositions),
        }
        given = {name: value for name, value in short.items() if value is not None}
        for name in given:
            if not hasattr(config, name):
                raise UsageError(
                    f"--{name} is for envs of your own and says what holds there; '{self.env}' says it itself"
                )
        return given


def method_for(unknown: str) -> str:
    """The name of the method that learns what is unknown."""
    from nrm.agents import METHODS

    able = {method.unknown: method.name for method in METHODS.values() if method.unknown}
    if unknown not in able:
        raise UsageError(f"--unknown is {listing(able)}, not '{unknown}'{suggestion(unknown, able)}")
    return able[unknown]


@contextmanager
def _progress(trainer: Trainer, quiet: bool) -> Iterator[Callable[[Trainer], None] | None]:
    """A live line: episodes, steps per second, mean return of the last 100, grounding accuracy, time left."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.completed}/{task.total} {task.fields[what]}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[rate]:>7,.0f} steps/s  return {task.fields[mean]:6.1f}  {task.fields[ground]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    began, first = time.monotonic(), trainer.steps
    with Progress(*columns, console=console, refresh_per_second=4) as bar:
        by_steps = trainer.most_steps is not None
        total = trainer.most_steps if by_steps else trainer.episodes
        what = "steps" if by_steps else "episodes"
        job = bar.add_task("train", total=total, what=what, rate=0.0, mean=0.0, ground="")

        def show(now: Trainer) -> None:
            seconds = max(time.monotonic() - began, 1e-9)
            accuracy = now.history.accuracy
            bar.update(
                job,
                completed=now.steps if by_steps else len(now.history.returns),
                rate=(now.steps - first) / seconds,
                mean=now.history.mean_return(),
                ground=f"grounding {accuracy[-1][3]:.0%}" if accuracy else "",
            )

        yield show


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
