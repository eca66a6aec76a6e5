"""Families draw tasks that ask for something, equal seeds draw equal ones, and each says what it is about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nrm.errors import ConfigError, FileError, NrmWarning
from nrm.logic import parse
from nrm.logic.ltlf.formula import atom
from nrm.machines import Alphabet, Task, TaskSet, compile_formula
from nrm.samplers import RENAMED_SAMPLERS, SAMPLERS, Mixture, TemplateSampler, chain, sample_tasks, sampler_of
from nrm.shortcuts import Copies

LETTERS = Alphabet.exclusive([*"abcdefgh", "empty"])
EVENTS = [atom(name) for name in "abcdefgh"]
DRAWN = [name for name in SAMPLERS if name != "file"]


@pytest.mark.parametrize("name", DRAWN)
def test_tasks_are_different_possible_and_not_done_yet(name: str) -> None:
    pool = sample_tasks(name, LETTERS, 40, 0, events=EVENTS)
    assert len(pool) == 40
    assert len(set(pool.machines)) == 40
    for machine in pool.machines:
        assert machine.distance_to_acceptance[machine.initial] > 0


@pytest.mark.parametrize("name", DRAWN)
def test_equal_seeds_draw_equal_tasks_and_names_are_the_formulas(name: str) -> None:
    pool, again = (sample_tasks(name, LETTERS, 10, 7, events=EVENTS) for _ in range(2))
    other = sample_tasks(name, LETTERS, 10, 8, events=EVENTS)
    assert pool.names == again.names != other.names
    assert pool.machines == again.machines
    for text, machine in zip(pool.names, pool.machines, strict=True):
        assert compile_formula(text, LETTERS) == machine


@pytest.mark.parametrize("name", DRAWN)
def test_nobody_speaks_of_what_is_no_event(name: str) -> None:
    pool = sample_tasks(name, LETTERS, 30, 3, events=EVENTS[:4])
    for text in pool.names:
        assert set(parse(text).atoms()) <= set("abcd")


@pytest.mark.parametrize("name", DRAWN)
def test_examples_are_formulas(name: str) -> None:
    assert parse(sampler_of(name).example).atoms()


def test_a_chain_never_avoids_what_it_has_just_reached() -> None:
    generator = np.random.default_rng(0)
    for _ in range(200):
        machine = compile_formula(chain(EVENTS[:3], 3, 1, 2, generator), LETTERS)
        # Three steps, each with a letter of its own, are needed and suffice.
        assert machine.distance_to_acceptance[machine.initial] == 3


def test_settings_change_what_is_drawn() -> None:
    long = sample_tasks(
        TemplateSampler("reach", min_steps=5, max_steps=5, max_choices=1), LETTERS, 20, 0, events=EVENTS
    )
    assert all(machine.distance_to_acceptance[machine.initial] == 5 for machine in long.machines)
    harmless = sample_tasks(TemplateSampler("reach-avoid", max_avoided=0), LETTERS, 20, 0, events=EVENTS)
    assert not any(machine.dead.any() for machine in harmless.machines)


def test_a_small_family_gives_all_it_has() -> None:
    pool = sample_tasks(TemplateSampler("reach", max_steps=1, max_choices=1), LETTERS, 1000, 0, events=EVENTS)
    assert sorted(pool.names) == [f"F {name}" for name in "abcdefgh"]


def test_tasks_that_a_test_keeps_for_itself_are_not_drawn() -> None:
    kept = sample_tasks(TemplateSampler("reach", max_steps=1, max_choices=1), LETTERS, 5, 1, events=EVENTS)
    left = sample_tasks(
        TemplateSampler("reach", max_steps=1, max_choices=1), LETTERS, 1000, 0, events=EVENTS, without=kept.machines
    )
    assert len(left) == 3
    assert not set(left.machines) & set(kept.machines)


@pytest.mark.parametrize(
    ("seed", "unseen"),
    [
        (17, "F (a & (!b U c)) & F d"),
        (17, "(F d) & (!f U (d & F b))"),
        (19, "((a | b | c | d) -> F (e & (F (f & F g)))) U (h & F i)"),
    ],
)
def test_copies_of_held_out_tasks_are_sampled_unless_they_are_held_out_too(seed: int, unseen: str) -> None:
    """Three of DeepLTL's five formulas for LetterWorld have copies with other letters among the usual tasks."""
    alphabet = Alphabet.exclusive([*"abcdefghijkl", "empty"])
    kept = compile_formula(unseen, alphabet)
    copies = Copies([kept], ["empty"])
    for up_to_renaming in (False, True):
        pool = sample_tasks(
            "mixture", alphabet, 100, seed, max_states=30, without=[kept], up_to_renaming=up_to_renaming
        )
        assert len(pool) == 100
        assert any(machine in copies for machine in pool.machines) == (not up_to_renaming)


def test_copies_are_held_out_where_few_sets_of_propositions_occur(tmp_path: Path) -> None:
    """Red and blue overlap, and green is by itself: `F red` and `F green` differ in machine, but in names alone."""
    alphabet = Alphabet.of_sets(["red", "green", "blue"], [(), ("red",), ("green",), ("blue",), ("red", "blue")])
    tasks = ["F red", "F green", "F (red & blue)", "F (red & F blue)", "F (blue & F green)"]
    (tmp_path / "tasks.txt").write_text("\n".join(tasks))
    listed = f"file:{tmp_path / 'tasks.txt'}"
    for kept, left in (("F blue", tasks[2:]), (Task(parse("F (green & F red)"), alphabet), tasks[:3])):
        pool = sample_tasks(listed, alphabet, 9, 0, without=[kept], up_to_renaming=True)
        assert pool.machines == TaskSet.of(left, alphabet).machines


def test_events_may_be_several_things_at_once() -> None:
    colours = Alphabet.propositional(["red", "blue", "green"])
    events = [parse("red & blue"), parse("green")]
    pool = sample_tasks(TemplateSampler("reach", max_steps=2, max_choices=1), colours, 4, 0, events=events)
    assert "F(red & blue)" in pool.names


def test_a_file_gives_all_its_formulas(tmp_path: Path) -> None:
    path = tmp_path / "tasks.txt"
    path.write_text("F a  # first\n\n# nothing here\nF(b & F c)\n")
    pool = sample_tasks(f"file:{path}", LETTERS, 1, 0)
    assert pool.names == ("F a", "F(b & F c)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("F a\nF (b &\n", "line 2"),
        ("# nothing\n", "holds no formula"),
        ("G !a\n", "holds before anything has happened"),
        ("a & b\n", "cannot be satisfied"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "tasks.txt"
    path.write_text(text)
    with pytest.raises((FileError, ConfigError), match=message) as error:
        sample_tasks(f"file:{path}", LETTERS, 1, 0)
    assert str(path) in str(error.value)


def test_bad_requests() -> None:
    with pytest.raises(ConfigError, match="'reach'"):
        sampler_of("reech")
    with pytest.raises(ConfigError, match=r"3 .*events.*\b2\b"):
        sample_tasks("reach-avoid", LETTERS, 1, 0, events=EVENTS[:2])
    with pytest.raises(ConfigError, match=r"task.*\b0$"):
        sample_tasks("reach", LETTERS, 0, 0)
    with pytest.raises(ConfigError, match="mixture is empty"):
        Mixture(families=())
    with pytest.raises(ConfigError, match="cannot hold itself"):
        Mixture(families=("mixture",))
    with pytest.raises(ConfigError, match="they are 3 and 2"):
        TemplateSampler("reach", min_steps=3, max_steps=2)
    with pytest.raises(ConfigError, match="max_avoided"):
        TemplateSampler("reach", max_avoided=1)
    with pytest.raises(ConfigError, match=r"max_parts.*\b1$"):
        TemplateSampler("conjunctions", max_parts=1)
    with pytest.raises(ConfigError, match="file:PATH"):
        sampler_of("file")
    with pytest.raises(ConfigError, match="at most 2 states"):
        sample_tasks(TemplateSampler("reach", min_steps=3, max_steps=3), LETTERS, 5, 0, events=EVENTS, max_states=2)


def test_what_has_begun_can_be_undone_from_the_start() -> None:
    for machine in sample_tasks("mid-resettable", LETTERS, 30, 2, events=EVENTS).machines:
        distance = machine.distance_to_acceptance
        reached = distance[machine.transitions[machine.initial]]
        # One letter accepts at once, and one or two lead back to where two steps are needed.
        assert distance[machine.initial] == 1
        assert (reached == 0).sum() == 1
        assert 1 <= (reached == 2).sum() <= 2


def test_what_is_avoided_is_spared_while_something_else_holds() -> None:
    """Of `!(a & !b) U c` over three propositions, {a} loses and {a, b} does not; of `!a U c` both do."""
    alphabet = Alphabet.propositional(["a", "b", "c"])
    events = [atom(name) for name in "abc"]

    def losing(family: TemplateSampler) -> set[int]:
        drawn = (family.draw(events, np.random.default_rng(seed)) for seed in range(40))
        machines = (compile_formula(formula, alphabet) for formula in drawn)
        return {int(machine.dead[machine.transitions[machine.initial]].sum()) for machine in machines}

    assert losing(TemplateSampler("reach-avoid", max_steps=1, max_choices=1, max_avoided=1)) == {0, 2}
    assert losing(TemplateSampler("avoid-except", max_steps=1, max_choices=1, max_avoided=1)) == {0, 1, 2}
    together = [parse("a & b"), atom("c")]
    drawn = {
        str(TemplateSampler("avoid-except", max_steps=1).draw(together, np.random.default_rng(seed)))
        for seed in range(40)
    }
    assert {"!(a & !b) U c", "!(b & !a) U c"} <= drawn


def test_alternatives_are_done_by_either_goal() -> None:
    """Of `(a -> F b) U (c | d)`, c and d are each enough; half of the tasks have one goal."""
    family, goals = TemplateSampler("branching", max_steps=1), []
    for seed in range(40):
        machine = compile_formula(family.draw(EVENTS, np.random.default_rng(seed)), LETTERS)
        goals.append(sum(machine.run([letter]).accepted for letter in "abcdefgh"))
    assert set(goals) == {1, 2}
    assert 8 < goals.count(2) < 32


@pytest.mark.parametrize(("old", "new"), RENAMED_SAMPLERS.items())
def test_names_of_the_last_release_are_read_with_a_warning(old: str, new: str) -> None:
    with pytest.warns(NrmWarning, match=f"'{old}' is called '{new}'"):
        assert sampler_of(old) == TemplateSampler(new)
