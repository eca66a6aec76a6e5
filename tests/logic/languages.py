"""What the tests of every language share: an automaton against direct meaning on all short traces."""

from __future__ import annotations

from typing import Any

from nrm.automata import DEFAULT_LIMITS
from nrm.logic import LANGUAGES
from nrm.machines import Alphabet, Task
from tests.logic.paths import matches, satisfies
from tests.strategies import traces

EXCLUSIVE = Alphabet.exclusive(["a", "b", "else"])
TWINS = {"ldlf": satisfies, "re": matches}
"""Slow and obvious, for languages whose `holds` asks the automaton."""
PROPOSITIONS = Alphabet.propositional(["a", "b"])


def check_meaning(logic: str, formula: Any, longest: int = 4) -> None:
    """The machine of a formula accepts exactly the traces that satisfy it, over both alphabets."""
    holds = TWINS.get(logic, LANGUAGES[logic].holds)
    for alphabet in (EXCLUSIVE, PROPOSITIONS):
        machine = Task(formula, alphabet, "acceptance", logic=logic).machine()
        letters = alphabet.decode(range(alphabet.size))
        for trace in traces(letters, longest):
            assert machine.accepts(trace) == holds(formula, trace), f"{formula} on {trace}"


def check_text(logic: str, formula: Any) -> None:
    """What a formula's text is read back as."""
    assert LANGUAGES[logic].parse(str(formula)) == formula


def machine_of(logic: str, formula: Any, exclusive: bool) -> Any:
    alphabet = EXCLUSIVE if exclusive else PROPOSITIONS
    return Task(formula, alphabet, logic=logic).machine(DEFAULT_LIMITS)
