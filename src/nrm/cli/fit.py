"""`nrm fit`: learn from recorded episodes, without a simulator."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import tyro
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from nrm.cli.options import MachineOptions, TaskOptions, UsageError
from nrm.files import check_folder, write_text
from nrm.logic import is_paper_task
from nrm.machines import FallOff, Overlap

if TYPE_CHECKING:
    from nrm.cli import fitting
    from nrm.machines import MooreMachine
    from nrm.neural import RecordedEpisodes
    from nrm.neural.config import Attempt

FILES = ("model.pt", "record.json", "machine.json")
"""What a fit leaves in its folder."""


@dataclass(frozen=True)
class Fit:
    """Learn a grounder, a machine or both from recorded episodes (.npz), and save the model.

    grounding: the task is known, what its symbols look like is not. machine: the file has true symbols, the task is
    not known. both: neither is known.
    """

    episodes: tyro.conf.Positional[str | None] = None
    """The episode file: arrays observations, lengths and rewards, and optionally index, symbols and symbol_names."""
    learn: Literal["grounding", "machine", "both"] = "grounding"
    """What is unknown."""
    formula: str | None = None
    """The task in LTLf, for example "F a & G !b"."""
    symbols: str | None = None
    """Comma-separated symbols of the task; by default those that the file names."""
    propositions: str | None = None
    """Comma-separated propositions, any of which may hold at a step, instead of symbols."""
    task: str | None = None
    """A paper task (1 to 8, or its name; see 'nrm tasks'), or a formula."""
    file: str | None = None
    """A task file (TOML) instead of a formula."""
    machine: str | None = None
    """A machine file instead of a task: .json, .dot, .hoa, or .txt as the original reward machine code has it."""
    fall_off: FallOff | None = None
    """Of .txt machine files: where a state has no edge, an error (the default), or the end with reward 0 (terminal)."""
    overlap: Overlap | None = None
    """Of .txt machine files: where a state has several edges, an error (the default), or the first one."""
    reward: str | None = None
    """How states get levels: distance (the default), three_value, acceptance, distinct, or numbers: 0,50,100."""
    states: int = 12
    """States of a machine to be learned: at least as many as it may need."""
    grounder: Literal["auto", "mlp", "cnn"] = "auto"
    """The network that grounds; auto: a convolutional one for images, an MLP otherwise."""
    objective: Literal["sequence", "marginal"] = "sequence"
    """What is minimised: sequence (the likelihood of whole reward sequences), or marginal (the paper's)."""
    epochs: int = 400
    """Most passes over the episodes in each restart."""
    restarts: int = 32
    """Most restarts; the first that explains the episodes ends them."""
    batch_size: int | None = None
    """Episodes in a mini-batch; by default all of them."""
    learning_rate: float = 0.01
    """Step size for the grounder."""
    seed: int = 0
    """Equal seeds give equal results."""
    threads: int = 1
    """Threads of PyTorch; small models are fastest with one."""
    out: Path = Path("out/fit")
    """The folder for model.pt, record.json and, when a machine is learned, machine.json."""
    force: bool = False
    """Write over what an earlier fit left in that folder."""
    quiet: bool = False
    """Print the summary only."""

    def run(self) -> int:
        """Learn, print what came of it, and save it. Status 1: no restart explains the episodes."""
        if self.episodes is None:
            raise UsageError("no episode file is given; try: nrm fit EPISODES.npz --task 1")
        self._check_out()
        # PyTorch takes seconds to load: not before it is sure to be needed.
        from nrm.cli import fitting
        from nrm.neural import load_episodes

        fitting.use_threads(self.threads)
        recorded = load_episodes(self.episodes)
        machine = self._machine(recorded)
        if machine is not None:
            recorded = fitting.named_as(recorded, machine.alphabet)
        outcome = fitting.learn(self, recorded, machine, None if self.quiet else _progress)
        self._save(outcome)
        _print(outcome, self.out)
        return 0 if outcome.record.explained else 1

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
        """The machine of the task that the options name."""
        if self.machine is not None:
            symbols = self.symbols
            unsaid = symbols is None and self.propositions is None
            if unsaid and self.machine.endswith(".txt") and recorded.symbol_names:
                symbols = ",".join(recorded.symbol_names)
            given = (self.formula, symbols, self.propositions, self.task, self.file, self.reward)
            options = MachineOptions(*given, machine=self.machine, fall_off=self.fall_off, overlap=self.overlap)
            return options.source().machine
        if self.fall_off is not None or self.overlap is not None:
            raise UsageError("--fall-off and --overlap are for machine files; add --machine FILE.txt")
        named = any(value is not None for value in (self.formula, self.task, self.file))
        if not named:
            if self.learn == "grounding":
                raise UsageError(
                    'to learn the grounding, the task must be known; give one of: --formula "F a & G !b", --task N, '
                    "--file TASK.toml, --machine FILE; or learn it too: --learn both"
                )
            return None
        symbols, formula, task = self.symbols, self.formula, self.task
        if formula is None and task is not None and not is_paper_task(task):
            formula, task = task, None  # as `nrm train` takes it
        if symbols is None and self.propositions is None and self.file is None:
            if recorded.symbol_names:
                symbols = ",".join(recorded.symbol_names)
            elif formula is not None:
                raise UsageError("the file names no symbols; say which ones the task has: --symbols a,b,c")
        named_task = TaskOptions(formula, symbols, self.propositions, task, self.file, self.reward)
        return named_task.resolve().machine(named_task.limits)

    def _save(self, outcome: fitting.Outcome) -> None:
        from nrm.machines import save_machine
        from nrm.neural import save_model

        save_model(self.out / "model.pt", outcome.model)
        if outcome.machine is not None:
            save_machine(outcome.machine, self.out / "machine.json")
        else:  # with --force, one of an earlier fit would be taken for this one's
            (self.out / "machine.json").unlink(missing_ok=True)
        write_text(self.out / "record.json", json.dumps(outcome.as_dict(), indent=2) + "\n")


def _progress(attempt: Attempt) -> None:
    print(
        f"restart {attempt.number}: {attempt.epochs} epochs, {attempt.seconds:.1f} s, {attempt.stopped}; "
        f"nats a step {attempt.train:.4f}, held out {attempt.held_out:.4f}",
        flush=True,
    )


def _print(outcome: fitting.Outcome, out: Path) -> None:
    table = Table(box=SIMPLE_HEAD, show_header=False)
    table.add_column()
    table.add_column(overflow="fold")
    for name, value in outcome.summary():
        table.add_row(name, value)
    console = Console(highlight=False)
    console.print(table)
    console.print(f"wrote {out}/model.pt")
