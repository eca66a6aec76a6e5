from __future__ import annotations

import pytest

from nrm import holds, parse
from nrm.errors import FormulaError
from nrm.logic import PAPER_TASKS, PATTERNS, paper_task
from nrm.logic.ltlf.patterns import apply_pattern, existence, visit

# For each pattern a trace that satisfies its example call and one that does not (a step is one letter, . is nothing).
CASES = {
    "visit": ("cba", "aac"),
    "sequenced_visit": ("bacb", "bba"),
    "global_avoidance": ("cc", "ca"),
    "ordered_visit": ("cab", "bab"),
    "strictly_ordered_visit": ("acb", "acab"),
    "reach_avoid": ("ccab", "cba"),
    "patrol": ("abba", "aba"),
    "existence": ("aca", "acc"),
    "absence": ("bc", "ba"),
    "exactly": ("bab", "aba"),
    "at_most_once": ("cac", "aa"),
    "init": ("ab", "ba"),
    "responded_existence": ("bca", "aac"),
    "coexistence": ("bca", "bcb"),
    "not_coexistence": ("bb", "ba"),
    "response": ("abab", "aba"),
    "precedence": ("cab", "cba"),
    "succession": ("acb", "aba"),
    "alternate_response": ("acbab", "aab"),
    "alternate_precedence": ("abab", "abb"),
    "chain_response": ("cab", "acb"),
    "chain_precedence": ("aabc", "acb"),
}


def test_every_pattern_has_a_case() -> None:
    assert set(CASES) == set(PATTERNS)


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_on_traces(name: str) -> None:
    formula = parse(PATTERNS[name].example)
    good, bad = CASES[name]
    assert holds(formula, list(good)), f"{formula} should accept {good}"
    assert not holds(formula, list(bad)), f"{formula} should reject {bad}"


@pytest.mark.parametrize("times", [1, 2, 3])
def test_counting_patterns_count(times: int) -> None:
    for occurrences in range(5):
        trace = ["c"] + ["a"] * occurrences
        assert holds(f"existence(a, {times})", trace) == (occurrences >= times)
        assert holds(f"absence(a, {times})", trace) == (occurrences < times)
        assert holds(f"exactly(a, {times})", trace) == (occurrences == times)
        assert holds(f"patrol(a, {times})", trace) == (occurrences >= times)


def test_patterns_as_functions_take_names_and_formulas() -> None:
    assert visit("a", parse("b & c")) == parse("F a & F(b & c)")
    assert existence("a", times=2) == parse("F(a & X F a)")


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("visits", ["a"], "did you mean 'visit'"),
        ("visit", [], "needs at least one"),
        ("reach_avoid", ["a"], "needs at least one more"),
        ("existence", ["a", 1, 2], "one number, as its last argument"),
        ("existence", [2, "a"], "one number, as its last argument"),
        ("existence", ["a", 201], "from 1 to 200"),
        ("existence", ["a", "b"], "a number from 1 to 200, not b"),
        ("response", ["a", "b", "c"], "does not take 3"),
    ],
)
def test_bad_calls(name: str, arguments: list[str | int], message: str) -> None:
    with pytest.raises(FormulaError, match=message):
        apply_pattern(name, arguments)


def test_the_papers_tasks() -> None:
    formulas = [str(task.formula()) for task in PAPER_TASKS]
    assert formulas == [
        "F a & F b",
        "F a & F b & F c",
        "F(a & F b)",
        "F(a & F b) & F c",
        "F a & F b & G !c",
        "F a & F b & G !c & G !d",
        "F(a & F b) & G !c",
        "F(a & F b) & G !c & G !d",
    ]
    assert [task.task_class for task in PAPER_TASKS] == [1, 1, 1, 1, 2, 2, 2, 2]
    assert paper_task(4) is paper_task("sequence-2-visit-1") is paper_task("Sequence_2_Visit_1") is PAPER_TASKS[3]
    assert str(paper_task(7).formula(("pickaxe", "lava", "door"))) == "F(pickaxe & F lava) & G !door"


def test_unknown_paper_tasks_and_too_few_symbols() -> None:
    with pytest.raises(FormulaError, match="'visit-2'"):
        paper_task("visit2")
    with pytest.raises(FormulaError, match="unknown paper task '9'"):
        paper_task(9)
    with pytest.raises(FormulaError, match=r"4 symbols.*\b2\b"):
        paper_task(8).formula(("x", "y"))
