from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import nrm
from nrm import MooreMachine
from nrm.machines.guards import guard, letters_where
from tests.strategies import machines


@given(machines(), st.data())
def test_guards_hold_at_exactly_their_letters(machine: MooreMachine, data: st.DataObject) -> None:
    alphabet = nrm.Alphabet.propositional("abc") if data.draw(st.booleans()) else machine.alphabet
    letters = np.array(data.draw(st.lists(st.booleans(), min_size=alphabet.size, max_size=alphabet.size)))
    assert letters_where(guard(alphabet, letters), alphabet).tolist() == letters.tolist()


def test_guards_are_short() -> None:
    propositions = nrm.Alphabet.propositional("abcd")
    for text in ("a", "!a & b", "a & b | c & d", "a | b & !c", "true"):
        assert str(guard(propositions, letters_where(text, propositions))) in (text, "a | b & !c")
    symbols = nrm.Alphabet.exclusive(f"s{index}" for index in range(100))
    assert str(guard(symbols, letters_where("!s3 & !s5", symbols))) == "!s3 & !s5"
    assert str(guard(symbols, letters_where("s3 | s5", symbols))) == "s3 | s5"
