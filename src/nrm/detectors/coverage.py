"""What judged recordings can teach: which symbols their verdicts tell apart, and which recordings would help.

A grounder that reads symbol p as q is refuted by a recording whose verdict that changes. Before anything is learned the
symbols of a recording are unknown; but its length and its verdict are not, and if all symbols are equally frequent they
tell how many recordings to expect that refute the confusion. Where these are few, a network explains them away.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import FloatArray
from nrm.machines import MooreMachine, TaskSet

FEW = 5
"""Recordings below which those that show something are few."""


@dataclass(frozen=True)
class SymbolPair:
    """How well the recordings tell one symbol from another."""

    read: str
    """The symbol that holds."""
    as_: str
    """The symbol that it is taken for."""
    exchanged: bool
    """Whether that one is also taken for this."""
    recordings: float
    """How many recordings have a verdict that this changes: expected before learning, counted by detected symbols
    after it."""
    example: tuple[str, ...] | None
    """The shortest recording whose verdict it changes; None where no recording's is changed: a reasoning shortcut."""
    verdict: bool | None
    """The verdict of that example."""
    rule: str = ""
    """The rule of that example."""

    def __str__(self) -> str:
        if self.example is None:
            return f"no verdict tells {self._apart}; a few labelled steps, or another rule, would help"
        verdict = "passes" if self.verdict else "fails"
        return (
            f"about {self.recordings:.0f} recordings tell {self._apart}; more like "
            f"[{' '.join(self.example)}], which {verdict}, would help"
        )

    @property
    def _apart(self) -> str:
        return f"which of {self.read} and {self.as_} is which" if self.exchanged else f"{self.read} from {self.as_}"


@dataclass(frozen=True)
class Coverage:
    """What judged recordings can teach."""

    recordings: tuple[tuple[str, int, int], ...]
    """Each rule, with how many recordings pass it and how many fail it."""
    pairs: tuple[SymbolPair, ...]
    """For each two symbols how well they are separated, the worst first."""

    @property
    def total(self) -> int:
        """How many recordings there are."""
        return sum(passed + failed for _, passed, failed in self.recordings)

    @property
    def majority(self) -> float:
        """The share of verdicts that are right if always the more frequent one of the rule is given."""
        return sum(max(passed, failed) for _, passed, failed in self.recordings) / self.total

    @property
    def weak(self) -> tuple[SymbolPair, ...]:
        """The confusions that few recordings refute, and that more recordings would."""
        few = max(FEW, 0.01 * self.total)  # a network learns as many by heart
        return tuple(one for one in self.pairs if one.example is not None and one.recordings < few)

    @property
    def shortcuts(self) -> tuple[SymbolPair, ...]:
        """The confusions that no verdict at all refutes, one for each two symbols."""
        found = {frozenset((one.read, one.as_)): one for one in reversed(self.pairs) if one.example is None}
        return tuple(reversed(found.values()))

    def __str__(self) -> str:
        lines = [f"{rule}: {passed} recordings pass, {failed} fail" for rule, passed, failed in self.recordings]
        lines += [str(one) for one in (*self.shortcuts, *self.weak)]
        return "\n".join(lines if len(lines) > len(self.recordings) else [*lines, "all symbols are separated"])


def coverage(
    tasks: TaskSet,
    of_task: Sequence[int],
    verdicts: Sequence[bool],
    lengths: Sequence[int],
    letters: Sequence[NDArray[np.int64]] | None = None,
) -> Coverage:
    """What recordings can teach, by their lengths and verdicts, or by detected `letters` (time,) of each."""
    numbers, passed = np.asarray(of_task), np.asarray(verdicts, dtype=bool)
    recordings = tuple(
        (name, int((passed & (numbers == task)).sum()), int((~passed & (numbers == task)).sum()))
        for task, name in enumerate(tasks.names)
    )
    found = []
    for one, other in itertools.permutations(range(len(tasks.alphabet.symbols)), 2):
        for exchanged in (False, True)[: 1 + (one < other)]:
            mapping = np.arange(len(tasks.alphabet.symbols))
            mapping[one] = other
            mapping[other] = one if exchanged else other
            against = 0.0
            for task, machine in enumerate(tasks.machines):
                mine = np.flatnonzero(numbers == task)
                if letters is None:
                    against += _expected(machine, mapping, np.asarray(lengths)[mine], passed[mine])
                else:
                    against += _counted(machine, mapping, [letters[number] for number in mine.tolist()])
            found.append(_pair(tasks, one, other, exchanged, mapping, against))
    return Coverage(recordings, tuple(sorted(found, key=lambda each: (each.example is not None, each.recordings))))


def _expected(
    machine: MooreMachine, mapping: NDArray[np.int64], lengths: NDArray[np.int64], passed: NDArray[np.bool_]
) -> float:
    """How many recordings have a verdict that a mapping of letters changes, if all letters are equally frequent."""
    if not len(lengths):
        return 0.0
    moves = np.eye(machine.states)[machine.transitions.T]
    both: FloatArray = np.zeros((machine.states, machine.states))
    both[machine.initial, machine.initial] = 1.0
    accepts, total = machine.accepting, 0.0
    for length in range(1, int(lengths.max()) + 1):
        both = np.einsum("pqr,qs,pst->rt", moves, both, moves[mapping], optimize=True) / len(moves)
        for verdict in (True, False):
            count = int(((lengths == length) & (passed == verdict)).sum())
            alike = both[accepts == verdict]
            if count and alike.sum() > 0:
                total += count * float(alike[:, accepts != verdict].sum() / alike.sum())
    return total


def _counted(machine: MooreMachine, mapping: NDArray[np.int64], letters: Sequence[NDArray[np.int64]]) -> float:
    """The same of recordings whose letters are known."""
    if not letters:
        return 0.0
    lengths = np.array([len(steps) for steps in letters])
    padded = np.zeros((lengths.max(), len(letters)), dtype=np.int64)
    for number, steps in enumerate(letters):
        padded[: len(steps), number] = steps
    said = mapped = np.full(len(letters), machine.initial)
    for step, read in enumerate(padded):
        real = lengths > step
        said = np.where(real, machine.transitions[said, read], said)
        mapped = np.where(real, machine.transitions[mapped, mapping[read]], mapped)
    return float((machine.accepting[said] != machine.accepting[mapped]).sum())


def _pair(
    tasks: TaskSet, one: int, other: int, exchanged: bool, mapping: NDArray[np.int64], against: float
) -> SymbolPair:
    names = tasks.alphabet.symbols
    found = [(_shortest(machine, mapping), rule) for machine, rule in zip(tasks.machines, tasks.names, strict=True)]
    examples = [(len(word[0]), word, rule) for word, rule in found if word is not None]
    if not examples:
        return SymbolPair(names[one], names[other], exchanged, against, None, None)
    _, (letters, verdict), rule = min(examples, key=lambda example: example[0])
    example = tuple(names[letter] for letter in letters)
    return SymbolPair(names[one], names[other], exchanged, against, example, verdict, rule)


def _shortest(machine: MooreMachine, mapping: NDArray[np.int64]) -> tuple[tuple[int, ...], bool] | None:
    """The shortest letters whose verdict a mapping changes, and their verdict; None where there are none."""
    start = (machine.initial, machine.initial)
    words: dict[tuple[int, int], tuple[int, ...]] = {start: ()}
    queue = [start]
    for state, mapped in queue:
        for letter, image in enumerate(mapping.tolist()):
            after = machine.next_state(state, letter), machine.next_state(mapped, image)
            if after in words:
                continue
            words[after] = (*words[state, mapped], letter)
            if machine.accepting[after[0]] != machine.accepting[after[1]]:
                return words[after], bool(machine.accepting[after[0]])
            queue.append(after)
    return None


def advice(found: Coverage, limit: int = 3) -> str:
    """A sentence about confusions that few or no recordings refute; empty if there are none."""
    said = [*map(str, found.shortcuts[:limit]), *map(str, found.weak[:limit])]
    return f"{found.total} recordings do not tell all symbols apart: {'; '.join(said)}" if said else ""
