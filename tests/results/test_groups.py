"""Runs are grouped by what they are, whatever they are called and wherever they lie."""

from dataclasses import replace
from pathlib import Path

import pytest

from nrm.machines import Task, task_toml
from nrm.results import Group, Record, group_runs, method_named
from nrm.results.records import setting_text
from nrm.runs import OneTask, choose_run
from tests.results.synthetic import grid, record


def renamed(run: Record, **changes: object) -> Record:
    """The same run with another task."""
    assert run.task is not None
    task: Task = replace(run.task, **changes)  # type: ignore[arg-type]
    return replace(run, about=OneTask.of(task), config=replace(run.config, task=task_toml(task)))


def configured(run: Record, path: str = "", **settings: dict[str, object]) -> Record:
    """The same run with other settings."""
    config = run.config
    changed = choose_run(
        run.task, config.env, config.method, config.seed, total_episodes=config.total_episodes, settings=settings
    )
    return replace(run, path=Path(path or "other"), config=changed, env=changed.env_title)


def heads(groups: tuple[Group, ...]) -> list[tuple[str, str, str]]:
    return [(group.env, group.task.split(":")[0], group.method) for group in groups]


def test_groups_come_in_one_order_whatever_the_order_of_runs() -> None:
    runs = grid(tasks=("F gem", "8", "2"), envs=("image", "map"))
    found = group_runs(reversed(runs)).groups
    assert found == group_runs(runs).groups
    tasks = ["paper task 2", "paper task 8", "F gem"]
    assert heads(found) == [(w, t, m) for w in ("map", "image") for t in tasks for m in ("rm", "nrm", "rnn")]
    assert [record.seed for record in found[0].records] == [0, 1, 2]


def test_numbers_in_names_count() -> None:
    runs = [renamed(record([1], task=f"F gem & {'X ' * n}true", seed=n), name=f"task {n}") for n in (10, 9, 2)]
    assert [group.task for group in group_runs(runs).groups] == ["task 2", "task 9", "task 10"]


def test_two_formulas_under_one_name_are_two_tasks() -> None:
    one, other = record([100] * 3), renamed(record([0] * 3, task="F gem"), name=record([1]).subject)
    found = [group.task for group in group_runs([one, other]).groups]
    assert found == [f"{one.subject} (F pickaxe & F lava)", f"{one.subject} (F gem)"]


@pytest.mark.parametrize("changes", [{"reward": "acceptance"}, {"reward": (0.0, 1.0)}])
def test_tasks_that_differ_in_their_rewards_are_two_tasks(changes: dict[str, object]) -> None:
    one = record([100] * 3, task="F gem")
    found = group_runs([one, renamed(one, **changes)]).groups
    assert [group.task for group in found] == ["F gem", "F gem #2"]


def test_one_formula_under_two_names_is_one_task() -> None:
    one, other = record([100] * 3), renamed(record([0] * 3, seed=1), name="mine")
    (group,) = group_runs([one, other, record([0] * 3, seed=2)]).groups
    assert group.task == one.subject
    assert len(group.records) == 3


def test_of_two_settings_the_default_is_the_usual_one_and_nothing_is_said_in_words() -> None:
    plain = record([100] * 4, method="nrm")
    taken = configured(record([0] * 4, method="nrm"), grounding={"initial": "/a/run"})
    assert [group.variant for group in group_runs([taken, plain]).groups] == ["", "grounding.initial=/a/run"]
    assert [setting_text(value) for value in (None, {}, {"size": 4, "noise": 0.1})] == [
        "none",
        "none",
        "size 4, noise 0.1",
    ]


def test_runs_with_other_settings_are_kept_apart_and_named_after_them() -> None:
    usual = [record([100] * 4, seed=seed, method=method) for seed in range(2) for method in ("rm", "nrm")]
    odd = configured(record([0] * 4), algorithm={"learning_rate": 0.5})
    found = group_runs([odd, *usual, configured(record([0] * 4), env={"size": 6})]).groups
    assert [(group.method, group.variant, len(group.records)) for group in found] == [
        ("rm", "", 2),
        ("nrm", "", 2),
        ("rm", "algorithm.learning_rate=0.5", 1),
        ("rm", "env.size=(6, 6)", 1),
    ]


def test_what_a_envs_title_tells_is_no_variant() -> None:
    drawn = configured(record([0] * 4), env={"layout": "episode"})
    found = group_runs([record([0] * 4), drawn]).groups
    assert [(group.env, group.variant) for group in found] == [("map", ""), ("map-episode", "")]


def test_a_variants_name_is_a_name_only() -> None:
    """The same settings are the same, whatever a grid calls them; other settings are not, although it calls them so."""
    named = replace(record([1] * 3, seed=1), variant="base")
    other = replace(configured(record([1] * 3), "c", network={"encoder": "blind"}), variant="base")
    found = group_runs([record([1] * 3), record([1] * 3, seed=2), named, other]).groups
    assert [(group.variant, len(group.records)) for group in found] == [("", 3), ("base", 1)]
    both = group_runs([named, replace(record([1] * 3, seed=2), variant="base"), other]).groups
    assert [group.variant for group in both] == ["base", "base, network.encoder=blind"]


def test_of_two_equal_runs_the_one_that_got_further_counts() -> None:
    runs = [record([1], missing=3, path="a"), record([1] * 4, path="b"), record([1] * 3, missing=1, path="c")]
    for order in (runs, runs[::-1]):
        (group,), copies = group_runs(order)
        assert [str(run.path) for run in group.records] == ["b"]
        assert copies == dict.fromkeys((Path("a"), Path("c")), "the same run as b; it is counted once")


def test_methods_speak_for_themselves_and_those_that_are_gone_have_a_name() -> None:
    assert method_named("nrm").label == "NRM"
    gone = method_named("nowhere:METHOD")
    assert (gone.label, gone.grounds, gone.tracks_states) == ("nowhere:METHOD", False, False)


@pytest.mark.parametrize(
    ("formula", "number"),
    # Another order of the conjuncts is another formula.
    [("F lava & F pickaxe", None), ("F pickaxe & F lava", 1), ("F gem", None)],
)
def test_paper_tasks_are_known_by_their_formula(formula: str, number: int | None) -> None:
    (group,) = group_runs([record([1], task=formula)]).groups
    assert (group.about.paper and group.about.paper.number) == number
