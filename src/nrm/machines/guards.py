"""Sets of letters as readable Boolean formulas, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from nrm.aliases import BoolArray
from nrm.automata import Cube, cubes_of
from nrm.errors import FormulaError, LimitError
from nrm.logic import FALSE, TRUE, Formula, Op, atom, both, check_symbols, either, parse
from nrm.machines.alphabet import Alphabet
from nrm.machines.moore import MooreMachine

TOO_LONG = "(a guard too long to write out)"
"""In the place of a guard, for people."""


def guard(alphabet: Alphabet, letters: BoolArray) -> Formula:
    """A short formula that holds at exactly these letters. letters: (letters,)."""
    if letters.all():
        return TRUE
    if not letters.any():
        return FALSE
    if alphabet.is_exclusive:
        chosen = np.flatnonzero(letters)
        others = np.flatnonzero(~letters)
        if len(chosen) <= len(others) + 1:
            return either(*(atom(alphabet.symbols[index]) for index in chosen))
        return both(*(~atom(alphabet.symbols[index]) for index in others))
    if alphabet.occurring is None:
        lower = upper = int.from_bytes(np.packbits(letters, bitorder="little").tobytes(), "little")
    else:  # what never occurs may be covered or not, whichever is shorter
        taken, other = (_bits(alphabet.occurring, which) for which in (letters, ~letters))
        lower, upper = taken, ((1 << (1 << len(alphabet.symbols))) - 1) & ~other
    cubes, _ = _irredundant(lower, upper, len(alphabet.symbols))
    return either(*(_cube_formula(alphabet, cube) for cube in sorted(cubes, key=lambda cube: (len(cube), cube))))


def moves(machine: MooreMachine, state: int, most: int | None = None) -> list[tuple[int, Formula]]:
    """The states that one state leads to (the first `most` of them), each with the guard that takes it there."""
    alphabet = machine.alphabet
    return machine.moves.guards(
        state, most, lambda letters: guard(alphabet, letters), lambda cubes: _cubes_formula(alphabet, cubes)
    )


def move_texts(machine: MooreMachine, state: int, most: int | None = None) -> list[tuple[int, str]]:
    """`moves` for people: where a guard is too long to be written out, it is only said to be long."""
    try:
        return [(target, str(guard)) for target, guard in moves(machine, state, most)]
    except LimitError:
        return [(target, TOO_LONG) for target in machine.targets(state)[:most]]


def class_text(machine: MooreMachine, number: int) -> str:
    """The guard of a class for people: one that is too long to be written out is only said to be long."""
    try:
        function = machine.letters.function(len(machine.alphabet.symbols))
        return str(_cubes_formula(machine.alphabet, cubes_of(function, 0, [number])))
    except LimitError:
        return TOO_LONG


def _cubes_formula(alphabet: Alphabet, cubes: Sequence[Cube]) -> Formula:
    return either(*(_cube_formula(alphabet, cube) for cube in cubes))


def letters_where(formula: Formula | str, alphabet: Alphabet) -> BoolArray:
    """(letters,) where a Boolean formula over the alphabet's symbols holds."""
    root = parse(formula)
    check_symbols(root.atoms(), alphabet.symbols)
    return evaluated(root, dict(zip(alphabet.symbols, alphabet.letter_masks().astype(bool).T, strict=True)))


def evaluated(root: Formula, atoms: Mapping[str, BoolArray]) -> BoolArray:
    """(letters,) where a Boolean formula holds, given where each of its atoms does."""
    values: dict[Formula, BoolArray] = {}
    size = len(next(iter(atoms.values())))
    for node in root.postorder():
        args = [values[arg] for arg in node.args]
        match node.op:
            case Op.TRUE:
                value = np.ones(size, dtype=bool)
            case Op.FALSE:
                value = np.zeros(size, dtype=bool)
            case Op.ATOM:
                value = atoms[node.name]
            case Op.NOT:
                value = ~args[0]
            case Op.AND:
                value = np.logical_and.reduce(args)
            case Op.OR:
                value = np.logical_or.reduce(args)
            case Op.XOR:
                value = args[0] != args[1]
            case Op.IFF:
                value = args[0] == args[1]
            case Op.IMPLIES:
                value = ~args[0] | args[1]
            case _:
                raise FormulaError(f"a guard speaks of one step, but '{root}' uses the operator '{node.op.value}'")
        values[node] = value
    return values[root]


def _bits(occurring: Sequence[int], letters: BoolArray) -> int:
    return sum(1 << occurring[letter] for letter in np.flatnonzero(letters).tolist())


# In what follows a set of letters is an integer with one bit per letter.


def _irredundant(lower: int, upper: int, variables: int) -> tuple[list[Cube], int]:
    """Cubes that cover `lower` and stay inside `upper`, none superfluous, and what they cover (Minato, Morreale)."""
    if lower == 0:
        return [], 0
    if upper == (1 << (1 << variables)) - 1:
        return [()], upper
    top = variables - 1
    width = 1 << top
    mask = (1 << width) - 1
    low_0, low_1 = lower & mask, lower >> width
    up_0, up_1 = upper & mask, upper >> width
    cubes_0, covered_0 = _irredundant(low_0 & ~up_1, up_0, top)
    cubes_1, covered_1 = _irredundant(low_1 & ~up_0, up_1, top)
    rest = (low_0 & ~covered_0) | (low_1 & ~covered_1)
    cubes, covered = _irredundant(rest, up_0 & up_1, top)
    found = [
        *cubes,
        *((*cube, (top, False)) for cube in cubes_0),
        *((*cube, (top, True)) for cube in cubes_1),
    ]
    return found, (covered_0 | covered) | (covered_1 | covered) << width


def _cube_formula(alphabet: Alphabet, cube: Cube) -> Formula:
    return both(*(atom(alphabet.symbols[index]) if true else ~atom(alphabet.symbols[index]) for index, true in cube))
