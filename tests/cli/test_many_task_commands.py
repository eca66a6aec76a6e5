"""`nrm evaluate`, `nrm watch` and `nrm report` of agents of many tasks."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch

from nrm.cli.watch import wish_line
from nrm.machines import compile_formula, task_view
from nrm.report import ending
from tests.cli.conftest import Nrm
from tests.results.folders import many_run


@pytest.fixture(scope="module")
def skilled(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(many_run(tmp_path_factory.mktemp("many") / "run", "nrm"))


def test_a_family_is_told_by_task_and_by_size(nrm_command: Nrm, skilled: str) -> None:
    options = ("evaluate", skilled, "--family", "reach-avoid", "--count", "6", "--episodes", "4")
    data = json.loads(nrm_command(*options, "--json").out)
    assert len(data["tasks"]) == 6
    assert not any(row["trained_on"] for row in data["tasks"])
    assert sum(size["tasks"] for size in data["sizes"]) == 6
    assert data["success_rate"] == pytest.approx(np.mean([row["success_rate"] for row in data["tasks"]]))
    shown = nrm_command(*options).out
    assert "By number of machine states" in shown
    assert "worst task" in shown
    assert shown.count("unseen") == 6


def test_of_very_many_tasks_the_worst_are_listed(nrm_command: Nrm, skilled: str) -> None:
    shown = nrm_command("evaluate", skilled, "--family", "mixture", "--count", "40", "--episodes", "1").out
    assert "The 10 of 40 tasks with the lowest success" in " ".join(shown.split())
    assert shown.count("unseen") == 10


def test_a_file_of_formulas(nrm_command: Nrm, skilled: str, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("F(a & F b)\nF c\n")
    data = json.loads(
        nrm_command("evaluate", skilled, "--family", f"file:{tmp_path / 'mine.txt'}", "--episodes", "2", "--json").out
    )
    assert [row["name"] for row in data["tasks"]] == ["F(a & F b)", "F c"]
    same = ("evaluate", skilled, "--family", f"file:{tmp_path / 'mine.txt'}", "--episodes", "2", "--json")
    assert json.loads(nrm_command(*same).out) == data
    both = nrm_command("evaluate", skilled, "--family", "file:x", "--task", "F a")
    assert "--task and --family exclude each other" in both.err


def test_watching_a_formula_through_a_pipe(nrm_command: Nrm, skilled: str, tmp_path: Path) -> None:
    shown = nrm_command("watch", skilled, "--task", "F(a & F b) & G !c").out
    assert "helps; c violates" in shown
    assert "state 0" in shown
    assert "predicted" in shown
    assert shown.rstrip().splitlines()[-1] in ("task satisfied", "task violated", "time limit reached")
    made = nrm_command("watch", skilled, "--task", "F(a & F b) & G !c", "--out", str(tmp_path / "a.gif"))
    assert "steps, t" in made.out
    assert (tmp_path / "a.gif").read_bytes().startswith(b"GIF8")


def test_options_that_would_do_nothing_are_refused(nrm_command: Nrm, skilled: str) -> None:
    assert "--family mixture" in nrm_command("evaluate", skilled, "--task", "F a", "--count", "3").err
    few = nrm_command("evaluate", skilled, "--family", "reach", "--count", "5000", "--episodes", "1")
    assert "--count 5000" in few.err
    assert few.status == 0
    assert "--task 'F a'" in nrm_command("watch", skilled).err


def test_an_episode_that_the_env_ends_is_not_lost() -> None:
    machine = compile_formula("F a & G !b", "a b c")
    ended = torch.tensor([True])

    def words(state: int, terminated: torch.Tensor) -> str:
        batch = SimpleNamespace(terminated=terminated)
        return ending(machine, cast(Any, SimpleNamespace(batch=batch, state=torch.tensor([state]))))

    first = machine.initial
    assert words(machine.step(first, "a"), ended) == "task satisfied"
    assert words(machine.step(first, "b"), ended) == "task violated"
    assert "still open" in words(first, ended)
    assert words(first, ~ended) == "time limit reached"


def test_what_a_policy_sees_in_words() -> None:
    machine = compile_formula("F(a & (!b U c)) & F d & G !e", "a,b,c,d,e")
    view = task_view(machine)
    assert wish_line(machine, view[machine.initial].tolist()) == "now a, d help; e violates"
    after = machine.next_state(machine.initial, machine.alphabet.letter("a"))
    assert wish_line(machine, view[after].tolist()) == "now c, d help; b undoes progress; e violates"
    assert wish_line(machine, [0.0] * len(view[0])) == "now no symbol matters"


def test_a_report_with_a_formula_of_ones_own(nrm_command: Nrm, skilled: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    made = nrm_command("report", skilled, "--out", str(page), "--count", "2", "--task", "F(b & F a)", "--task", "F c")
    assert made.status == 0
    assert "F(b & F a)" in page.read_text()
    assert "at least 1, not 0" in nrm_command("report", skilled, "--count", "0").err
    assert "nothing to execute" in nrm_command("report", skilled, "--task", "G !a").err


def test_beliefs_and_actions_of_a_test_are_named_in_what_it_prints(nrm_command: Nrm, skilled: str) -> None:
    options = ("evaluate", skilled, "--task", "F(a & F b)", "--episodes", "2")
    assert json.loads(nrm_command(*options, "--belief", "argmax", "--json").out)["belief"] == "argmax"
    assert json.loads(nrm_command(*options, "--greedy", "--json").out)["sampled"] is False
    assert "rewards are read (filtered beliefs)" in nrm_command(*options, "--belief", "filtered").out


def test_an_infinite_task_is_counted_in_rounds(nrm_command: Nrm, skilled: str) -> None:
    options = ("evaluate", skilled, "--task", "GF a & G !b", "--logic", "ltl", "--episodes", "5")
    data = json.loads(nrm_command(*options, "--json").out)
    assert data["episodes"] == 5
    assert data["rounds"] == data["accepting_visits"] <= data["mean_length"]
    assert 0 <= data["violation_rate"] <= 1
    assert "violation rate" in nrm_command(*options).out
    assert "so far" in nrm_command("watch", skilled, "--task", "GF a & G !b", "--logic", "ltl").out
    refused = nrm_command("evaluate", skilled, "--task", "a U G b", "--logic", "ltl")
    assert refused.status == 2
    assert "a U G b\n    ^" in refused.err
