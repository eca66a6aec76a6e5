"""`nrm fit`: learn from recorded episodes, without a simulator."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from nrm.cli.arguments import Count, Mark, UsageError
from nrm.cli.options import Formula, MachineOptions, Names
from nrm.cli.terminal import plain_console, table
from nrm.files import check_folder, write_json
from nrm.logic import is_paper_task
from nrm.machines import save_machine
from nrm.neural import Attempt, FitConfig

if TYPE_CHECKING:
    from nrm.cli.fitting import FitOutcome
    from nrm.machines import MooreMachine
    from nrm.neural import RecordedEpisodes

Noise = Annotated[float, msgspec.Meta(ge=0, lt=0.5)]
FILES = ("model.pt", "record.json", "machine.json")
"""What a fit leaves in its folder."""


@dataclass(frozen=True)
class Fit(MachineOptions):
    """Learn a grounder, a machine or both from recorded episodes (.npz), and save the model.

    grounding: the task is known, what its symbols look like is not. machine: the file has true symbols, the task is
    not known. both: neither is known.

    For example:
      nrm fit episodes.npz --task 3
      nrm fit episodes.npz --formula "F a" --symbols a,b
      nrm fit episodes.npz --learn both --states 8
    """

    formula: Formula = None
    """The task, for example "F a & G !b"; in LTLf, unless --logic says otherwise."""
    symbols: Names = None
    """Comma-separated symbols of the task; by default those that the episode file names."""
    task: Annotated[str | None, Mark("N")] = None
    """A paper task (1 to 8, or its name; see 'nrm tasks'), or a formula."""
    episodes: Annotated[str, Mark("EPISODES.npz", positional=True)] = field(kw_only=True)
    """The episode file: arrays observations, lengths and rewards, and optionally index, symbols and symbol_names."""
    learn: Literal["grounding", "machine", "both"] = "grounding"
    """What is unknown."""
    states: Count = 12
    """Most states of a machine to be learned: at least as many as it may need."""
    reward_noise: Noise = 0.0
    """How probable it is that a step pays for a wrong potential, where a machine is learned."""
    label_noise: Noise = 0.0
    """How probable it is that a step tells a wrong symbol (with --learn both: a wrong observation), where a machine is
    learned."""
    grounder: Annotated[str, Mark("NAME")] = "auto"
    """The network that grounds: auto (a convolutional one for images, an MLP otherwise), mlp, cnn, pooled, recurrent,
    paper, or module:name for one of your own."""
    settings: FitConfig = field(default_factory=FitConfig)
    out: Annotated[Path, Mark("FOLDER")] = Path("out/fit")
    """The folder for model.pt, record.json and, when a machine is learned, machine.json."""
    force: bool = False
    """Write over what an earlier fit left in that folder."""
    quiet: bool = False
    """Print the summary only."""

    def run(self) -> int:
        """Learn, print what came of it, and save it. Status 1: no restart explains the episodes."""
        if self.outputs == "rewards":
            raise UsageError("rewards that add up without end tell no potential; drop --outputs")
        if (self.reward_noise or self.label_noise) and self.learn == "grounding":
            raise UsageError("noise is for machines that are learned: --learn machine or --learn both")
        self._check_ignored()
        self._check_out()
        # PyTorch takes seconds to load: not before it is sure to be needed.
        import torch

        from nrm.cli import fitting
        from nrm.neural import load_episodes

        torch.set_num_threads(1)  # small models are fastest with one
        recorded = load_episodes(self.episodes)
        outcome = fitting.learn(self, recorded, self._machine(recorded), None if self.quiet else _progress)
        self._save(outcome)
        plain_console().print(table(("", ""), outcome.summary()))
        print(f"wrote {self.out}/model.pt")
        return 0 if outcome.explained else 1

    def _check_ignored(self) -> None:
        """Refuse options that would change nothing."""
        if self.learn == "machine" and self.grounder != "auto":
            raise UsageError("--grounder is for symbols that are learned; with --learn machine the file tells them")
        if self.symbols is not None and self.learn != "grounding" and not self._names_task:
            told = (
                "the file tells them" if self.learn == "machine" else "they are discovered and get names of their own"
            )
            raise UsageError(
                f"--symbols names the symbols of a task, and none is given; with --learn {self.learn} {told}"
            )

    @property
    def _names_task(self) -> bool:
        named = (self.formula, self.task, self.file, self.machine, self.fall_off, self.overlap)
        return any(value is not None for value in named)

    def _check_out(self) -> None:
        """Refuse before learning what could not be saved, or would be saved over the results of an earlier fit."""
        old = [name for name in FILES if (self.out / name).exists()]
        if old and not self.force:
            raise UsageError(
                f"{self.out} already holds {' and '.join(old)}; name another folder with --out, or write over it with "
                "--force"
            )
        check_folder(self.out)

    def _machine(self, recorded: RecordedEpisodes) -> MooreMachine | None:
        """The machine of the task that the options name, by default over the symbols of the episode file."""
        if not self._names_task:
            if self.learn == "grounding":
                raise UsageError(
                    'to learn the grounding, the task must be known; give one of: --formula "F a & G !b", --task N, '
                    "--file TASK.toml, --machine FILE; or learn it too: --learn both"
                )
            return None
        options = self
        if self.formula is None and self.task is not None and not is_paper_task(self.task):
            options = replace(options, formula=self.task, task=None)  # as `nrm train` takes it
        tells_symbols = self.file is not None or (self.machine is not None and not self.machine.endswith(".txt"))
        if self.symbols is None and self.propositions is None and not tells_symbols:
            if recorded.symbol_names:
                options = replace(options, symbols=",".join(recorded.symbol_names))
            elif options.formula is not None:
                raise UsageError("the file names no symbols; say which ones the task has: --symbols a,b,c")
        return options.source().machine

    def _save(self, outcome: FitOutcome) -> None:
        from nrm.neural import save_model

        save_model(self.out / "model.pt", outcome.model)
        if outcome.machine is not None:
            save_machine(outcome.machine, self.out / "machine.json")
        else:  # with --force, one of an earlier fit would be taken for this one's
            (self.out / "machine.json").unlink(missing_ok=True)
        write_json(self.out / "record.json", outcome.as_dict())


def _progress(attempt: Attempt) -> None:
    print(
        f"restart {attempt.number}: {attempt.epochs} epochs, {attempt.seconds:.1f} s, {attempt.stopped}; "
        f"nats a step {attempt.train:.4f}, held out {attempt.held_out:.4f}",
        flush=True,
    )
