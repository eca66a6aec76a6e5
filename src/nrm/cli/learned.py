"""What a run learned of its machine and symbols, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nrm.aliases import Json
from nrm.errors import counted, listing

if TYPE_CHECKING:
    from nrm.runs import LearnedMachines
    from nrm.tracking import MachineLearning


def learned_lines(learned: LearnedMachines, episodes: int) -> list[str]:
    """Lines for the terminal; `episodes`: how many the run has had."""
    found = learned_json(learned, episodes)
    if found["states"] is None:
        return [learned.warning()]
    since = f"{counted(found['states'], 'state')} since episode {found['since_episode']}"
    lines = [f"machine: {since}, {learned.certainty}"]
    if found["right"] is not None:
        at = found["found_at_episode"]
        right = f"it equals the task's machine, as far as episodes can show; found at episode {at}"
        lines.append("it differs from the task's machine" if at is None else right)
    lines += [f"it {learned.guess}"] if learned.guess else []
    return lines + [text for text in (learned.warning(), learned.note) if text]


def learned_json(learned: LearnedMachines, episodes: int) -> Json:
    """The same for programs."""
    last = learned.versions[-1] if learned.versions else None
    # Environments side by side end some episodes past the last one that counts.
    return {
        "states": None if last is None else len(last.levels),
        "since_episode": None if last is None else min(last.episode, episodes),
        "right": None if last is None else last.right,
        "found_at_episode": None if learned.found is None else min(learned.found, episodes),
        "guess": learned.guess,
        "explained": learned.explained,
        "warning": learned.warning(),
        "note": learned.note,
    }


@dataclass(frozen=True)
class LearnedSymbols:
    """What each letter that can be read is to the learned machine."""

    meaning: tuple[tuple[str, str], ...]
    """Its name, and that of its symbol: an atom of the formula that the machine looks like, else a number; empty where
    it does nothing."""

    @classmethod
    def of(cls, inference: MachineLearning) -> LearnedSymbols | None:
        """Those of the present machine; None where there is none yet."""
        from nrm.inference import guess_formula

        if not inference.versions:
            return None
        known = inference.hypothesis
        symbols: list[int] = known.symbols.tolist()[: len(inference.letters)]
        found = guess_formula(known, inference.levels.values)
        atoms = {} if found is None else {symbol: atom for atom, symbol in found.symbols.items()}
        names = [atoms.get(symbol, f"symbol {symbol}" if symbol else "") for symbol in symbols]
        return cls(tuple((inference.letters.name(letter), name) for letter, name in enumerate(names)))

    def legend(self) -> str:
        """A line for all of them."""
        meant: dict[str, list[str]] = {}
        for letter, symbol in self.meaning:
            meant.setdefault(symbol, []).append(letter)
        known = [f"{symbol} = {listing(letters, 6)}" for symbol, letters in sorted(meant.items()) if symbol]
        return f"learned symbols: {'; '.join([*known, 'all others change nothing'])}"

    def said(self, letter: int) -> str:
        """What was read at a step, and what it is."""
        known = 0 <= letter < len(self.meaning)
        read, symbol = self.meaning[letter] if known else ("a new observation", "")
        return f"{read} = {symbol}" if symbol else f"{read}, which changes nothing"
