"""The closed form against trying all maps."""

from dataclasses import replace
from itertools import islice, product
from math import factorial, prod
from typing import Any

import numpy as np
import pytest
from benchmarks.references import brute_force
from hypothesis import given, settings
from hypothesis import strategies as st

import nrm
from nrm.errors import AlphabetError, LimitError, MachineError, NrmError, UnknownSymbolError
from nrm.machines import MooreMachine
from nrm.shortcuts import shortcuts
from nrm.shortcuts.symmetry_group import digits
from tests.shortcuts.planted import cycle, machine_of, planted


def all_maps(machine: MooreMachine) -> list[dict[str, str]]:
    symbols = machine.alphabet.symbols
    return [dict(zip(symbols, images, strict=True)) for images in product(symbols, repeat=len(symbols))]


def visits(many: int, symbols: int) -> MooreMachine:
    names = [f"s{number}" for number in range(symbols)]
    return nrm.compile(" & ".join(f"F {name}" for name in names[:many]), names)


@pytest.mark.parametrize("task", nrm.logic.PAPER_TASKS, ids=lambda task: task.name)
def test_the_papers_counts(task: nrm.logic.PaperTask) -> None:
    found = shortcuts(nrm.compile(task.formula(), nrm.logic.PAPER_SYMBOLS))
    assert found.count == task.shortcuts


@settings(max_examples=150, deadline=None)
@given(planted())
def test_the_maps_are_those_of_the_brute_force(machine: MooreMachine) -> None:
    found = shortcuts(machine)
    expected = list(brute_force(machine))
    listed = list(found.maps())
    key = [tuple(mapping.items()) for mapping in listed]
    assert found.count == len(expected) == len(listed) == len(set(key))
    assert listed[0] == {symbol: symbol for symbol in machine.alphabet.symbols}
    assert set(key) == {tuple(mapping.items()) for mapping in expected}
    for mapping in all_maps(machine):
        assert (mapping in found) == (mapping in expected)


@settings(max_examples=25, deadline=None)
@given(planted(5))
def test_counts_with_five_letters(machine: MooreMachine) -> None:
    assert shortcuts(machine).count == len(list(brute_force(machine)))


@settings(max_examples=60, deadline=None)
@given(planted())
def test_shortcuts_are_closed_under_composition(machine: MooreMachine) -> None:
    found = shortcuts(machine)
    some = list(islice(found.maps(), 12))
    for first, second in product(some, repeat=2):
        assert {symbol: second[image] for symbol, image in first.items()} in found


@settings(max_examples=60, deadline=None)
@given(planted())
def test_kinds_and_verdicts_follow_from_the_maps(machine: MooreMachine) -> None:
    found = shortcuts(machine)
    listed = list(found.maps())
    kinds = [found.kind(mapping) for mapping in listed]
    assert kinds.count("identity") == 1
    assert kinds.count("symmetry") == found.by_symmetry
    assert kinds.count("class") + 1 == found.class_internal
    for verdict in found.verdicts:
        images = {mapping[verdict.symbol] for mapping in listed} - {verdict.symbol}
        assert set(verdict.confusable_with) == images
        assert verdict.groundable == (not images)
        inside = {m[verdict.symbol] for m, kind in zip(listed, kinds, strict=True) if kind in ("identity", "class")}
        assert set(verdict.within_class) == inside - {verdict.symbol}


@settings(max_examples=60, deadline=None)
@given(planted())
def test_generators_are_symmetries_of_the_states(machine: MooreMachine) -> None:
    found = shortcuts(machine)
    small = found.machine
    for symmetry in found.group.generators:
        states, classes = np.array(found.states_under(symmetry)), np.array(symmetry)
        assert states[small.initial] == small.initial
        assert (small.outputs[states] == small.outputs).all()
        assert (states[small.columns] == small.columns[states][:, classes]).all()


@settings(max_examples=40, deadline=None)
@given(planted(), planted())
def test_several_tasks_leave_the_intersection(one: MooreMachine, other: MooreMachine) -> None:
    size = min(len(one.alphabet.symbols), len(other.alphabet.symbols))
    tasks = [machine_of(machine.transitions[:, :size], machine.outputs) for machine in (one, other)]
    assert shortcuts(tasks).count == len(list(brute_force(tasks)))


def test_tasks_are_told_apart_and_not_added_up() -> None:
    # Either task alone, and the sum of both rewards, would let a and b be swapped or confused.
    assert shortcuts([nrm.compile("F a", "a,b"), nrm.compile("F b", "a,b")]).count == 1


@settings(max_examples=60, deadline=None)
@given(planted(), st.integers(0, 6))
def test_the_horizon(machine: MooreMachine, horizon: int) -> None:
    found = shortcuts(machine).within(horizon)
    expected = list(brute_force(machine, horizon))
    assert found.count == len(expected)
    assert all(mapping in found for mapping in expected)


@settings(max_examples=40, deadline=None)
@given(planted())
def test_the_horizon_falls_to_all_strings(machine: MooreMachine) -> None:
    found = shortcuts(machine)
    counts = [found.within(horizon).count for horizon in range(2 * found.machine.states)]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == found.count


@settings(max_examples=40, deadline=None)
@given(planted(3), st.data())
def test_groundings_of_observations(machine: MooreMachine, data: st.DataObject) -> None:
    letters = range(machine.alphabet.size)
    amounts = data.draw(st.lists(st.integers(1, 2), min_size=len(letters), max_size=len(letters)))
    observed = [letter for letter in letters for _ in range(amounts[letter])]
    count = 0
    for grounding in product(letters, repeat=len(observed)):
        pairs = {(machine.initial, machine.initial)}
        for here, there in (pending := list(pairs)):
            for letter, value in zip(observed, grounding, strict=True):
                pair = machine.next_state(here, letter), machine.next_state(there, value)
                if pair not in pairs:
                    pairs.add(pair)
                    pending.append(pair)
        count += all(machine.outputs[here] == machine.outputs[there] for here, there in pairs)
    found = shortcuts(machine)
    assert found.groundings(amounts) == count
    assert found.groundings(dict(zip(machine.alphabet.symbols, amounts, strict=True))) == count


@pytest.mark.parametrize(("many", "symbols"), [(8, 10), (10, 12)])
def test_large_groups_are_counted_without_listing(many: int, symbols: int) -> None:
    found = shortcuts(visits(many, symbols))
    assert found.machine.states == 2**many
    assert found.symmetries == factorial(many)
    assert found.count == factorial(many) * 2**2
    assert len(found.labels_needed) == many - 1 + 2


def test_many_interchangeable_classes() -> None:
    # Come back to where you started: a class, a state and a symmetry for every symbol.
    letters = 40
    rows = [[1 + letter for letter in range(letters)]]
    rows += [[letters + 1 if letter == first else 1 + first for letter in range(letters)] for first in range(letters)]
    rows.append([letters + 1] * letters)
    names = [f"s{number}" for number in range(letters)]
    machine = MooreMachine.from_table(
        nrm.Alphabet.exclusive(names), rows, [False] * len(rows), [0] * (letters + 1) + [1]
    )
    found = shortcuts(machine)
    assert found.count == found.symmetries == factorial(letters)
    assert len(found.labels_needed) == letters - 1
    assert len({tuple(mapping.values()) for mapping in islice(found.maps(), 100)}) == 100
    assert found == shortcuts(machine)
    assert hash(found) == hash(shortcuts(machine))


def test_a_thousand_symbols() -> None:
    found = shortcuts(visits(2, 1000))
    assert found.count == 2 * 998**998
    first = list(islice(found.maps(), 10))
    assert len({tuple(mapping.values()) for mapping in first}) == 10
    assert all(mapping in found for mapping in first)
    assert len(digits(found.count)) == 2994


def test_numbers_longer_than_python_prints() -> None:
    found = shortcuts(visits(2, 3000))
    text = digits(found.count)
    assert len(text) > 4300
    assert text.isdigit()
    assert int(text[-4000:]) == found.count % 10**4000
    assert "e" in str(found)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**20), st.integers(1, 900), st.integers(0, 10**20))
def test_digits(base: int, power: int, rest: int) -> None:
    number = base**power + rest
    text = digits(number)
    value = 0
    for start in range(0, len(text), 1000):
        part = text[start : start + 1000]
        value = value * 10 ** len(part) + int(part)
    assert value == number
    assert text == "0" or text[0] != "0"


def test_unequal_class_sizes_in_one_orbit() -> None:
    # {a, b} and {c} are swapped by a symmetry: the identity has 2^2 * 1^1 maps, the swap 1^2 * 2^1.
    assert shortcuts(nrm.compile("F (a | b) & F c", list("abc"))).count == 4 + 2


def test_interchangeable_classes_of_different_sizes() -> None:
    groups = [[f"s{number}_{copy}" for copy in range(number + 1)] for number in range(6)]
    formula = " & ".join("F (" + " | ".join(names) + ")" for names in groups)
    found = shortcuts(nrm.compile(formula, [name for names in groups for name in names]))
    sizes = found.class_sizes
    assert sorted(sizes) == list(range(1, 7))
    assert found.symmetries == factorial(6)
    terms = (
        prod(sizes[image] ** sizes[number] for number, image in enumerate(images)) for images in found.group.elements()
    )
    assert found.count == sum(terms)
    with pytest.raises(LimitError, match="raise the limit"):
        _ = shortcuts(found.machine, terms=50).count


def test_pairs_of_pairs_with_different_sizes() -> None:
    # The symmetries swap within each pair and swap the pairs: 8, and neither all permutations nor a cycle.
    found = shortcuts(nrm.compile("(F a & F b) | (F c & F (d | e))", list("abcde")))
    assert found.symmetries == 8
    assert found.count == len(list(brute_force(found.machine)))


def test_a_sum_that_is_too_large_is_refused() -> None:
    table, outputs = cycle(8)
    machine = machine_of(table[:, [*range(8), 0, 1]], outputs)
    assert shortcuts(machine).count > 0
    with pytest.raises(LimitError, match="raise the limit"):
        _ = shortcuts(machine, terms=5).count
    with pytest.raises(LimitError, match="transitions"):
        shortcuts(visits(8, 10), work=1000)


def test_a_task_that_is_always_won_teaches_nothing() -> None:
    for formula in ("a | !a", "a & !a"):
        found = shortcuts(nrm.compile(formula, nrm.logic.PAPER_SYMBOLS))
        assert found.teaches_nothing
        assert found.count == 5**5
        assert not any(verdict.groundable for verdict in found.verdicts)


def test_bad_input_is_told() -> None:
    machine = nrm.compile("F a", "a,b")
    with pytest.raises(AlphabetError, match=r"\(a, c\)"):
        shortcuts([machine, nrm.compile("F a", "a,c")])
    with pytest.raises(MachineError, match="no machine"):
        shortcuts([])
    with pytest.raises(UnknownSymbolError, match="unknown symbol 'z'"):
        _ = {"a": "z"} in shortcuts(machine)
    with pytest.raises(UnknownSymbolError, match="unknown symbol 'z'"):
        shortcuts(machine).verdict("z")
    with pytest.raises(NrmError, match="horizon"):
        shortcuts(machine, horizon=-1)
    with pytest.raises(NrmError, match="observations"):
        shortcuts(machine).groundings([1])
    with pytest.raises(NrmError, match="no observation of a"):
        shortcuts(machine).groundings([0, 1])
    with pytest.raises(AlphabetError, match="renaming"):
        _ = shortcuts(machine).renamings
    with pytest.raises(AlphabetError, match="0 is no name"):
        shortcuts(machine).kind({0: 1})  # type: ignore[dict-item]
    assert "a" not in shortcuts(machine)
    assert {0: 1} not in shortcuts(machine)
    assert {"a": 1} not in shortcuts(machine)


@pytest.mark.parametrize("task", ["F a", ["F a"], nrm.parse("F a")])
def test_a_formula_is_compiled_over_its_own_propositions(task: Any) -> None:
    assert shortcuts(task) == shortcuts(nrm.compile("F a"))


@pytest.mark.parametrize("task", [3, None])
def test_what_is_no_machine_is_refused(task: Any) -> None:
    with pytest.raises(MachineError, match="task"):
        shortcuts(task)


def test_a_single_letter_is_not_confused() -> None:
    found = shortcuts(nrm.compile("F a", "a"))
    assert found.groundable
    assert not found.teaches_nothing


def test_visits_of_propositions() -> None:
    # 512 states and 512 classes, of which hundreds look alike and no two can be swapped alone.
    names = [f"p{number}" for number in range(9)]
    found = shortcuts(nrm.compile(f"visit({', '.join(names)})", propositions=names), work=40_000_000)
    assert (found.machine.states, found.machine.classes) == (512, 512)
    assert found.count == found.symmetries == found.renamings.count == factorial(9)
    assert found.labels_needed == tuple(names[:-1])


def test_all_labels_share_one_budget() -> None:
    # Each of the many sets of propositions that are tried is cheap; together they are not.
    names = [f"p{number}" for number in range(9)]
    ring = " | ".join(f"F({one} & X {other})" for one, other in zip(names, [*names[1:], names[0]], strict=True))
    found = shortcuts(nrm.compile(ring, propositions=names))
    assert len(found.labels_needed) > 0
    with pytest.raises(LimitError, match="transitions"):
        _ = replace(found, work=1000).labels_needed


def test_verdicts_on_many_symbols_are_not_lists_of_many() -> None:
    found = shortcuts(visits(2, 100_000))
    verdicts = found.verdicts
    assert verdicts[5].confusable_count == 99_997
    assert verdicts[5].alike is verdicts[99_999].alike
    assert verdicts[5] == found.verdict("s5")
    assert list(islice(verdicts[5].confusions(), 4)) == ["s2", "s3", "s4", "s6"]
    assert len(repr(verdicts[5])) < 300
    assert next(found.maps())["s99999"] == "s99999"
    assert len(found.labels_needed) == 99_999
