"""What is said of plausible mistakes in each language."""

from __future__ import annotations

import pytest

from nrm.errors import FormulaSyntaxError
from nrm.logic import LANGUAGES


@pytest.mark.parametrize(
    ("logic", "text", "said"),
    [
        ("ltlf", "eventually a", "'eventually' is written F"),
        ("ltlf", "a until b", "'until' is written U"),
        ("ltlf", "G(door -> once key)", "'once' is written O"),
        ("ltlf", "[] a", "'[]' is written G"),
        ("ltlf", "<> a", "'<>' is written F"),
        ("ltlf", "◇ a", "'◇' is written F"),
        ("ltlf", "XX a", "operators stand apart: X X"),
        ("ltlf", "GF a", "operators stand apart: G F"),
        ("ltlf", "F[1,3] a", "operators have no bounds"),
        ("ltlf", "a == b", "equality is written <->"),
        ("ltlf", "U a", "U stands between two formulas, as in a U b"),
        ("ltlf", "F empty-cell", 'in double quotes: "empty-cell"'),
        ("ltlf", "'a'", "double quotes"),
        ("ltlf", 'F "a', "the quotes are not closed"),
        ("ltlf", "existence(a, b)", "takes a number from 1 to 200, not b"),
        ("ldlf", "<a{2}>tt", "paths have no numbers of times"),
        ("ldlf", "<.*>tt", "any step is written true"),
        ("ldlf", "existence(a, b)", "takes a number from 1 to 200, not b"),
        ("ppltl", "historically a", "'historically' is written H"),
        ("ppltl", "a since b", "'since' is written S"),
        ("ppltl", "existence(a, b)", "takes a number from 1 to 200, not b"),
        ("re", ".*a", "comes behind ';'"),
        ("re", "[ab]", "one of several symbols is written (a | b)"),
        ("re", "^a$", "the whole trace must match anyway"),
        ("re", "\\w*", "steps are named by their symbols"),
        ("re", "a U b", "this looks like LTLf"),
        ("re", "[a]b", "this looks like LDLf"),
        ("re", "existence(a, b)", "takes a number from 1 to 200, not b"),
    ],
)
def test_what_may_have_been_meant(logic: str, text: str, said: str) -> None:
    with pytest.raises(FormulaSyntaxError) as caught:
        LANGUAGES[logic].parse(text)
    assert said in str(caught.value)
    assert str(caught.value).splitlines()[-1].strip() == "^"
