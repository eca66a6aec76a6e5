"""Maps of letters by name and by number."""

from __future__ import annotations

from collections.abc import Sequence

from nrm.aliases import Letter, SymbolMap
from nrm.machines import Alphabet


def map_letters(alphabet: Alphabet, mapping: SymbolMap) -> list[Letter]:
    """The image of each letter under a map by names; letters that it does not name stay what they are."""
    values = list(range(alphabet.size))
    for name, image in mapping.items():
        values[alphabet.letter(alphabet.read_step(name))] = alphabet.letter(
            alphabet.read_step(image), f"the image of '{name}'"
        )
    return values


def name_map(alphabet: Alphabet, values: Sequence[Letter]) -> dict[str, str]:
    """A map of letters by names."""
    return {alphabet.letter_name(letter): alphabet.letter_name(value) for letter, value in enumerate(values)}
