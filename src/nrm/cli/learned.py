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
    if not learned.versions:
        return [learned.warning()]
    last = learned.versions[-1]
    # Environments side by side end some episodes past the last one that counts.
    since = min(last.episode, episodes)
    lines = [f"machine: {counted(len(last.levels), 'state')} since episode {since}, {learned.certainty}"]
    lines += [_verdict(learned, episodes)] if last.right is not None else []
    lines += [f"it {learned.guess}"] if learned.guess else []
    return lines + [text for text in (learned.warning(), learned.note) if text]


def _verdict(learned: LearnedMachines, episodes: int) -> str:
    """Whether the last machine is right, in words, and from which episode on all were."""
    found = _found(learned, episodes)
    if found is None:
        return "it is not the task's"
    return f"it is the task's, as far as episodes can show; found at episode {found}"


def _found(learned: LearnedMachines, episodes: int) -> int | None:
    found = learned.found
    return None if found is None else min(found, episodes)


def learned_json(learned: LearnedMachines, episodes: int) -> Json:
    """The same for programs."""
    said: Json = {"explained": learned.explained, "warning": learned.warning(), "note": learned.note}
    if not learned.versions:
        return {"states": None, "since_episode": None, "right": None, "found_at_episode": None, "guess": "", **said}
    last = learned.versions[-1]
    since = min(last.episode, episodes)
    return {
        "states": len(last.levels),
        "since_episode": since,
        "right": last.right,
        "found_at_episode": _found(learned, episodes),
        "guess": learned.guess,
        **said,
    }


MAX_LETTERS = 6
"""What a symbol stands for, as far as it is listed."""
NOTHING = "does nothing"


@dataclass(frozen=True)
class LearnedSymbols:
    """What each letter that can be read is to the learned machine."""

    letters: tuple[str, ...]
    """Their names: observations, or symbols that were told."""
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
        told = [f"{name} = {listing(letters, MAX_LETTERS)}" for name, letters in sorted(meant.items()) if letters]
        return f"learned symbols: {'; '.join([*told, f'anything else {NOTHING}'])}"

    def said(self, letter: int) -> str:
        """What was read at a step, and what it is."""
        known = 0 <= letter < len(self.letters)
        read = self.letters[letter] if known else "something new"
        symbol = self.names.get(self.symbols[letter]) if known else None
        return f"{read}, which {NOTHING}" if symbol is None else f"{read} = {symbol}"
