"""The symbols that a run learned together with its machine, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nrm.errors import listing

if TYPE_CHECKING:
    from nrm.tracking import MachineLearning

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
