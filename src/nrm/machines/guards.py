"""Sets of letters as readable Boolean formulas, and machines from guarded moves."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from nrm.aliases import BoolArray, IntArray, Letter, State
from nrm.automata import (
    DEFAULT_LIMITS,
    LEAF,
    Cube,
    LetterClasses,
    ListedLetters,
    Mtbdd,
    cubes_of,
    letter_classes,
    moves_of_nodes,
)
from nrm.errors import FormulaError, LimitError, MachineError, shorten
from nrm.logic import (
    BOOLEAN,
    Formula,
    Term,
    atom,
    boolean_function,
    both,
    check_symbols,
    either,
    parse,
    step_value,
)
from nrm.machines.alphabet import Alphabet
from nrm.machines.moore import MooreMachine

TOO_LONG = "(a guard too long to write out)"
"""In the place of a guard, for people."""


def guard(alphabet: Alphabet, letters: BoolArray) -> Formula:
    """A short formula that holds at exactly these letters. letters: (letters,)."""
    return _cubes_formula(alphabet, alphabet.cubes(letters))


def moves(machine: MooreMachine, state: int, most: int | None = None) -> list[tuple[int, Formula]]:
    """The states that one state leads to (the first `most` of them), each with the guard that takes it there."""
    alphabet = machine.alphabet
    found = machine.moves.guards(state, most, alphabet.cubes)
    return [(target, _cubes_formula(alphabet, cubes)) for target, cubes in found]


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
    names = [atom(name) for name in alphabet.symbols]
    return either(*(both(*(names[index] if true else ~names[index] for index, true in cube)) for cube in cubes))


def read_guard(text: str, names: re.Pattern[str], name: Callable[[str], str], line: int) -> Formula:
    """The guard of a file's text, in which `names` are found and written as `name` says."""
    try:
        return parse(names.sub(lambda found: name(found[0]), text))
    except FormulaError as error:
        reason = str(error).splitlines()[0].replace("formula", "guard")
        raise MachineError(f"line {line}: the guard '{shorten(text)}' cannot be read: {reason}") from None


def letters_where(formula: Formula | str, alphabet: Alphabet) -> BoolArray:
    """(letters,) where a Boolean formula over the alphabet's symbols holds."""
    root = _checked(parse(formula), alphabet)
    masks = alphabet.letter_masks().astype(bool)
    holds = step_value(root, lambda name: masks[:, alphabet.places[name]])
    return np.full(len(masks), holds) if isinstance(holds, bool) else np.asarray(holds)


def _checked(formula: Formula, alphabet: Alphabet) -> Formula:
    """A formula that can be a guard; an error for one of other symbols, or of more than one step."""
    check_symbols(formula.atoms(), alphabet.symbols)
    if later := [node for node in formula.postorder() if node.op.name not in BOOLEAN]:
        raise FormulaError(f"a guard speaks of one step, but '{formula}' uses the operator '{later[0].op.value}'")
    return formula


Move: TypeAlias = tuple[Formula, State]
"""A guard, and where it leads."""

_NOWHERE, _TWICE = -1, -2


def machine_of_moves(
    alphabet: Alphabet,
    moves: Sequence[Sequence[Move]],
    accepting: ArrayLike,
    outputs: ArrayLike,
    initial: State = 0,
    *,
    rest: Sequence[State | None] = (),
    name: Callable[[State], str] = str,
) -> MooreMachine:
    """The machine whose states move as guards say; for each state, every letter matches one guard.

    `rest`: for each state where it goes with all letters that no guard takes; `name`: of a state, for errors.
    """
    states = [(guarded, rest[state] if rest else None, name(state)) for state, guarded in enumerate(moves)]
    if alphabet.is_small:
        table = [_row(alphabet, *state) for state in states]
        return MooreMachine.from_table(alphabet, table, accepting, outputs, initial)
    work = _Guards(alphabet)
    roots = [work.state(*state) for state in states]
    made = moves_of_nodes(work.diagrams, roots, work.diagrams.value, len(alphabet.symbols), DEFAULT_LIMITS)
    return MooreMachine.of_moves(alphabet, made.merged(), accepting, outputs, initial)


def guard_classes(alphabet: Alphabet, guards: Sequence[Formula]) -> tuple[LetterClasses, BoolArray, Sequence[Letter]]:
    """Classes of letters, (guards, classes) which guards hold there, and a letter of each class."""
    if alphabet.is_small:
        letters = ListedLetters(np.arange(alphabet.size, dtype=np.int32))
        truth = np.array([letters_where(formula, alphabet) for formula in guards], dtype=bool)
        return letters, truth, range(alphabet.size)
    work, count = _Guards(alphabet), len(alphabet.symbols)
    classes, found = letter_classes(work.diagrams, [work.guard(one) for one in guards], count, DEFAULT_LIMITS)
    held = [[bool(work.diagrams.value(node)) for node in nodes] for nodes in found]
    examples = classes.examples(alphabet.plainest_first)
    truth = np.array(held, dtype=bool).reshape(len(found), len(guards)).T
    return classes, truth, [examples[number] for number in range(len(examples))]


def _row(alphabet: Alphabet, guarded: Sequence[Move], rest: State | None, name: str) -> IntArray:
    """(letters,) where a state goes."""
    row = np.full(alphabet.size, _NOWHERE, dtype=np.int32)
    for formula, target in guarded:
        here = letters_where(formula, alphabet)
        if (twice := here & (row != _NOWHERE)).any():
            raise _taken_twice(alphabet, name, formula, int(twice.argmax()))
        row[here] = target
    if rest is not None:
        row[row == _NOWHERE] = rest
    if (row == _NOWHERE).any():
        raise _not_taken(alphabet, name, int((row == _NOWHERE).argmax()))
    return row


def _taken_twice(alphabet: Alphabet, name: str, formula: Formula, letter: Letter) -> MachineError:
    return MachineError(
        f"state {name} is not deterministic: the guard '{formula}' and one before it both take "
        f"'{alphabet.letter_name(letter)}'"
    )


def _not_taken(alphabet: Alphabet, name: str, letter: Letter) -> MachineError:
    return MachineError(f"state {name} has no transition for '{alphabet.letter_name(letter)}'; give it one")


class _Guards:
    def __init__(self, alphabet: Alphabet) -> None:
        self.alphabet = alphabet
        self.diagrams: Mtbdd[int] = Mtbdd(DEFAULT_LIMITS.nodes)
        self._done: dict[Term, int] = {}

    def state(self, guarded: Sequence[Move], rest: State | None, name: str) -> int:
        """The diagram of where a state goes."""
        diagrams = self.diagrams
        root = diagrams.leaf(_NOWHERE)
        for guard, target in guarded:

            def join(so_far: int, taken: int, target: int = target) -> int:
                return so_far if not taken else target if so_far == _NOWHERE else _TWICE

            root = diagrams.apply(root, self.guard(guard), join, {})
            if (letter := self._letter(root, _TWICE)) is not None:
                raise _taken_twice(self.alphabet, name, guard, letter)
        if rest is not None:
            return diagrams.map(root, lambda found: rest if found == _NOWHERE else found, {})
        if (letter := self._letter(root, _NOWHERE)) is not None:
            raise _not_taken(self.alphabet, name, letter)
        return root

    def guard(self, formula: Formula) -> int:
        """The diagram of a Boolean formula: 1 where it holds, 0 elsewhere."""
        return boolean_function(_checked(formula, self.alphabet), self.diagrams, self.alphabet.places, self._done)

    def _letter(self, root: int, value: int) -> Letter | None:
        """A letter at which a diagram has a value; None if there is none."""
        diagrams = self.diagrams
        pending, seen = [(root, 0)], {root}
        while pending:
            node, letter = pending.pop()
            if diagrams.var[node] == LEAF:
                if diagrams.value(node) == value:
                    return letter
                continue
            for child, bit in ((diagrams.high[node], 1), (diagrams.low[node], 0)):
                if child not in seen:
                    seen.add(child)
                    pending.append((child, letter | bit << diagrams.var[node]))
        return None
