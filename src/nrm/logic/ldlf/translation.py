"""LDLf to a minimal DFA.

By progression in one go where that is small, by reading traces from their end where letters are few, else by products
of the Boolean parts.
"""

from __future__ import annotations

from nrm.automata import DEFAULT_LIMITS, Dfa, Limits
from nrm.errors import LimitError
from nrm.logic.composition import BOOLEAN_OPERATORS, boolean_combination
from nrm.logic.ldlf.closure import closure
from nrm.logic.ldlf.formula import Ldlf
from nrm.logic.ldlf.parser import parse
from nrm.logic.progression import by_reversal, progress

SMALL = Limits(states=200, nodes=20_000)
"""What progression of a whole formula may use before its Boolean structure is taken apart."""


def translate(formula: Ldlf | str, exclusive: bool, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """The minimal DFA of a formula over the atoms that it names, of non-empty traces; see `nrm.logic.Language`."""
    root = parse(formula)
    try:
        return _translated(root, exclusive, limits)
    except RecursionError:
        raise LimitError(
            f"the formula's paths are nested too deep to be translated (depth {root.depth}); "
            "split it into several tasks"
        ) from None


def _translated(node: Ldlf, exclusive: bool, limits: Limits) -> Dfa:
    nodes = closure(node)
    modest = Limits(min(limits.states, SMALL.states), limits.cells, min(limits.nodes, SMALL.nodes))
    try:
        return progress(nodes, exclusive, modest).minimal()
    except LimitError:
        if (found := by_reversal(nodes, node.atoms(), exclusive, limits)) is not None:
            return found
    if node.op.name not in BOOLEAN_OPERATORS:
        return progress(nodes, exclusive, limits).minimal()
    parts = [_translated(arg, exclusive, limits) for arg in node.args]
    return boolean_combination(node.op.name, parts, limits, node.atoms())
