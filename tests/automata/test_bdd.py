from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nrm.automata import FALSE, TRUE, Bdd
from nrm.errors import LimitError

VARIABLES = 4
# An expression is a variable with a sign, or an operator over two expressions.
Expression = tuple[object, ...]
expressions: st.SearchStrategy[Expression] = st.recursive(
    st.tuples(st.integers(0, VARIABLES - 1), st.booleans()),
    lambda inner: st.tuples(st.sampled_from(["and", "or"]), inner, inner),
    max_leaves=12,
)


def build(bdd: Bdd, expression: Expression) -> int:
    if len(expression) == 2:
        variable, positive = expression
        assert isinstance(variable, int)
        return bdd.literal(variable, bool(positive))
    operator, left, right = expression
    assert isinstance(left, tuple)
    assert isinstance(right, tuple)
    combine = bdd.conjunction if operator == "and" else bdd.disjunction
    return combine(build(bdd, left), build(bdd, right))


def value(expression: Expression, point: tuple[bool, ...]) -> bool:
    if len(expression) == 2:
        variable, positive = expression
        assert isinstance(variable, int)
        return point[variable] == positive
    operator, left, right = expression
    assert isinstance(left, tuple)
    assert isinstance(right, tuple)
    both = value(left, point), value(right, point)
    return all(both) if operator == "and" else any(both)


def evaluate(bdd: Bdd, node: int, point: tuple[bool, ...]) -> bool:
    while node not in (FALSE, TRUE):
        node = bdd.high[node] if point[bdd.var[node]] else bdd.low[node]
    return node == TRUE


@given(expressions, expressions)
def test_diagrams_are_the_functions_and_canonical(f: Expression, g: Expression) -> None:
    bdd = Bdd(max_nodes=10_000)
    points = list(itertools.product([False, True], repeat=VARIABLES))
    numbers = []
    for expression in (f, g):
        node = build(bdd, expression)
        assert [evaluate(bdd, node, point) for point in points] == [value(expression, point) for point in points]
        numbers.append(node)
    same = all(value(f, point) == value(g, point) for point in points)
    assert (numbers[0] == numbers[1]) == same


def test_the_node_limit() -> None:
    bdd = Bdd(max_nodes=2)
    bdd.literal(0, True)
    with pytest.raises(LimitError, match=r"\b2 .*nodes"):
        bdd.literal(1, True)
