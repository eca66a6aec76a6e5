from __future__ import annotations

import pytest

from nrm import holds
from nrm.errors import TraceError

TRACE = ["a", "b", "a", "c"]


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("a", True),
        ("b", False),
        ("!b", True),
        ("true", True),
        ("false", False),
        ("X b", True),
        ("X X X X true", False),
        ("X X X WX false", True),
        ("F c", True),
        ("F d", False),
        ("G (a | b)", False),
        ("G (a | b | c)", True),
        ("(a | b) U c", True),
        ("a U c", False),
        ("c R (a | b)", False),
        ("c R (a | b | c)", True),
        ("d R !d", True),
        ("a W d", False),
        ("(a | b | c) W d", True),
        ("c M (a | b | c)", True),
        ("d M (a | b | c)", False),
        ("F(c & last)", True),
        ("F(a & last)", False),
        ("end", False),
        ("F end", False),
        ("G(last <-> WX end)", True),
        ("a ^ b", True),
        ("a <-> c", False),
        ("b -> c", True),
        ("F(c & Y a)", True),
        ("F(c & Y b)", False),
        ("Y true", False),
        ("F(c & O b)", True),
        ("F(c & H !d)", True),
        ("F(c & H a)", False),
        ("F(c & ((c | a) S b))", True),
        ("F(c & (c S b))", False),
    ],
)
def test_each_operator(formula: str, expected: bool) -> None:
    assert holds(formula, TRACE) is expected


def test_steps_with_several_propositions() -> None:
    trace = [{"a", "b"}, set(), ("b",)]
    assert holds("a & b & X !a & X X b", trace)
    assert not holds("G a", trace)


def test_strong_and_weak_next_differ_at_the_last_step_only() -> None:
    assert not holds("X true", ["a"])
    assert holds("WX false", ["a"])
    assert holds("X b", ["a", "b"]) == holds("WX b", ["a", "b"])


def test_steps_that_map_names_to_truth() -> None:
    assert not holds("F a", [{"a": False, "b": True}])
    assert holds("F a", [{"a": True, "b": False}])


def test_what_is_no_trace() -> None:
    with pytest.raises(TraceError, match="'a,b'"):
        holds("F a", "a,b")
    with pytest.raises(TraceError, match="1 names no symbol"):
        holds("F a", [1])  # type: ignore[list-item]


def test_the_empty_trace_is_refused() -> None:
    with pytest.raises(TraceError, match="empty"):
        holds("G a", [])
