"""Maps of letters by name and by number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from nrm.aliases import Letter, SymbolMap
from nrm.errors import AlphabetError, listing
from nrm.machines import Alphabet


def map_letters(alphabet: Alphabet, mapping: SymbolMap) -> dict[Letter, Letter]:
    """The images of letters under a map by names; letters that it does not name stay what they are."""
    values: dict[Letter, Letter] = {}
    if not is_by_names(mapping):
        wrong = next(name for pair in mapping.items() for name in pair if not isinstance(name, str))
        raise AlphabetError(f"a map takes names of letters to names of letters; {wrong!r} is no name")
    for name, image in mapping.items():
        values[alphabet.letter(alphabet.read_step(name))] = alphabet.letter(
            alphabet.read_step(image), f"the image of '{name}'"
        )
    return values


def class_name(letters: Sequence[str]) -> str:
    """A class of letters: the letter itself, or `{a, b}`."""
    return letters[0] if len(letters) == 1 else "{" + listing(letters, 3) + "}"


def is_by_names(mapping: Mapping[Any, Any]) -> TypeGuard[SymbolMap]:
    """Whether a map takes names to names."""
    return all(isinstance(name, str) for pair in mapping.items() for name in pair)


def name_map(alphabet: Alphabet, values: Sequence[Letter]) -> dict[str, str]:
    """A map of letters by names."""
    return {alphabet.letter_name(letter): alphabet.letter_name(value) for letter, value in enumerate(values)}
