"""`nrm fit`: learn from recorded episodes, without a simulator."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from nrm.automata import DEFAULT_LIMITS, Limits
from nrm.cli.arguments import UsageError
from nrm.cli.options import FileArgument, MachineOptions, Source, WorkOptions
from nrm.cli.terminal import plain_console, say, table
from nrm.files import check_folder, write_json
from nrm.machines import is_machine_file, save_machine
from nrm.neural import Attempt, FitConfig
from nrm.settings import GrounderSetting, NoiseSettings

if TYPE_CHECKING:
    from nrm.cli.fitting import FitOutcome
    from nrm.neural import RecordedEpisodes


@dataclass(frozen=True, kw_only=True)
class Fit(FileArgument, MachineOptions, WorkOptions, NoiseSettings, FitConfig, GrounderSetting):
    """Learn a grounder, a machine or both from logged episodes (.npz, CSV, Parquet or minari:ID), and save it.

    The folder --out, out/fit by default, gets model.pt, machine.json and record.json; give it to nrm monitor, or to nrm
    train --grounding.initial. The exit status is 1 if the model does not explain the episodes; of verdicts, if held-out
    ones are judged hardly better than by the more frequent verdict.

    For example:
      nrm fit episodes.npz --task 3
      nrm fit sessions.csv --task "F(walk & F run)" --symbols walk,run,rest
      nrm fit episodes.npz --task "F a" --symbols a,b
      nrm fit episodes.npz --learn both --max-states 8
    """

    learn: Literal["grounding", "machine", "both"] = "grounding"
    """What to learn. grounding: symbols, for a known task. machine: the task, from true symbols in the file. both."""
    usual: ClassVar = {**FitConfig.usual, "max_states": 12}

    @property
    def limits(self) -> Limits:
        """Those of a machine that is compiled, not learned."""
        return DEFAULT_LIMITS

    @property
    def config(self) -> FitConfig:
        """How to learn."""
        return FitConfig(**{item.name: getattr(self, item.name) for item in fields(FitConfig)})

    def run(self) -> int:
        """Learn, print what came of it, and save it. Status 1: no restart explains the episodes."""
        out = self.out or Path("out/fit")
        self._refuse_idle_options()
        if old := [name for name in ("model.pt", "record.json", "machine.json") if (out / name).exists()]:
            raise UsageError(f"{out} already holds {' and '.join(old)}; remove them, or name another folder with --out")
        check_folder(out)
        # PyTorch takes seconds to load: not before it is sure to be needed.
        import torch

        from nrm.cli import fitting
        from nrm.neural import load_episodes

        torch.set_num_threads(1)  # small models are fastest with one
        recorded = load_episodes(self.file)
        outcome = fitting.learn(self, recorded, self._source(recorded), None if self.quiet else _progress)
        outcome.model.feature_names = recorded.feature_names
        _save(outcome, out)
        plain_console().print(table(("", ""), list(outcome.lines.items())))
        say(f"wrote {out}/model.pt")
        return 0 if outcome.explained else 1

    def _refuse_idle_options(self) -> None:
        """Refuse options that would change nothing."""
        if self.task is None and self.learn == "grounding":
            raise UsageError('learning the grounding needs a task: --task "F a"; if it is unknown, add --learn both')
        if "rewards" in self.txt:
            raise UsageError("fit needs potentials, not rewards on states; drop --txt rewards")
        if (self.reward_noise or self.label_noise) and self.learn == "grounding":
            raise UsageError("noise needs a machine to learn: --learn machine or --learn both")
        if self.learn == "machine" and self.grounder != "auto":
            raise UsageError("--learn machine uses the symbols of the file; drop --grounder")
        if self.symbols is not None and self.task is None:
            raise UsageError("--symbols needs a task; add --task, or drop --symbols")

    def _source(self, recorded: RecordedEpisodes) -> Source | None:
        """The task that the options name, by default over the symbols of the episode file."""
        if self.task is None:
            return None
        names_symbols = self.task.endswith(".toml") or (is_machine_file(self.task) and not self.task.endswith(".txt"))
        if names_symbols or self.symbols is not None or self.propositions is not None:
            return self.source()
        if recorded.symbol_names:
            return replace(self, symbols=recorded.symbol_names).source()
        if not self.says_everything:
            raise UsageError("the file names no symbols; name those of the task: --symbols a,b,c")
        return self.source()


def _save(outcome: FitOutcome, out: Path) -> None:
    from nrm.neural import save_model

    save_model(out / "model.pt", outcome.model)
    save_machine(outcome.machine, out / "machine.json")
    write_json(out / "record.json", outcome.as_dict())


def _progress(attempt: Attempt) -> None:
    say(
        f"restart {attempt.number}: {attempt.epochs} epochs, {attempt.seconds:.1f} s, {attempt.stopped}; "
        f"loss {attempt.train:.4f} nats per step, held out {attempt.held_out:.4f}",
        flush=True,
    )
