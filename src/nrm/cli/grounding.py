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
from nrm.errors import FileError, NrmError
from nrm.machines import MooreMachine, Verdict, load_machine, verdicts_of
from nrm.neural import NeuralRewardMachine, Step, csv_rows, load_episodes, load_model

_BATCH = 64
"""Recordings that are read at a time."""


@dataclass(frozen=True)
class _Detector:
    """What `nrm fit` wrote: a model, and the machine of its rule."""

    model: NeuralRewardMachine
    machine: MooreMachine

    @classmethod
    def load(cls, folder: Path) -> _Detector:
        for name in ("model.pt", "machine.json"):
            if not (folder / name).is_file():
                raise FileError(f"{folder} has no {name}; nrm fit … --out {folder} writes it")
        torch.set_num_threads(1)  # small models are fastest with one
        return cls(load_model(folder / "model.pt"), load_machine(folder / "machine.json"))

    @cached_property
    def _kinds(self) -> Tensor:
        """(states, verdicts) 1 at the verdict of each state."""
        every = tuple(Verdict)
        places = torch.tensor([every.index(verdict) for verdict in verdicts_of(self.machine)])
        return torch.nn.functional.one_hot(places, len(every)).to(self.model.machine.dtype)

    def check(self, observations: NDArray[np.generic]) -> None:
        """Refuse observations (n, …) that the model cannot read."""
        try:
            self.model.read(observations[:1])
        except (NrmError, RuntimeError, ValueError, IndexError) as error:
            shape = observations.shape[1:]
            raise FileError(f"the model cannot read observations of shape {shape}: {error}") from None

    def judged(self, name: str, symbols: Tensor, states: Tensor, ends: bool) -> Iterator[Judged]:
        """The steps of a recording, from symbols (time, symbols) and beliefs (time, states)."""
        letters = self.model.letters(symbols).tolist()
        for step, (letter, row) in enumerate(zip(letters, (states @ self._kinds).tolist(), strict=True), 1):
            shares = dict(zip(Verdict, row, strict=True))
            verdict = max(shares, key=lambda one: shares[one])
            held = self.machine.alphabet.true_symbols(letter)
            yield Judged(name, held, verdict, None, shares, ends and step == len(letters))


@torch.no_grad()
def grounded(folder: Path, file: str) -> Iterator[Judged]:
    """Follow the recordings of a file."""
    detector, recorded = _Detector.load(folder), load_episodes(file)
    detector.check(recorded.observations)
    rows = recorded.observations if recorded.index is None else recorded.observations[recorded.index]
    parts = np.split(rows, np.cumsum(recorded.lengths)[:-1])
    names = recorded.names or tuple(str(number) for number in range(len(parts)))
    for begin in range(0, len(parts), _BATCH):
        some = parts[begin : begin + _BATCH]
        beliefs = detector.model(_padded(some), [len(part) for part in some])
        for name, symbols, states, part in zip(names[begin:], beliefs.symbols, beliefs.states, some, strict=False):
            yield from detector.judged(name, symbols[: len(part)], states[: len(part)], True)


@torch.no_grad()
def grounded_rows(folder: Path, lines: Iterable[str]) -> Iterator[Judged]:
    """Follow recordings whose rows come as they happen, as CSV."""
    detector = _Detector.load(folder)
    running: dict[str, Step] = {}
    for rows in csv_rows(lines, "standard input", 1):
        (name,) = rows.recordings
        before = running.get(name)
        if before is None:
            detector.check(rows.features)
        given = () if before is None else (before.belief, before.carry)
        running[name] = now = detector.model.step(rows.features, *given)
        yield from detector.judged(name, now.symbols, now.belief, False)


def _padded(parts: Sequence[NDArray[np.generic]]) -> NDArray[np.generic]:
    """(recordings, time, …) recordings of different lengths, with zeros behind them."""
    whole = np.zeros((len(parts), max(map(len, parts)), *parts[0].shape[1:]), parts[0].dtype)
    for place, part in enumerate(parts):
        whole[place, : len(part)] = part
    return whole.astype(np.float32) if whole.dtype == np.float64 else whole
