"""LTLf to a minimal DFA.

Boolean structure at the top of the formula, and next operators there, are built from the automata of the parts by
product and minimisation; what lies below is translated by progression. This keeps long conjunctions of small tasks
small on the way, and avoids one huge determinisation.
"""

from __future__ import annotations

import numpy as np

from nrm.logic.dfa import Dfa, Limits, after_one_step, product, product_of_all
from nrm.logic.formula import FUTURE, PAST, Formula, Op, prefix
from nrm.logic.parser import parse
from nrm.logic.progression import progress

DEFAULT_LIMITS = Limits()


def translate(formula: Formula | str, exclusive: bool, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """The minimal DFA of a formula over the atoms that it names (the paper's section on groundability, "DFAs").

    `exclusive` says whether exactly one symbol, or any subset of the atoms, holds at each step. Equivalent formulas
    over the same atoms in the same order give identical automata. Raises `LimitError` instead of filling the memory.
    """
    root = parse(formula)
    temporal = _with(root, FUTURE | PAST)
    past = _with(root, PAST)
    done: dict[Formula, Dfa] = {}
    pending = [(root, False)]
    while pending:
        node, ready = pending.pop()
        if node in done:
            continue
        parts = _parts(node, past) if node in temporal else ()
        if ready or not parts:
            done[node] = _combined(node, [done[part] for part in parts], exclusive, limits)
        else:
            pending.append((node, True))
            pending.extend((part, False) for part in parts)
    return done[root]


def _parts(node: Formula, past: set[Formula]) -> tuple[Formula, ...]:
    """The parts that a formula's automaton is composed of; none when it is translated by progression."""
    match node.op:
        case Op.NOT | Op.AND | Op.OR | Op.IMPLIES | Op.IFF | Op.XOR:
            return node.args
        case Op.NEXT | Op.WEAK_NEXT if node not in past:  # a past operator inside sees the step that is cut off
            return node.args
        case Op.ALWAYS if node.args[0].op is Op.AND:
            return tuple(prefix(Op.ALWAYS, part) for part in node.args[0].args)
        case Op.EVENTUALLY if node.args[0].op is Op.OR:
            return tuple(prefix(Op.EVENTUALLY, part) for part in node.args[0].args)
        case _:
            return ()


def _combined(node: Formula, parts: list[Dfa], exclusive: bool, limits: Limits) -> Dfa:
    if not parts:
        return progress(node, exclusive, limits).minimal()
    match node.op:
        case Op.NOT:
            return parts[0].complement().minimal()
        case Op.AND | Op.ALWAYS:
            return product_of_all(parts, np.logical_and, limits)
        case Op.OR | Op.EVENTUALLY:
            return product_of_all(parts, np.logical_or, limits)
        case Op.NEXT | Op.WEAK_NEXT:
            return after_one_step(parts[0], weak=node.op is Op.WEAK_NEXT).minimal()
        case Op.IMPLIES:
            return product(parts[0].complement(), parts[1], np.logical_or, limits).minimal()
        case _:
            differ = product(parts[0], parts[1], np.logical_xor, limits)
            return (differ.complement() if node.op is Op.IFF else differ).minimal()


def _with(root: Formula, operators: frozenset[Op]) -> set[Formula]:
    """The subformulas that are, or contain, one of the operators."""
    found: set[Formula] = set()
    for node in root.postorder():
        if node.op in operators or any(arg in found for arg in node.args):
            found.add(node)
    return found
