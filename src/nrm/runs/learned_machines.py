"""The file machines.json of a run that learns its machine: every version of it, and what refuted each."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from nrm.files import read_json, write_json
from nrm.inference import guess_formula
from nrm.tracking import MachineLearning, Version, found_at

MACHINES_FILE = "machines.json"


@dataclass(frozen=True)
class LearnedMachines:
    """What a run learned of its machine, version by version."""

    versions: tuple[Version, ...]
    letters: tuple[str, ...]
    """The names of all letters: observations, or given symbols."""
    guess: str
    """The formula that the last machine looks like, in words; empty where it looks like none."""
    certainty: str
    """How much of the last machine was seen, in words."""
    note: str
    """Why the last machine does not explain everything; empty where it does."""
    explained: float | None = None
    """The share of the last episodes that it explains; None where there is no machine, or nobody knows."""

    @classmethod
    def of(cls, inference: MachineLearning) -> LearnedMachines:
        """What has been learned so far."""
        # Symbols that a grounder reads may have been more once.
        count = max([len(inference.letters), *(len(version.symbols) for version in inference.versions)])
        names = tuple(inference.letters.name(letter) for letter in range(count))
        known = inference.hypothesis
        found = guess_formula(known, inference.levels.values) if inference.versions else None
        meant: dict[int, list[str]] = {}
        for name, symbol in zip(names, known.symbols.tolist(), strict=False):
            meant.setdefault(symbol, []).append(name)
        guess = "" if found is None else found.describe(meant)
        certainty = str(known.certainty()) if inference.versions else ""
        return cls(tuple(inference.versions), names, guess, certainty, inference.note, inference.explained())

    @property
    def found(self) -> int | None:
        """The episode from which on all machines were the task's; None where the last is not, or nobody knows."""
        return found_at(self.versions)

    def warning(self) -> str:
        """That there is no machine, or that it is not to be relied on; empty where it may be."""
        if not self.versions:
            return f"no machine yet: {self.note or 'no episode has shown a change of potential'}"
        if self.explained is None or self.explained >= 0.95:  # such a machine may be relied on
            return ""
        return (
            f"caution: the machine explains {self.explained:.0%} of the last episodes only, so it is wrong, or rewards "
            "or symbols are sometimes wrong (inference.reward_noise, inference.label_noise)"
        )

    def write(self, folder: Path) -> None:
        """Write the file into a run's folder."""
        write_json(folder / MACHINES_FILE, asdict(self), indent=None)

    @classmethod
    def read(cls, folder: Path) -> LearnedMachines | None:
        """What the file of a run's folder holds; None where there is none."""
        path = folder / MACHINES_FILE
        if not path.exists():
            return None
        found: LearnedMachines = read_json(path, cls)
        return found
