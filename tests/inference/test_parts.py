"""Letters alike, numbers of states, potentials as they come, and the guess of a formula."""

from __future__ import annotations

import numpy as np
import pytest

import nrm
from nrm.errors import LimitError
from nrm.inference import Episode, Evidence, Hypothesis, agreement, guess_formula, renumbered
from nrm.inference.learning import TooManyStatesError, alike, learn_machine
from nrm.machines import LevelCodec, LevelTable


def test_letters_are_one_symbol_when_no_state_tells_them_apart() -> None:
    # Letters 0 and 2 both go from 0 to 1; 0 was never read in 1. Letter 1 goes from 0 to 2. Letter 3 is idle.
    table = np.array([[1, 2, 1, -1], [-1, 1, 2, -1], [-1, -1, -1, -1]])
    seen = np.array([[5, 3, 2, 0], [0, 1, 1, 0], [0, 0, 0, 0]])
    symbols, whole = alike(table, seen, (0, 1, 2))
    assert symbols.tolist() == [1, 2, 1, 0]
    assert whole.tolist() == [[1, 2, 1, 0], [2, 1, 2, 1], [2, 2, 2, 2]]


def test_letters_that_share_no_move_stay_apart() -> None:
    # Letter 0 moves in state 0 alone, letter 1 in state 1 alone: nothing says that they mean the same.
    symbols, _ = alike(np.array([[1, -1], [-1, 0]]), np.array([[1, 0], [0, 1]]), (0, 1))
    assert symbols.tolist() == [1, 2]


def test_states_keep_the_numbers_of_those_that_they_agree_with() -> None:
    shared = np.array([[9, 0], [2, 5], [4, 1]])
    # The new state 1 agrees with the old 1, number 7; the new state 2 would like 0, which is taken: a fresh number.
    assert renumbered(shared, np.array([3, 7]), 8).tolist() == [3, 7, 0]
    # No fresh number is left: one that nobody has any more.
    assert renumbered(np.array([[5, 0, 0], [0, 0, 4]]), np.array([0, 1, 2]), 3).tolist() == [0, 2]
    assert renumbered(np.array([[5, 0, 0], [0, 0, 0]]), np.array([0, 1, 2]), 3).tolist() == [0, 1]


def test_agreement_counts_steps_in_both_machines() -> None:
    evidence = Evidence.of([Episode(np.array([0, 1, 0]), np.array([1, 1, 1]))], 2, 2, 0)
    old = Hypothesis.blank(1, 0)  # it does not know letter 1
    new = learn_machine(evidence)
    assert agreement(old.follow(evidence), new.follow(evidence), old.states, new.states).tolist() == [[0], [3]]


def test_levels_come_as_they_are_paid() -> None:
    table = LevelTable()
    assert table.encode(np.array([0.0, 50.0, 50.0], dtype=np.float32)).tolist() == [0, 1, 2]
    assert table.encode([100 / 3, 100 / 3, 100 / 3]).tolist() == [3, 4, 2]
    assert table.values.tolist() == [0.0, 50.0, 100.0, 33.333333, 66.666667]


def test_levels_without_end_and_nan_are_errors() -> None:
    with pytest.raises(LimitError, match=r"episode 3: .* 64"):
        LevelTable().encode(np.ones(100), "episode 3")
    with pytest.raises(LimitError, match="NaN or infinite"):
        LevelTable().encode([0.0, float("nan")])


def random_episodes(machine: nrm.MooreMachine, count: int) -> Evidence:
    generator = np.random.default_rng(0)
    codec, traces = LevelCodec.of(machine), []
    for _ in range(count):
        letters, levels, state = [], [], machine.initial
        for letter in generator.integers(machine.alphabet.size, size=15).tolist():
            state = machine.next_state(state, letter)
            letters.append(letter)
            levels.append(int(codec.nearest(machine.outputs[state])))
            if machine.accepting[state] or machine.dead[state]:
                break
        traces.append(Episode(np.array(letters), np.array(levels)))
    return Evidence.of(
        traces, machine.alphabet.size, len(machine.levels), int(codec.nearest(np.float64(codec.initial or 0.0)))
    )


@pytest.mark.parametrize("number", range(1, 9))
def test_the_formula_of_every_paper_task_is_guessed(number: int) -> None:
    task = nrm.logic.paper_task(number)
    machine = nrm.compile(task.formula(), nrm.logic.PAPER_SYMBOLS)
    known = learn_machine(random_episodes(machine, 400))
    found = guess_formula(known, machine.levels - machine.outputs[machine.initial])
    assert found is not None
    # Places to avoid are one symbol: G !c stands for G !c & G !d.
    assert str(found.formula) == str(task.formula()).removesuffix(" & G !d")
    assert found.scheme == "distance"
    atoms = {atom: np.flatnonzero(known.symbols == symbol).tolist() for atom, symbol in found.symbols.items()}
    assert set(atoms[min(atoms)]) <= {0, 1, 2}
    words = found.describe({symbol: [f"o{symbol}"] for symbol in range(known.symbol_count)})
    assert words.startswith(f"looks like {found.formula}, with a = o")


def test_other_rewards_and_relations_are_guessed_and_nonsense_is_not() -> None:
    late = nrm.compile("F(a & F b)", ("a", "b", "c"), reward="acceptance")
    found = guess_formula(learn_machine(random_episodes(late, 300)), late.levels)
    assert found is not None
    assert (str(found.formula), found.scheme) == ("F(a & F b)", "acceptance")
    odd = Hypothesis(np.array([[1, 0]]).repeat(2, 0), np.array([0, 1]), np.ones((2, 2), dtype=int), np.array([1, 0]))
    assert guess_formula(odd, np.array([0.0, 17.0])) is None


@pytest.mark.parametrize("label_noise", [0.0, 0.02])
def test_rewards_that_add_up_without_end_are_named(label_noise: float) -> None:
    endless = Evidence.of([Episode(np.zeros(9, np.int64), np.arange(1, 10))], 1, 10, 0, label_noise=label_noise)
    with pytest.raises(TooManyStatesError, match=r"\b10 .*potentials.*\b4\b"):
        learn_machine(endless, 4)
