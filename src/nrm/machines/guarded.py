"""Machines from guarded moves, however many propositions there are: nothing of the size of the alphabet is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from nrm.aliases import BoolArray, Letter, State
from nrm.automata import DEFAULT_LIMITS, LEAF, LetterClasses, Limits, Mtbdd, letter_classes, moves_of_nodes
from nrm.errors import FormulaError, MachineError
from nrm.logic import BOOLEAN, Formula, Term, boolean_function, check_symbols
from nrm.machines.alphabet import Alphabet
from nrm.machines.moore import MooreMachine

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
    limits: Limits = DEFAULT_LIMITS,
) -> MooreMachine:
    """The machine over propositions whose states move as guards say; for each state, every letter matches one guard.

    `rest`: for each state where it goes with all letters that no guard takes; `name`: of a state, for errors.
    """
    work = _Guards(alphabet)
    roots = []
    for state, guarded in enumerate(moves):
        otherwise = rest[state] if state < len(rest) else None
        roots.append(work.state(guarded, otherwise, name(state)))
    made = moves_of_nodes(work.diagrams, roots, work.diagrams.value, len(alphabet.symbols), limits)
    return MooreMachine.of_moves(alphabet, made.merged(), accepting, outputs, initial)


def classes_of_guards(alphabet: Alphabet, guards: Sequence[Formula]) -> tuple[LetterClasses, BoolArray]:
    """Letters over propositions by which guards hold at them: their classes, and (guards, classes) what holds."""
    work = _Guards(alphabet)
    roots = [work.guard(formula) for formula in guards]
    letters, found = letter_classes(work.diagrams, roots, len(alphabet.symbols), DEFAULT_LIMITS)
    truth = [[bool(work.diagrams.value(node)) for node in nodes] for nodes in found]
    return letters, np.array(truth, dtype=bool).reshape(len(found), len(guards)).T


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
                raise MachineError(
                    f"state {name} is not deterministic: the guard '{guard}' and one before it both take "
                    f"'{self.alphabet.letter_name(letter)}'"
                )
        if rest is not None:
            return diagrams.map(root, lambda found: rest if found == _NOWHERE else found, {})
        if (letter := self._letter(root, _NOWHERE)) is not None:
            raise MachineError(f"state {name} has no transition for '{self.alphabet.letter_name(letter)}'")
        return root

    def guard(self, formula: Formula) -> int:
        """The diagram of a Boolean formula: 1 where it holds, 0 elsewhere."""
        check_symbols(formula.atoms(), self.alphabet.symbols)
        for node in formula.postorder():
            if node.op.name not in BOOLEAN:
                raise FormulaError(f"a guard speaks of one step, but '{formula}' uses the operator '{node.op.value}'")
        return boolean_function(formula, self.diagrams, self.alphabet.places, self._done)

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
