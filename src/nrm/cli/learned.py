"""What a run learned of its machine and symbols, in words."""

from __future__ import annotations

from collections.abc import Mapping
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
        right = f"it is the task's, as far as episodes can show; found at episode {at}"
        lines.append("it is not the task's" if at is None else right)
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


NOTHING = "does nothing"


@dataclass(frozen=True)
class LearnedSymbols:
    """What each letter that can be read is to the learned machine."""

    letters: tuple[str, ...]
    """Their names: observations, or given symbols."""
    symbols: tuple[int, ...]
    """The symbol of each; 0 of those that do nothing."""
    names: Mapping[int, str]
    """Of symbols: the atoms of the formula that the machine looks like, else their numbers."""

    @classmethod
    def of(cls, inference: MachineLearning) -> LearnedSymbols | None:
        """Those of the present machine; None where there is none yet."""
        from nrm.inference import guess_formula

        if not inference.versions:
            return None
        known = inference.hypothesis
        symbols = tuple(known.symbols.tolist())
        found = guess_formula(known, inference.levels.values)
        names = {symbol: f"symbol {symbol}" for symbol in sorted(set(symbols)) if symbol}
        names |= {} if found is None else {symbol: atom for atom, symbol in found.symbols.items()}
        count = min(len(symbols), len(inference.letters))
        return cls(tuple(map(inference.letters.name, range(count))), symbols[:count], names)

    def legend(self) -> str:
        """A line for all of them."""
        meant = {
            name: [letter for letter, one in zip(self.letters, self.symbols, strict=True) if one == symbol]
            for symbol, name in self.names.items()
        }
        known = [f"{name} = {listing(letters, 6)}" for name, letters in sorted(meant.items()) if letters]
        return f"learned symbols: {'; '.join([*known, f'anything else {NOTHING}'])}"

    def said(self, letter: int) -> str:
        """What was read at a step, and what it is."""
        known = 0 <= letter < len(self.letters)
        read = self.letters[letter] if known else "something new"
        symbol = self.names.get(self.symbols[letter]) if known else None
        return f"{read}, which {NOTHING}" if symbol is None else f"{read} = {symbol}"
