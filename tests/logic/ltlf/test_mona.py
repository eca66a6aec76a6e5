"""Agreement with an independent translator: ltlf2dfa, which runs the MONA program."""

from __future__ import annotations

import re
import shutil

import pytest
from hypothesis import given, settings

from nrm.automata import Dfa
from nrm.logic import Formula, translate
from nrm.logic.ltlf.formula import Op
from tests.strategies import SHARED_WITH_LTLF2DFA, formulas_over

pytestmark = [
    pytest.mark.mona,
    pytest.mark.skipif(shutil.which("mona") is None, reason="the mona program is not installed"),
    pytest.mark.xdist_group("mona"),  # ltlf2dfa writes one scratch file for all its users
]


def mona_automaton(formula: Formula) -> tuple[list[str], set[int], list[tuple[int, str, int]]]:
    """The variables, accepting states and moves that MONA prints; its state 0 reads no letter."""
    ltlf2dfa = pytest.importorskip("ltlf2dfa.ltlf2dfa")
    parser = pytest.importorskip("ltlf2dfa.parser.ltlf").LTLfParser()
    text = ltlf2dfa.to_dfa(parser(fully_parenthesised(formula)), mona_dfa_out=True)
    if "Formula is unsatisfiable" in text:
        return [], set(), []
    names = re.search(r"free variables:(.*)\n", text)
    accepting = re.search(r"Accepting states:(.*)\n", text)
    assert names is not None
    assert accepting is not None
    moves = re.findall(r"State (\d+): ([01X]*) -> state (\d+)", text)
    return (
        names.group(1).lower().split(),
        {int(state) for state in accepting.group(1).split()},
        [(int(source), guard, int(target)) for source, guard, target in moves],
    )


def fully_parenthesised(formula: Formula) -> str:
    if formula.op is Op.ATOM:
        return formula.name
    if not formula.args:
        return str(formula.op.value)
    if len(formula.args) == 1:
        return f"{formula.op.value}({fully_parenthesised(formula.args[0])})"
    return "(" + f" {formula.op.value} ".join(fully_parenthesised(arg) for arg in formula.args) + ")"


def agree(ours: Dfa, names: list[str], accepting: set[int], moves: list[tuple[int, str, int]]) -> bool:
    """Walk both automata together over all letters, and compare acceptance after every non-empty trace."""
    table: dict[int, list[tuple[str, int]]] = {}
    for source, guard, target in moves:
        table.setdefault(source, []).append((guard, target))

    def theirs(state: int, letter: int) -> int:
        true = {name for bit, name in enumerate(ours.atoms) if letter >> bit & 1}
        for guard, target in table[state]:
            if all(mark == "X" or (mark == "1") == (name in true) for mark, name in zip(guard, names, strict=True)):
                return target
        raise AssertionError("MONA's automaton is incomplete")

    seen = {(0, 1)}
    pending = [(0, 1)]
    while pending:
        here, there = pending.pop()
        for letter in range(1 << len(ours.atoms)):
            pair = (int(ours.columns[here, ours.letter_class[letter]]), theirs(there, letter))
            if bool(ours.accepting[pair[0]]) != (pair[1] in accepting):
                return False
            if pair not in seen:
                seen.add(pair)
                pending.append(pair)
    return True


@given(formulas_over(*SHARED_WITH_LTLF2DFA, leaves=8))
@settings(max_examples=40)
def test_agreement_on_random_formulas(formula: Formula) -> None:
    ours = translate(formula, exclusive=False)
    names, accepting, moves = mona_automaton(formula)
    if not moves:
        assert not ours.accepting.any()
    else:
        assert agree(ours, names, accepting, moves)
