"""Labels, tasks and potentials that remove shortcuts."""

from itertools import combinations

import numpy as np
import pytest
from benchmarks.references import brute_force
from hypothesis import given, settings

import nrm
from nrm.errors import NrmError
from nrm.machines import MooreMachine, with_rewards
from nrm.shortcuts import breaking_potential, shortcuts, tasks_to_add
from tests.shortcuts.planted import cycle, machine_of, planted

TASKS = [nrm.compile(task.formula(), nrm.logic.PAPER_SYMBOLS) for task in nrm.logic.PAPER_TASKS]


def suffices(maps: list[dict[str, str]], labelled: tuple[str, ...]) -> bool:
    return sum(all(mapping[symbol] == symbol for symbol in labelled) for mapping in maps) == 1


def test_labels_for_the_papers_tasks() -> None:
    assert [len(shortcuts(machine).labels_needed) for machine in TASKS] == [4, 4, 3, 2, 3, 3, 2, 2]


@settings(max_examples=100, deadline=None)
@given(planted())
def test_labels_suffice_and_no_smaller_set_does(machine: MooreMachine) -> None:
    labels = shortcuts(machine).labels_needed
    maps = list(brute_force(machine))
    assert suffices(maps, labels)
    if labels:
        assert not any(suffices(maps, fewer) for fewer in combinations(machine.alphabet.symbols, len(labels) - 1))


def test_one_label_stops_a_rotation() -> None:
    assert shortcuts(machine_of(*cycle(7))).labels_needed == ("a",)


def test_labels_for_pairs_of_pairs() -> None:
    assert len(shortcuts(nrm.compile("(F a & F b) | (F c & F d)", list("abcd"))).labels_needed) == 2


@pytest.mark.parametrize("formula", ["F a & F b", "F(a & b)", "F(a | b)", "a U b", "F a", "F(a & F b)", "X a & F b"])
def test_propositions_to_label(formula: str) -> None:
    machine = nrm.compile(formula, propositions="a,b")
    labels = shortcuts(machine).labels_needed
    maps = list(brute_force(machine))

    def settled(labelled: tuple[str, ...]) -> bool:
        def keeps(mapping: dict[str, str]) -> bool:
            return all((n in x.split("&")) == (n in y.split("&")) for x, y in mapping.items() for n in labelled)

        return sum(map(keeps, maps)) == 1

    assert settled(labels)
    for fewer in combinations("ab", len(labels) - 1) if labels else ():
        assert not settled(fewer)


def test_the_pair_of_tasks_that_leaves_one_map() -> None:
    assert shortcuts([TASKS[1], TASKS[7]]).count == 1
    choices = list(tasks_to_add(shortcuts(TASKS[1]), TASKS))
    assert choices[0].places == (7,)
    assert all(choice.left.count == 1 for choice in choices)
    sizes = [len(choice.places) for choice in choices]
    assert sizes == sorted(sizes)
    expected = [places for size in (1, 2) for places in combinations(range(8), size) if leaves_one(places)]
    assert [choice.places for choice in choices] == [p for p in expected if len(p) == 1 or 7 not in p]


def leaves_one(places: tuple[int, ...]) -> bool:
    return len(list(brute_force([TASKS[1], *(TASKS[place] for place in places)]))) == 1


def test_tasks_that_leave_only_harmless_shortcuts() -> None:
    found = shortcuts(TASKS[0])
    choices = list(tasks_to_add(found, TASKS, until="class"))
    assert (2,) in [choice.places for choice in choices]
    assert all(choice.left.symmetries == 1 for choice in choices)
    assert [c.places for c in tasks_to_add(shortcuts(TASKS[2]), TASKS, until="class")] == [()]
    assert list(tasks_to_add(found, [TASKS[1]])) == []
    with pytest.raises(NrmError, match="'identity' or 'class'"):
        list(tasks_to_add(found, TASKS, until="nothing"))  # type: ignore[arg-type]


@pytest.mark.parametrize("machine", TASKS)
def test_the_potential_breaks_every_symmetry_of_the_papers_tasks(machine: MooreMachine) -> None:
    repair = breaking_potential(shortcuts(machine))
    assert repair.removes_every_symmetry
    assert repair.left.count == shortcuts(machine).class_internal
    changed = repair.machines[0]
    assert changed == with_rewards(machine, repair.scheme)
    fixed = machine.accepting | machine.dead
    assert (changed.outputs[fixed] == machine.outputs[fixed]).all()
    # Nearer stays better: the potential orders states as the distance does.
    steps = machine.distance_to_acceptance
    for a in range(machine.states):
        for b in range(machine.states):
            if 0 <= steps[a] < steps[b]:
                assert changed.outputs[a] > changed.outputs[b]


def test_symmetries_of_accepting_states_are_beyond_a_potential() -> None:
    machine = nrm.compile("(F a & G !b) | (F b & G !a)", list("abc"))
    found = shortcuts(machine)
    assert found.symmetries == 2
    repair = breaking_potential(found)
    assert not repair.removes_every_symmetry
    (symmetry,) = repair.left.group.generators
    moved = [state for state, image in enumerate(repair.left.states_under(symmetry)) if state != image]
    assert repair.left.machine.accepting[moved].all()
    # Any other potential that pays the same for every success is as blind.
    generator = np.random.default_rng(0)
    for _ in range(20):
        levels = np.where(machine.accepting, 100.0, np.where(machine.dead, -100.0, generator.uniform(-99, 99)))
        assert shortcuts(with_rewards(machine, levels.tolist())).symmetries == 2
