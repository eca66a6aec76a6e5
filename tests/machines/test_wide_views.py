"""The view of tasks over many propositions: by literals, against all letters with them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import nrm
from nrm.logic import Formula
from nrm.machines import Alphabet, TaskSet, task_view, view_columns
from nrm.machines.formats.pool_file import load_pool, save_pool
from tests.automata.diagrams import in_diagrams, use_diagrams
from tests.strategies import formulas

NAMES = ["a", "b", "c"]
MANY = [f"p{number}" for number in range(24)]


@given(formulas(atoms=("a", "b", "c")))
@settings(max_examples=80)
def test_a_literal_is_worth_the_best_of_its_letters(formula: Formula) -> None:
    machine = nrm.compile(formula, Alphabet.propositional(NAMES), reward="acceptance")
    by_letter = task_view(machine)
    with pytest.MonkeyPatch.context() as patch:
        use_diagrams(patch)
        by_literal = task_view(in_diagrams(machine))
        assert by_literal.shape[1] == 4 * 6 + 1
        assert view_columns(machine.alphabet) == ("a", "!a", "b", "!b", "c", "!c")
    letters = machine.alphabet.size
    gain, lost = by_letter[:, :letters], by_letter[:, letters : 2 * letters]
    dead = machine.dead
    for proposition in range(3):
        for column, holds in ((2 * proposition, 1), (2 * proposition + 1, 0)):
            with_it = [letter for letter in range(letters) if letter >> proposition & 1 == holds]
            every = lost[:, with_it].all(1)
            best = np.where(lost[:, with_it] > 0, -2, gain[:, with_it]).max(1)
            assert (by_literal[:, 6 + column] == every).all()
            assert (by_literal[:, column] == np.where(every | dead, 0, best)).all()
    # What comes next is the mean over the same states in both, and so is the distance.
    assert (by_literal[:, -1] == by_letter[:, -1]).all()
    for state in range(machine.states):
        distance = machine.distance_to_acceptance
        nearer = [target for target in set(machine.targets(state)) if 0 <= distance[target] < distance[state]]
        expected = by_literal[nearer, :12].mean(0) if nearer else np.zeros(12)
        assert by_literal[state, 12:24] == pytest.approx(expected)


def test_twenty_four_propositions_by_hand() -> None:
    hazards = " & ".join(f"G !{name}" for name in MANY[2:])
    machine = nrm.compile(f"F(p0 & X F p1) & {hazards}", Alphabet.propositional(MANY))
    view = task_view(machine)
    assert view.shape == (4, 8 * 24 + 1)
    now = dict(zip(view_columns(machine.alphabet), view[machine.initial, :48], strict=True))
    lost = dict(zip(view_columns(machine.alphabet), view[machine.initial, 48:96], strict=True))
    following = dict(zip(view_columns(machine.alphabet), view[machine.initial, 96:144], strict=True))
    assert (now["p0"], now["!p0"], now["p1"], now["!p1"], now["!p7"]) == (1, 0, 1, 1, 1)
    assert (following["p1"], following["!p1"], following["p0"]) == (1, 0, 1)
    assert [name for name, value in lost.items() if value] == MANY[2:]
    assert view[machine.initial, -1] == 0.2


def test_pools_of_many_propositions_are_saved_and_seen(tmp_path: pytest.TempPathFactory) -> None:
    alphabet = Alphabet.propositional(MANY)
    texts = ["F p0 & G !p1", "F(p2 & X F p3)", "p4 U p5", "F(p6 & p7)"]
    pool = TaskSet.of([nrm.compile(text, alphabet) for text in texts])
    path = f"{tmp_path}/pool.npz"
    save_pool(path, pool, {"from": "a test"})
    again, origin = load_pool(path)
    assert origin == {"from": "a test"}
    assert again.machines == pool.machines
    view = task_view(pool.union)
    for number, machine in enumerate(pool.machines):
        first = int(pool.first[number])
        assert view[first : first + machine.states] == pytest.approx(task_view(machine))


@given(formulas(atoms=("a", "b", "c")))
@settings(max_examples=40)
def test_moves_have_the_letters_that_make_them(formula: Formula) -> None:
    machine = nrm.compile(formula, Alphabet.propositional(NAMES), reward="acceptance")
    letters = range(machine.alphabet.size)
    by_letter = {
        (state, target): [machine.next_state(state, letter) == target for letter in letters]
        for state in range(machine.states)
        for target in machine.targets(state)
        if target != state
    }
    pairs, labels = machine.moves.leaving()
    assert dict(zip(map(tuple, pairs.tolist()), labels.tolist(), strict=True)) == by_letter
    with pytest.MonkeyPatch.context() as patch:
        use_diagrams(patch)
        pairs, labels = in_diagrams(machine).moves.leaving()
    found = dict(zip(map(tuple, pairs.tolist()), labels.tolist(), strict=True))
    assert found == {
        pair: [
            any(made[letter] for letter in letters if letter >> bit & 1 == holds)
            for bit in range(3)
            for holds in (1, 0)
        ]
        for pair, made in by_letter.items()
    }
