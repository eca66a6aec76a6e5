"""Shortcuts where letters are too many to list: against listing them, and against brute force."""

from __future__ import annotations

import json
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nrm
from nrm.automata.letters import LetterFunction
from nrm.errors import LimitError
from nrm.machines import Alphabet, MooreMachine, TaskSet
from nrm.shortcuts import task_set_shortcuts
from nrm.shortcuts.symmetry_group import digits
from tests.automata.diagrams import in_diagrams, use_diagrams
from tests.cli.conftest import Nrm, nrm_command

__all__ = ["nrm_command"]

NAMES = ["a", "b", "c"]
HAZARDS = [f"h{number}" for number in range(20)]
NEVER = " & ".join(f"G !{name}" for name in HAZARDS)


@st.composite
def machines(draw: st.DrawFn) -> MooreMachine:
    states = draw(st.integers(2, 4))
    classes = draw(st.integers(1, 5))
    columns = draw(
        st.lists(
            st.lists(st.integers(0, states - 1), min_size=classes, max_size=classes), min_size=states, max_size=states
        )
    )
    letters = draw(st.lists(st.integers(0, classes - 1), min_size=8, max_size=8))
    outputs = draw(st.lists(st.sampled_from((0.0, 1.0)), min_size=states, max_size=states))
    transitions = np.array(columns)[:, letters]
    return MooreMachine.from_table(Alphabet.propositional(NAMES), transitions, [True] * states, outputs)


@given(machines())
@settings(max_examples=150)
def test_diagrams_say_what_lists_of_letters_say(machine: MooreMachine) -> None:
    plain = nrm.shortcuts(machine)
    with pytest.MonkeyPatch.context() as patch:
        use_diagrams(patch)
        found = nrm.shortcuts(in_diagrams(plain.machine))
        assert isinstance(found.machine.letters, LetterFunction)
        assert found.machine.letter_class.tolist() == plain.machine.letter_class.tolist()
        assert found.count == plain.count
        assert found.class_sizes == plain.class_sizes
        assert found.verdicts == plain.verdicts
        assert found.renamings.essential == plain.renamings.essential
        assert found.renamings.count == plain.renamings.count
        assert sorted(map(str, found.renamings)) == sorted(map(str, plain.renamings))
        assert found.renamings.internal.order == plain.renamings.internal.order
        assert found.labels_needed == plain.labels_needed
        for letter in ({"a": "b"}, {"a": "b", "b": "a"}, {"-": "a&b&c"}, {}):
            assert found.kind(letter) == plain.kind(letter)


SYMMETRIC = [
    "F a & F b & F c",
    "F(a & X F b)",
    "G(a -> X(b | c))",
    "F(a & b) & G !c",
    "(a ^ b ^ c) U (a & b & c)",
    "F a",
]


@pytest.mark.parametrize("formula", SYMMETRIC)
def test_symmetric_tasks_in_diagrams(formula: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = nrm.shortcuts(nrm.compile(formula, Alphabet.propositional(NAMES)))
    expected = plain.verdicts, plain.renamings.count, plain.labels_needed
    use_diagrams(monkeypatch)
    found = nrm.shortcuts(in_diagrams(plain.machine))
    assert (found.verdicts, found.renamings.count, found.labels_needed) == expected


def test_class_sizes_of_twenty_propositions_are_those_of_all_letters_counted_one_by_one() -> None:
    machine = nrm.compile("F(key & X F door) & " + " & ".join(f"G !h{i}" for i in range(18)), reward="distinct")
    found = nrm.shortcuts(machine)
    letters = np.arange(1 << 20)
    columns = np.stack([machine.moves.take(np.full(len(letters), q), letters) for q in range(machine.states)])
    _, sizes = np.unique(columns, axis=1, return_counts=True)
    assert sorted(found.class_sizes) == sorted(sizes.tolist()) == [1, 1, 1, 1, 2**20 - 4]
    assert found.symmetries == 1
    assert found.rough.every.adjusted() + 1 == pytest.approx((2**20 - 4) * np.log10(2**20 - 4), abs=1)
    assert found.renamings.count == factorial(18)


def test_counts_past_twenty_propositions() -> None:
    propositions = Alphabet.propositional([*NAMES, *HAZARDS, "unused"])
    found = nrm.shortcuts(nrm.compile(f"F(a & X F b) & F(b & X F c) & {NEVER}", propositions))
    assert sum(found.class_sizes) == 2**24
    assert found.renamings.essential == (*NAMES, *HAZARDS)
    assert found.renamings.count == factorial(20) * 24
    assert not found.verdict("unused").used
    assert found.verdict("h3").within_class == tuple(name for name in HAZARDS if name != "h3")
    assert found.kind({"a&h1": "h2&h3", "h0": "h1"}) == "class"
    assert found.kind({"a": "b"}) is None
    assert set(found.labels_needed) == set(propositions.symbols)
    with pytest.raises(LimitError, match="more than 1,000,000 bits"):
        found.count  # noqa: B018 - the number itself is too long
    assert str(found).startswith(f"{found.rough.every:.3e}".replace("+", ""))


def test_blocks_are_exchanged_past_twenty_propositions() -> None:
    found = nrm.shortcuts(nrm.compile(f"F(a & X F b) & F(c & X F d) & {NEVER}"))
    assert found.symmetries == 2
    assert found.renamings.count == 2 * factorial(20)
    assert found.verdict("a").by_symmetry == ("c",)
    assert {"a": "c", "b": "d", "c": "a", "d": "b", "h0": "h1", "h1": "h0"} in found.renamings
    assert {"a": "c", "c": "a"} not in found.renamings


def test_rough_numbers_are_the_exact_ones_rounded() -> None:
    found = nrm.shortcuts(nrm.compile("F a & F b & G !c", "a b c d e f g h"))
    assert int(found.rough.every) == found.count
    assert int(found.rough.by_symmetry) == found.by_symmetry
    long = nrm.shortcuts(nrm.compile("F p0", Alphabet.propositional([f"p{i}" for i in range(10)])))
    assert digits(long.count)[:25] == "".join(map(str, long.rough.every.as_tuple().digits))[:25]


def test_the_command_with_many_propositions(nrm_command: Nrm) -> None:
    text = nrm_command("shortcuts", f"F(key & X F door) & {NEVER}").out
    assert "2^22" in text
    assert "2.432 × 10^18 (19 digits)" in text
    data = json.loads(nrm_command("shortcuts", f"F(key & X F door) & {NEVER}", "--json").out)
    assert data["class_sizes"] == [1, 1, 1, 1, 2**22 - 4]
    assert data["classes"][4] == " | ".join(HAZARDS)
    assert data["symbols"]["h0"]["confusable_with"][0] == "h1"


def test_pools_of_many_propositions() -> None:
    alphabet = Alphabet.propositional([*NAMES, *HAZARDS])
    found = task_set_shortcuts(TaskSet.of([nrm.compile(f"F {name} & {NEVER}", alphabet) for name in NAMES]))
    assert not found.groundable
    assert sum(found.class_sizes) == 2**23
    assert len(found.class_sizes) == 9
