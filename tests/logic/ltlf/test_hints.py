"""Sequences that one step can satisfy whole."""

from __future__ import annotations

import warnings

import pytest

import nrm
from nrm.errors import NrmWarning
from nrm.logic.ltlf.hints import hint


@pytest.mark.parametrize(
    ("formula", "better"),
    [
        ("F(key & F door)", "F(key & X F door)"),
        ("F(key & F(door & F goal))", "F(key & X F(door & X F goal))"),
        ("F(key & F door) & G !lava", "F(key & X F door) & G !lava"),
        ("sequenced_visit(a, b)", "F(a & X F b)"),
    ],
)
def test_what_is_probably_meant(formula: str, better: str) -> None:
    said = hint(nrm.parse(formula))
    assert said.endswith(f"write {better}")
    assert hint(nrm.parse(better)) == ""


@pytest.mark.parametrize("formula", ["F key & F door", "F(key & X F door)", "F(key & F !key)", "G(a -> F b)", "F(F a)"])
def test_nothing_to_say(formula: str) -> None:
    assert hint(nrm.parse(formula)) == ""


def test_it_pays_nothing_on_the_way_and_is_said_when_compiling() -> None:
    with pytest.warns(NrmWarning, match=r"one step can satisfy F\(key & F door\) whole.*write F\(key & X F door\)"):
        machine = nrm.compile("F(key & F door)", propositions=["key", "door"])
    assert machine.run([("key",), ("key", "door")]).rewards == (0.0, 100.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        after = nrm.compile("F(key & X F door)", propositions=["key", "door"])
        nrm.compile("F(key & F door)", ["key", "door"])  # one at a time: nothing holds at once
        nrm.compile("F(key & F door)", propositions=["key", "door"], reward="three_value")
    assert after.run([("key",), ("key", "door")]).rewards == (50.0, 50.0)
