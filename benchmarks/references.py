"""The paper's Algorithm 1 and the brute force: slow, obvious, and there to be compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from nrm.aliases import SymbolMap
from nrm.errors import LimitError
from nrm.logic import Formula, atom, either, parse, substituted
from nrm.machines import Alphabet, MooreMachine, Run, compile_formula, equivalent
from nrm.shortcuts.diagnosis import refuting_string
from nrm.shortcuts.reduction import name_map


@dataclass(frozen=True)
class Candidates:
    """What Algorithm 1 returns."""

    maps: tuple[dict[str, str], ...]
    """The maps that no string refuted."""
    finished: bool
    """Whether every data set stopped growing: only then are all of `maps` shortcuts."""
    strings: int
    """How many strings were looked at."""


def algorithm_1(machine: MooreMachine, strings: int = 2_000_000) -> Candidates:
    """The paper's Algorithm 1, read so that it works: drop a map when it fails, stop when no data set grows.

    It prunes absorbing states (Theorem 3) and self-loops (Theorem 4) only, so on machines with longer cycles the data
    sets grow for ever: after `strings` strings it stops, with `finished` False.
    """
    _check(machine)
    names = [machine.alphabet.letter_name(letter) for letter in range(machine.alphabet.size)]
    steps = dict(zip(names, machine.alphabet.decode(range(machine.alphabet.size)), strict=True))

    def read(string: Sequence[str]) -> Run:
        return machine.run([steps[name] for name in string])

    def works(mapping: SymbolMap, data: list[tuple[str, ...]]) -> bool:
        return all(read(x).outputs == read([mapping[p] for p in x]).outputs for x in data)

    def grown(mapping: SymbolMap, data: list[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
        for x in data:
            here, there = read(x).states[-1], read([mapping[p] for p in x]).states[-1]
            if not machine.absorbing[here] or not machine.absorbing[there]:
                for p in names:
                    longer = (*x, p)
                    image = [mapping[letter] for letter in longer]
                    if here != read(longer).states[-1] or there != read(image).states[-1]:
                        yield longer

    candidates = [dict(zip(names, images, strict=True)) for images in product(names, repeat=len(names))]
    data: list[list[tuple[str, ...]]] = [[(p,) for p in names] for _ in candidates]
    seen = 0
    while any(data):
        kept = []
        for mapping, strings_of_map in zip(candidates, data, strict=True):
            seen += len(strings_of_map)
            if seen > strings:
                return Candidates(tuple(candidates), False, seen)
            if works(mapping, strings_of_map):
                kept.append((mapping, list(grown(mapping, strings_of_map))))
        candidates = [mapping for mapping, _ in kept]
        data = [following for _, following in kept]
    return Candidates(tuple(candidates), True, seen)


def brute_force(
    machines: MooreMachine | Sequence[MooreMachine], horizon: int | None = None
) -> Iterator[dict[str, str]]:
    """Every map that changes no reward, by trying all |P|^|P| and comparing the machine with its renamed twin."""
    tasks = (machines,) if isinstance(machines, MooreMachine) else tuple(machines)
    _check(tasks[0])
    letters = range(tasks[0].alphabet.size)
    for mapping in product(letters, repeat=len(letters)):
        if all(refuting_string(task, mapping, horizon) is None for task in tasks):
            yield name_map(tasks[0].alphabet, mapping)


def brute_force_formulas(formula: Formula | str, symbols: Sequence[str]) -> Iterator[tuple[dict[str, str], bool]]:
    """Every map of the symbols, with whether the renamed formula means the same, by translating it anew."""
    task, alphabet = parse(formula), Alphabet.exclusive(symbols)
    machine = compile_formula(task, alphabet, reward="acceptance")
    _check(machine)
    for mapping in product(range(alphabet.size), repeat=alphabet.size):
        names = name_map(alphabet, mapping)
        renamed = compile_formula(rename(task, names), alphabet, reward="acceptance")
        yield names, equivalent(machine, renamed)


def rename(formula: Formula, mapping: SymbolMap) -> Formula:
    """The formula that reads each symbol as `mapping` says: an atom holds where any symbol that is read as it holds."""
    read_as = {name: [atom(symbol) for symbol, image in mapping.items() if image == name] for name in formula.atoms()}
    return substituted(formula, {name: either(*symbols) for name, symbols in read_as.items()})


def _check(machine: MooreMachine) -> None:
    size, most = machine.alphabet.size, 5_000_000
    if size > 20 or size**size > most:
        raise LimitError(
            f"{size} letters have {size}^{size} maps, more than the {most:,} that this reference looks at; "
            "nrm.shortcuts has no such limit"
        )
