"""What `nrm monitor` does with observations: a model reads their symbols, and beliefs give verdicts a probability."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.cli.monitoring import Judged
from nrm.errors import FileError, NrmError, listing
from nrm.machines import MooreMachine, Verdict, as_task_set, load_machine
from nrm.neural import NeuralRewardMachine, Step, csv_rows, load_episodes, load_model

Features = NDArray[np.generic]
"""(steps, …)"""


@dataclass(frozen=True)
class Detector:
    """A model, and the machine of its rule."""

    model: NeuralRewardMachine
    machine: MooreMachine
    features: tuple[str, ...] | None = None
    """Names of the features that the model reads, if it knows them."""

    @classmethod
    def load(cls, path: Path) -> Detector:
        """Read it from the folder of `nrm fit`, or from a model file that has its rule."""
        file = path / "model.pt" if path.is_dir() else path
        if not file.is_file():
            raise FileError(f"there is no model {file}; nrm fit writes one, to --out")
        torch.set_num_threads(1)  # small models are fastest with one
        model = load_model(file)
        rules = model.tasks or as_task_set(load_machine(file.with_name("machine.json")))
        if len(rules) > 1:
            names = listing(rules.names)
            raise FileError(f"{file} has {len(rules)} rules, and one is followed: {names}; fit a model of one")
        return cls(model.of_task(0), rules.machines[0], model.feature_names)

    @torch.no_grad()
    def file(self, path: str) -> Iterator[Judged]:
        """Follow the recordings of a file."""
        recorded = load_episodes(path)
        shown = self._in_order(recorded.observations, recorded.feature_names)
        rows = shown if recorded.index is None else shown[recorded.index]
        parts = np.split(rows, np.cumsum(recorded.lengths)[:-1])
        for name, part in zip(recorded.names or map(str, range(len(parts))), parts, strict=True):
            beliefs = self.model(part[None].astype(np.float32) if part.dtype == np.float64 else part[None])
            yield from self._judged(name, beliefs.symbols[0], beliefs.states[0], True)

    @torch.no_grad()
    def rows(self, lines: Iterable[str]) -> Iterator[Judged]:
        """Follow recordings whose rows come as they happen, as CSV."""
        running: dict[str, Step] = {}
        for rows in csv_rows(lines, "standard input", 1):
            (name,) = rows.recordings
            shown = self._in_order(rows.features, rows.names, check=not running)
            before = running.get(name)
            given = () if before is None else (before.belief, before.carry)
            running[name] = now = self.model.step(shown, *given)
            yield from self._judged(name, now.symbols, now.belief, False)

    def _in_order(self, shown: Features, names: Sequence[str] | None, check: bool = True) -> Features:
        """Observations with the features as the model reads them; an error where a table has others."""
        if self.features and names and tuple(names) != self.features:
            if sorted(names) != sorted(self.features):
                raise FileError(f"the model reads the features {listing(self.features)}, not {listing(names)}")
            shown = shown[:, [list(names).index(name) for name in self.features]]
        if check:
            self._check(shown)
        return shown

    def _check(self, observations: NDArray[np.generic]) -> None:
        """Refuse observations (n, …) that the model cannot read."""
        try:
            self.model.read(observations[:1])
        except (NrmError, RuntimeError, ValueError, IndexError) as error:
            shape = observations.shape[1:]
            raise FileError(f"the model cannot read observations of shape {shape}: {error}") from None

    @cached_property
    def _kinds(self) -> Tensor:
        """(states, verdicts) 1 at the verdict of each state."""
        places = torch.tensor([list(Verdict).index(verdict) for verdict in self.machine.verdicts])
        return torch.nn.functional.one_hot(places, len(Verdict)).to(self.model.machine.dtype)

    def _judged(self, name: str, symbols: Tensor, states: Tensor, ends: bool) -> Iterator[Judged]:
        """The steps of a recording, from symbols (time, symbols) and beliefs (time, states)."""
        letters = self.model.letters(symbols).tolist()
        for step, (letter, row) in enumerate(zip(letters, (states @ self._kinds).tolist(), strict=True), 1):
            shares = dict(zip(Verdict, row, strict=True))
            verdict = max(shares, key=lambda one: shares[one])
            held = self.machine.alphabet.true_symbols(letter)
            yield Judged(name, held, verdict, None, shares, ends and step == len(letters))
