"""Tasks over many propositions: sizes by hand, and random traces against the meaning of the formula."""

from __future__ import annotations

import random

import pytest

import nrm
from nrm import holds
from nrm.errors import LimitError
from nrm.logic import translate

PLACES = [f"p{number}" for number in range(40)]


def deliveries(count: int) -> str:
    """The form of LTLf2DFA's issue 39."""
    text = ""
    for place in reversed(range(2, count)):
        text = f"F(p{place} & X(p{place % 2}{' & X ' + text if text else ''}))"
    return text


@pytest.mark.parametrize(
    ("text", "states"),
    [
        (" & ".join(f"G(p{i} -> F p{i + 1})" for i in range(0, 20, 2)), 1024),
        (f"sequenced_visit({', '.join(PLACES)})", 41),
        (f"visit({', '.join(PLACES[:13])})", 2**13),
        (deliveries(40), 77),
        (" U ".join(PLACES), 41),
        (" R ".join(PLACES), 41),
        ("G(" + " & ".join(f"!({a} & {b})" for b in PLACES[:20] for a in PLACES[:20] if a < b) + ")", 2),
        ("F(p0 & F(p1 & F(p2 & F p3))) & " + " & ".join(f"G !{name}" for name in PLACES[4:]), 6),
        (" & ".join(f"(p{i} <-> X p{i + 1})" for i in range(0, 40, 2)), 2**20),
    ],
    ids=[
        "responses",
        "sequence",
        "visits",
        "deliveries",
        "untils",
        "releases",
        "mutual exclusion",
        "hazards",
        "too many",
    ],
)
def test_states_and_meaning(text: str, states: int) -> None:
    if states > 100_000:
        with pytest.raises(LimitError):
            translate(text, exclusive=False)
        return
    machine = nrm.compile(text, reward="acceptance")
    assert machine.states == states
    generator = random.Random(0)
    names, formula = machine.alphabet.symbols, nrm.parse(text)
    for _ in range(40):
        share = generator.choice((0.02, 0.1, 0.5, 0.9))
        trace = [[name for name in names if generator.random() < share] for _ in range(generator.randint(1, 6))]
        assert machine.accepts(trace) == holds(formula, trace)


def test_too_many_classes_are_a_limit_where_classes_are_needed() -> None:
    machine = nrm.compile(" & ".join(f"G(p{i} -> F p{i + 1})" for i in range(0, 20, 2)))
    state = machine.step(machine.initial, ["p0", "p2"])
    assert len(machine.targets(state)) == 1024
    assert machine.distance_to_acceptance[state] == 1
    with pytest.raises(LimitError, match="1,024 states over 20 propositions"):
        nrm.shortcuts(machine)


def test_orders_of_propositions_give_the_same_machine() -> None:
    text = " & ".join(f"G(a{i} -> F b{i})" for i in range(7))
    names = [f"a{i}" for i in range(7)] + [f"b{i}" for i in range(7)]
    turned = " & ".join(f"G(a{i} -> F b{i})" for i in (3, 1, 6, 0, 5, 2, 4))
    assert nrm.compile(text, propositions=names) == nrm.compile(turned, propositions=names)
    assert nrm.equivalent(nrm.compile(text, propositions=names), nrm.compile(turned, propositions=names))
