"""Groups against the obvious list of their elements."""

from itertools import permutations
from unittest.mock import patch

import pytest
from hypothesis import given, settings

import nrm
from nrm.errors import LimitError
from nrm.machines import MooreMachine, minimise
from nrm.shortcuts import shortcuts
from nrm.shortcuts.symmetry_group import SymmetryGroup, compose
from nrm.shortcuts.symmetry_search import SymmetrySearch, refined_colours
from tests.shortcuts.planted import cycle, machine_of, planted


def symmetries(machine: MooreMachine) -> set[tuple[int, ...]]:
    """All permutations of classes for which a permutation of states exists, by trying all of both."""
    found = set()
    for states in permutations(range(machine.states)):
        if states[machine.initial] != machine.initial or any(
            machine.outputs[state] != machine.outputs[image] for state, image in enumerate(states)
        ):
            continue
        columns = {tuple(machine.columns[:, number].tolist()): number for number in range(machine.classes)}
        images = []
        for number in range(machine.classes):
            moved = [0] * machine.states
            for state in range(machine.states):
                moved[states[state]] = states[machine.columns[state, number]]
            images.append(columns.get(tuple(moved), -1))
        if -1 not in images:
            found.add(tuple(images))
    return found


def check(found: SymmetryGroup, expected: set[tuple[int, ...]]) -> None:
    elements = list(found.elements())
    assert found.order == len(elements) == len(expected)
    assert set(elements) == expected
    assert elements[0] == found.identity
    for orbit in found.orbits:
        assert {images[orbit[0]] for images in expected} == set(orbit)
    product = [found.identity]
    for factor in found.factors:
        product = [compose(inner, outer) for inner in factor.elements() for outer in product]
    assert set(product) == expected


@settings(max_examples=100, deadline=None)
@given(planted())
def test_groups_of_small_machines(machine: MooreMachine) -> None:
    small = minimise(machine, by="outputs")
    if small.states <= 7:
        check(shortcuts(machine).group, symmetries(small))


@settings(max_examples=100, deadline=None)
@given(planted())
def test_groups_found_by_refined_colours(machine: MooreMachine) -> None:
    small = minimise(machine, by="outputs")
    with patch.object(SymmetrySearch, "patience", 1):
        found = shortcuts(machine)
        accepted = {images for images in permutations(range(small.classes)) if SymmetrySearch(small).contains(images)}
    assert accepted == set(found.group.elements()) == set(shortcuts(machine).group.elements())


def test_large_machines_with_interchangeable_sets() -> None:
    # Visit all of one half, or all of the other: each half in any order, and the halves swapped.
    names = [f"s{number}" for number in range(8)]
    halves = [" & ".join(f"F {name}" for name in half) for half in (names[:4], names[4:])]
    found = shortcuts(nrm.compile(f"({halves[0]}) | ({halves[1]})", names))
    assert found.symmetries == len(set(found.group.elements())) == 2 * 24 * 24


def test_rotations_and_pairs() -> None:
    check(shortcuts(machine_of(*cycle(4))).group, {(0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2)})
    pairs = shortcuts(nrm.compile("(F a & F b) | (F c & F d)", list("abcd"))).group
    assert pairs.order == 8
    assert len(pairs.factors) == 1
    assert not pairs.is_symmetric
    apart = shortcuts(nrm.compile("F a & F b & X (F c & F d)", list("abcde"))).group
    assert len(set(apart.elements())) == apart.order


@settings(max_examples=100, deadline=None)
@given(planted())
def test_every_symmetry_keeps_the_refined_colours(machine: MooreMachine) -> None:
    found = shortcuts(machine)
    small = found.machine
    states, classes = refined_colours(small.columns, small.level_of_state.tolist(), [0] * small.classes, bool)
    for images in found.group.elements():
        moved = SymmetrySearch(small).states_of(images)
        assert [classes[image] for image in images] == classes
        assert [states[image] for image in moved] == states


@settings(max_examples=100, deadline=None)
@given(planted())
def test_reduction_is_minimisation_by_outputs(machine: MooreMachine) -> None:
    small = minimise(machine, by="outputs")
    twin = minimise(machine, by="outputs")
    assert (small.states, small.classes) == (twin.states, twin.classes)
    assert minimise(twin, by="outputs") == twin


def test_refining_colours_is_work_too() -> None:
    # A corridor of which every round of refinement tells one more state apart.
    length = 2000
    rows = [[min(state + 1, length), 0] for state in range(length + 1)]
    machine = machine_of(rows, [0] * length + [1])
    with pytest.raises(LimitError, match="transitions"):
        refined_colours(
            machine.columns, machine.level_of_state.tolist(), [0, 0], SymmetrySearch(machine, 100_000).spend
        )


def test_search_survives_many_refuted_choices() -> None:
    """Ten look-alike letters, of which a long wait tells each apart: choices fail late, and colours take over."""
    letters, length = 10, 6
    goal = letters * length + 1
    rows = [[1 + letter * length for letter in range(letters)]]
    for first in range(letters):
        for step in range(length):
            here = 1 + first * length + step
            following = here + 1 if step + 1 < length else goal
            rows.append([following if letter != (first * (step + 1)) % letters else here for letter in range(letters)])
    rows.append([goal] * letters)
    machine = machine_of(rows, [0] * goal + [1])
    found = shortcuts(machine, work=2_000_000)
    assert all(SymmetrySearch(found.machine).contains(images) for images in found.group.generators)
