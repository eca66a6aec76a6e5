"""Regular expressions to a minimal DFA: the states are derivatives."""

from __future__ import annotations

import numpy as np

from nrm.automata import DEFAULT_LIMITS, Dfa, Limits, moves_of_nodes
from nrm.errors import LimitError
from nrm.logic.composition import boolean_combination
from nrm.logic.ltlf.translation import translate as translate_ltlf
from nrm.logic.regex.derivatives import Derivatives, expression
from nrm.logic.regex.formula import Op, Regex
from nrm.logic.regex.parser import parse
from nrm.logic.regex.patterns import formula_of

SMALL = Limits(states=500, nodes=20_000)
"""What derivatives of a Boolean combination may use before it is taken apart."""


def translate(formula: Regex | str, exclusive: bool, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """The minimal DFA of the non-empty traces that match, over the atoms of the expression."""
    root = parse(formula)
    patterns = [node for node in root.postorder() if node.op is Op.PATTERN]
    runs = {node: translate_ltlf(formula_of(node), exclusive, limits) for node in patterns}
    try:
        return _translated(root, runs, exclusive, limits)
    except RecursionError:
        raise LimitError(
            f"the expression is nested too deep to be translated (depth {root.depth}); split it into several tasks"
        ) from None


_COMBINED = {Op.BOTH: "AND", Op.CHOICE: "OR", Op.COMPLEMENT: "NOT"}


def _translated(node: Regex, runs: dict[Regex, Dfa], exclusive: bool, limits: Limits) -> Dfa:
    """By derivatives where that is short, else by products of the parts of a Boolean combination."""
    if node.op not in _COMBINED:
        return _explored(node, runs, exclusive, limits).minimal()
    modest = Limits(min(limits.states, SMALL.states), limits.cells, min(limits.nodes, SMALL.nodes))
    try:
        return _explored(node, runs, exclusive, modest).minimal()
    except LimitError:
        parts = [_translated(arg, runs, exclusive, limits) for arg in node.args]
        return boolean_combination(_COMBINED[node.op], parts, limits, node.atoms())


def _explored(root: Regex, runs: dict[Regex, Dfa], exclusive: bool, limits: Limits) -> Dfa:
    atoms = root.atoms()
    found = Derivatives(atoms, limits)
    diagrams = found.diagrams
    numbers = {expression(found, root, runs): 0}
    states, roots = list(numbers), []
    for state in states:
        top = found.derivative(state)
        roots.append(top)
        leaves = [diagrams.value(node) for node in diagrams.below([top]) if diagrams.is_leaf(node)]
        for target in leaves:
            if target not in numbers:
                numbers[target] = len(states)
                states.append(target)
                limits.check(len(states), 1)
    accepting = np.array([found.nullable[state] for state in states])
    if exclusive:
        letters = [*((index,) for index in range(len(atoms))), ()]
        rows = [[numbers[diagrams.at(top, letter)] for letter in letters] for top in roots]
        columns = np.array(rows, dtype=np.int32)
        # Some states may be reached only where several symbols hold at once.
        return Dfa.of_classes(atoms, True, np.arange(len(letters), dtype=np.int32), columns, accepting).trimmed()
    moves = moves_of_nodes(diagrams, roots, lambda node: numbers[diagrams.value(node)], len(atoms), limits)
    return Dfa(atoms, False, moves, accepting)
