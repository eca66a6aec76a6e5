"""What follows from what: by hand, and held against automata."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from nrm.logic import Formula, parse, translate
from nrm.logic import progression as explore
from nrm.logic.ltlf.meaning import closure
from nrm.logic.nodes import eventualities, invariants
from tests.strategies import formulas


def test_a_chain_implies_its_links() -> None:
    nodes = closure(parse("F(a & X F(b & X F c))"))
    found = eventualities(nodes)
    assert len(found[nodes.root]) == 3
    assert not invariants(nodes)[nodes.root]
    dual = closure(parse("!F(a & X F(b & X F c))"))
    assert len(invariants(dual)[dual.root]) == 3
    assert not eventualities(dual)[dual.root]
    # Either may be what comes to hold, so neither follows; and a weak next need not come.
    for text in ("F(a & X F b) | F(a & X F c)", "WX F b"):
        other = closure(parse(text))
        assert not eventualities(other)[other.root]


@settings(max_examples=60)
@given(formulas(atoms=("a", "b")))
def test_automata_are_the_same_without_them(formula: Formula) -> None:
    for exclusive in (True, False):
        found = translate(formula, exclusive)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(explore, "eventualities", lambda nodes: [frozenset()] * len(nodes.kinds))
            patch.setattr(explore, "invariants", lambda nodes: [frozenset()] * len(nodes.kinds))
            expected = translate(formula, exclusive)
        assert found.atoms == expected.atoms
        assert np.array_equal(found.columns, expected.columns)
        assert np.array_equal(found.accepting, expected.accepting)
