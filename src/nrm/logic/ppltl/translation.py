"""Pure-past LTL to a minimal DFA.

What a past formula says after a step follows from its parts' values now and one step ago, so the automaton's state is
one bit for each temporal operator: no guessing, and no determinisation. In LTLf the same is `F(last & f)`.
"""

from __future__ import annotations

import numpy as np

from nrm.automata import DEFAULT_LIMITS, Dfa, Limits, combined_all
from nrm.errors import LimitError
from nrm.logic.ltlf.formula import Formula, Op, both, prefix
from nrm.logic.ltlf.translation import translate as translate_ltlf
from nrm.logic.ppltl.parser import parse

SMALL = Limits(states=200, nodes=20_000)
"""What a whole conjunction or disjunction may use before its parts are translated one by one."""


def translate(formula: Formula | str, exclusive: bool, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """The minimal DFA of the non-empty traces at whose last step the formula holds."""
    root = parse(formula)
    modest = Limits(min(limits.states, SMALL.states), limits.cells, min(limits.nodes, SMALL.nodes))
    if root.op not in (Op.AND, Op.OR):
        return translate_ltlf(_at_the_end(root), exclusive, limits)
    try:
        return translate_ltlf(_at_the_end(root), exclusive, modest)
    except LimitError:
        parts = [translate(part, exclusive, limits) for part in root.args]
        return combined_all(parts, np.logical_and if root.op is Op.AND else np.logical_or, limits, root.atoms())


def _at_the_end(formula: Formula) -> Formula:
    return prefix(Op.EVENTUALLY, both(Formula(Op.LAST), formula))
