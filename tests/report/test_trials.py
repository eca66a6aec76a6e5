"""Agents of many tasks on a page: formulas that nobody was trained on, and what became of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from nrm.agents import TaskOutcome
from nrm.errors import ConfigError, NrmWarning
from nrm.machines import compile_formula, task_view
from nrm.report import Page, build_report
from nrm.report.trials import _together, choose, view_data
from nrm.results import read_record
from nrm.runs import RunFolder, choose_run
from tests.results.folders import LETTERS, many_run, run

SYMBOLS = "a,b,c,empty"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("many")
    many_run(root / "nrm", "nrm", 0)
    many_run(root / "rm", "rm", 1)
    return root


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    return build_report(folder, formulas=5, tasks=["F(a & F b) & G !c", "F b"])


def test_what_is_tried_was_never_trained_and_is_the_same_for_all(folder: Path, page: Page) -> None:
    (trial,) = page.data["trials"]
    assert [group["trial"] for group in page.data["groups"]] == [0, 0]
    trained = {machine for name in ("nrm", "rm") for machine in read_record(folder / name).config.pool.machines}  # type: ignore[union-attr]
    origins = {"given": 0, "drawn": 0, "longer": 0, "trained": 0}
    for row in trial["formulas"]:
        machine = compile_formula(row["formula"], SYMBOLS)
        assert (machine in trained) == (row["origin"] == "trained")
        assert row["states"] == machine.states
        origins[row["origin"]] += 1
    assert origins["drawn"] + origins["longer"] == 5
    assert trial["formulas"][0]["formula"] == "F(a & F b) & G !c"
    assert trial["first"] == 0
    assert trial["shown"][:2] == [0, 1]


def test_the_numbers_of_a_group(page: Page) -> None:
    (trial,) = page.data["trials"]
    for group in page.data["groups"]:
        tried = group["tried"]
        assert len(tried["success"]) == len(trial["formulas"])
        unseen = [number for number, row in enumerate(trial["formulas"]) if row["origin"] != "trained"]
        assert tried["mean"] == pytest.approx(np.mean([tried["success"][number] for number in unseen]), abs=1e-3)
        assert sum(size["tasks"] for size in tried["sizes"]) == len(unseen)
        assert group["many"]
        assert group["curves"]["unit"] == "steps"
        assert group["curves"]["length"] <= 2048
    nrm = page.data["groups"][1]
    assert nrm["method"] == "nrm"
    assert "plain" in nrm["curves"]["runs"][0]


def test_episodes_follow_the_formula_that_they_are_of(page: Page) -> None:
    (trial,) = page.data["trials"]
    for group in page.data["groups"]:
        assert [one["formula"] for one in group["recordings"]] == trial["shown"]
        for recording in group["recordings"]:
            machine = compile_formula(trial["formulas"][recording["formula"]]["formula"], SYMBOLS)
            for episode in recording["episodes"]:
                state = machine.initial
                for step in episode["steps"]:
                    state = machine.next_state(state, step["letter"])
                    assert step["state"] == state
                    assert sum(share for _, share in step["belief"]) == pytest.approx(1, abs=0.02)
                    if group["method"] == "rm":
                        assert step["belief"] == [[state, 1.0]]
                        assert "read" not in step
                    else:
                        assert step["read"][0][1] <= 1
                assert (episode["end"] == "success") == bool(machine.accepting[state])


def test_means_over_runs_by_hand() -> None:
    settings = {"env": LETTERS, "tasks": {"count": 4}}
    config = choose_run(None, "letter", "rm", tasks="reach", total_timesteps=100, settings=settings)
    assert config.pool is not None
    formulas = choose(config, [config.pool], 2, [])
    names = ["x", "y"]
    one = [
        TaskOutcome(name, 3, 10, rate, steps) for name, rate, steps in zip(names, (1.0, 0.0), (4.0, None), strict=True)
    ]
    two = [
        TaskOutcome(name, 3, 10, rate, steps) for name, rate, steps in zip(names, (0.5, 0.5), (6.0, 8.0), strict=True)
    ]
    found = _together([one, two], [7, 8], formulas)
    assert found["success"] == [0.75, 0.25]
    assert found["steps"] == [5.0, 8.0]
    assert found["mean"] == 0.5
    assert found["sizes"] == [{"least": 3, "most": 3, "tasks": 2, "success_rate": 0.5, "worst": 0.25}]


def test_where_a_family_has_no_more_longer_tasks_are_drawn(tmp_path: Path) -> None:
    many_run(tmp_path / "all", "rm", count=3000, settings={"family": {"max_steps": 1}}, steps=200)
    (trial,) = build_report(tmp_path, formulas=3).data["trials"]
    assert [row["origin"] for row in trial["formulas"]] == ["longer"] * 3


def test_a_file_has_no_other_formulas(tmp_path: Path) -> None:
    (tmp_path / "tasks.txt").write_text("F a & F b\nF c\n")
    many_run(tmp_path / "runs" / "one", "nrm", family=f"file:{tmp_path / 'tasks.txt'}", steps=200)
    page = build_report(tmp_path / "runs")
    (trial,) = page.data["trials"]
    assert [row["origin"] for row in trial["formulas"]] == ["trained", "trained"]
    (group,) = page.data["groups"]
    assert group["tried"]["mean"] is None
    assert group["task"] == "tasks in tasks.txt"
    assert "cannot separate {a, b}" in " ".join(trial["words"]["sentences"])
    (tmp_path / "tasks.txt").unlink()
    assert build_report(tmp_path / "runs", recorded=0).data["trials"]  # the run keeps its tasks
    (tmp_path / "runs" / "one" / "tasks.npz").unlink()
    with pytest.warns(NrmWarning, match="sampled again"):
        gone = build_report(tmp_path / "runs")
    assert gone.data["trials"] == []
    assert "tasks.txt" in next(iter(gone.problems.values()))


def test_the_view_for_a_page_is_the_view() -> None:
    machine = compile_formula("F(a & (!b U c))", SYMBOLS)
    shown = view_data(machine)
    view = task_view(machine)
    assert shown["letters"] == ["a", "b", "c", "empty"]
    for state in range(machine.states):
        assert np.concatenate(shown["states"][state]).tolist() == pytest.approx(view[state, :-1].tolist())
        assert shown["left"][state] == view[state, -1]


def test_of_many_letters_those_are_shown_that_matter() -> None:
    names = [f"s{number}" for number in range(60)]
    shown = view_data(compile_formula("F(s7 & F s41)", ",".join(names)))
    assert {"s7", "s41"} <= set(shown["letters"])
    assert shown["hidden"] == 40


def test_formulas_that_nobody_understands(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nothing to execute"):
        build_report(folder, tasks=["G !a"])
    with pytest.raises(Exception, match="pickaxe"):
        build_report(folder, tasks=["F pickaxe"])
    run(tmp_path / "one", "rm", 0)
    with pytest.raises(ConfigError, match=r"F pickaxe.*many tasks"):
        build_report(tmp_path, tasks=["F pickaxe"])


def test_what_cannot_be_played_is_named(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "runs")
    (tmp_path / "runs" / "nrm" / "policy.safetensors").write_bytes(b"damaged")
    page = build_report(tmp_path / "runs", formulas=2)
    assert "no episode was played" in page.problems[tmp_path / "runs" / "nrm"]
    by_method = {group["method"]: group for group in page.data["groups"]}
    assert by_method["nrm"]["tried"] is None
    assert by_method["rm"]["tried"] is not None
    none = build_report(folder, recorded=0)
    assert none.data["trials"][0]["formulas"] == []
    assert none.data["trials"][0]["words"]["sentences"]


def test_an_unfinished_run_counts_steps(tmp_path: Path) -> None:
    many_run(tmp_path / "a", "rm", steps=4000, stop_after=2)
    page = build_report(tmp_path, recorded=0)
    (reason,) = page.unfinished.values()
    assert reason.endswith("of 4,000 steps")
    record = read_record(tmp_path / "a")
    assert not record.done
    assert record.reached == RunFolder(tmp_path / "a").load().steps
