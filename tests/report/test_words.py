"""What rewards can teach, in sentences."""

from __future__ import annotations

import pytest

import nrm
from nrm.groundability import shortcuts
from nrm.machines import MooreMachine
from nrm.report.building import shortcut_words


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("F a & F b", ["(a b)", "mirror images", "{c, d}", "Label a, c, d (3 of 4 symbols"]),
        ("true", ["teach nothing"]),
        ("F(a & F(b & F c))", ["only the true one"]),
    ],
)
def test_the_shortcuts_in_words(formula: str, said: list[str]) -> None:
    machine: MooreMachine = nrm.compile(formula, "a b c d")
    words = shortcut_words(shortcuts(machine))
    text = " ".join([*words["sentences"], *words["repair"]])
    assert all(part in text for part in said)
    assert [symbol["name"] for symbol in words["symbols"]] == ["a", "b", "c", "d"]
