"""Random formulas and machines for property tests."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st

from nrm.aliases import Step
from nrm.logic.ltlf.formula import Formula, Op, atom
from nrm.machines import Alphabet, MooreMachine

FUTURE_UNARY = (Op.NOT, Op.NEXT, Op.WEAK_NEXT, Op.EVENTUALLY, Op.ALWAYS)
FUTURE_BINARY = (
    Op.AND,
    Op.OR,
    Op.XOR,
    Op.IMPLIES,
    Op.IFF,
    Op.UNTIL,
    Op.RELEASE,
    Op.WEAK_UNTIL,
    Op.STRONG_RELEASE,
)
PAST_UNARY = (Op.NOT, Op.YESTERDAY, Op.ONCE, Op.HISTORICALLY)
PAST_BINARY = (Op.AND, Op.OR, Op.SINCE)


def formulas(atoms: tuple[str, ...] = ("a", "b"), leaves: int = 6, past: bool = True) -> st.SearchStrategy[Formula]:
    """Formulas over every operator; past operators stand over past operators only, as the translation asks."""
    names = st.sampled_from(atoms).map(atom)
    constants = st.sampled_from((Op.TRUE, Op.FALSE, Op.LAST, Op.END)).map(Formula)
    base = st.one_of(names, names, constants)
    if past:
        base = st.one_of(base, _closed(names, PAST_UNARY, PAST_BINARY, leaves=3))
    return _closed(base, FUTURE_UNARY, FUTURE_BINARY, leaves)


SHARED_WITH_LTLF2DFA = (
    (Op.NOT, Op.NEXT, Op.WEAK_NEXT, Op.EVENTUALLY, Op.ALWAYS),
    (Op.AND, Op.OR, Op.IMPLIES, Op.IFF, Op.UNTIL, Op.RELEASE),
)
"""The operators that ltlf2dfa reads too, and reads alike."""


def formulas_over(
    unary: tuple[Op, ...], binary: tuple[Op, ...], atoms: tuple[str, ...] = ("a", "b"), leaves: int = 6
) -> st.SearchStrategy[Formula]:
    """Formulas over some operators, without constants."""
    return _closed(st.sampled_from(atoms).map(atom), unary, binary, leaves)


def _closed(
    base: st.SearchStrategy[Formula], unary: tuple[Op, ...], binary: tuple[Op, ...], leaves: int
) -> st.SearchStrategy[Formula]:
    def extend(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
        return st.one_of(
            st.builds(lambda op, arg: Formula(op, (arg,)), st.sampled_from(unary), inner),
            st.builds(lambda op, left, right: Formula(op, (left, right)), st.sampled_from(binary), inner, inner),
        )

    return st.recursive(base, extend, max_leaves=leaves)


def traces(letters: list[Step], longest: int) -> Iterator[tuple[Step, ...]]:
    """Every non-empty trace over some letters, up to a length."""
    for length in range(1, longest + 1):
        yield from itertools.product(letters, repeat=length)


@st.composite
def machines(draw: st.DrawFn, propositional: bool | None = None, max_states: int = 6) -> MooreMachine:
    """Complete machines, not minimal and not canonical."""
    if propositional is None:
        propositional = draw(st.booleans())
    alphabet = Alphabet.propositional(["a", "b"]) if propositional else Alphabet.exclusive(["a", "b", "empty-cell"])
    states = draw(st.integers(1, max_states))
    rows = st.lists(st.integers(0, states - 1), min_size=alphabet.size, max_size=alphabet.size)
    table = np.array(draw(st.lists(rows, min_size=states, max_size=states)))
    accepting = draw(st.lists(st.booleans(), min_size=states, max_size=states))
    level = st.sampled_from((-100.0, 0.0, 100.0 / 3.0, 50.0, 100.0))
    outputs = draw(st.lists(level, min_size=states, max_size=states))
    return MooreMachine.from_table(alphabet, table, accepting, outputs, draw(st.integers(0, states - 1)))
