"""What a report holds: the right numbers, and everything that is not in order by name."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import nrm
from nrm.agents import METHODS
from nrm.aliases import Json
from nrm.errors import FileError
from nrm.figures.series import collect
from nrm.machines import MooreMachine
from nrm.registry import received
from nrm.report import Page, build_report, write_report
from nrm.report.building import method_data
from nrm.report.words import shortcut_words
from nrm.results import read_record, read_records
from nrm.runs import RunFolder
from nrm.shortcuts import shortcuts
from tests.report.conftest import NASTY
from tests.results.folders import BREAKAGES, lose_method, run
from tests.said import names


def groups_of(data: Json, **wanted: str) -> list[Json]:
    return [group for group in data["groups"] if all(group[key] == value for key, value in wanted.items())]


def test_what_a_method_does_not_show_is_said_without_contradiction() -> None:
    own = "tracks the state of its own learned machine"
    for name, unread, unbelieved in (
        ("pure-learning", "learns symbols without names", own),
        ("automata-learning", METHODS["automata-learning"].knows, own),
        ("rnn", METHODS["rnn"].knows, METHODS["rnn"].knows),
    ):
        data = method_data(name)
        assert (data["unread"], data["unbelieved"]) == (unread, unbelieved)


def test_the_numbers_are_those_of_the_run_folders(runs: Path, page: Page) -> None:
    (group,) = groups_of(page.data, method="nrm", task=NASTY)
    records = [read_record(runs / "ugly" / f"nrm-{seed}") for seed in range(2)]
    last = [record.returns[-100:].mean() for record in records]
    assert group["last"] == pytest.approx([np.mean(last), np.std(last)], abs=1e-3)
    assert group["area"][0] == pytest.approx(np.mean([record.returns.mean() for record in records]), abs=1e-3)
    final = [record.grounding["accuracy"][-1] for record in records if record.grounding is not None]
    assert group["plain"][0] == pytest.approx(np.mean(final), abs=1e-3)
    assert group["seeds"] == [0, 1]
    assert page.runs == 8
    assert [group["method"] for group in page.data["groups"]][:3] == ["rm", "nrm", "rnn"]
    assert groups_of(page.data, method="rm", task=NASTY)[0]["plain"] is None


def test_what_is_not_in_order_is_named(runs: Path, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    shutil.copytree(runs, root)
    shutil.copytree(root / "ugly" / "rm-0", root / "ugly" / "rm-0-copy")
    (root / "plain" / "nrm-0" / "checkpoint.pt").write_bytes(b"damaged")
    (root / "plain" / "nrm-0" / "policy.safetensors").unlink()
    for name in ("checkpoint.pt", "policy.safetensors"):
        (root / "ugly" / "rnn-0" / name).unlink()
    RunFolder(root / "begun").begin(read_record(root / "ugly" / "rm-0").config)
    page = build_report(root)
    problems = {str(path.relative_to(root)): reason for path, reason in page.problems.items()}
    assert set(problems) == {"broken", "ugly/rm-0-copy", "plain/nrm-0", "ugly/rnn-0"}
    assert "it is counted once" in problems["ugly/rm-0-copy"]
    assert "no episode was played" in problems["plain/nrm-0"]
    assert "checkpoint.pt" in problems["ugly/rnn-0"]
    unfinished = {str(path.relative_to(root)): reason for path, reason in page.unfinished.items()}
    assert set(unfinished) == {"begun", "plain/rm-0"}
    assert unfinished["plain/rm-0"].endswith("of 40 episodes")
    assert groups_of(page.data, method="rm", task=NASTY)[0]["counted"] == 2
    assert groups_of(page.data, method="rnn", task=NASTY)[0]["recordings"][0]["seed"] == 1


def test_unfinished_runs_do_not_count_beside_finished_ones(tmp_path: Path) -> None:
    run(tmp_path / "a", "rm", 0)
    run(tmp_path / "b", "rm", 1, stop_after=10)
    (group,) = build_report(tmp_path).data["groups"]
    assert (group["counted"], group["finished"], len(group["seeds"])) == (1, 1, 2)
    assert len(group["curves"]["runs"]) == 1


def test_where_a_page_is_written(tmp_path: Path) -> None:
    run(tmp_path / "a", "rm", 0, episodes=5)
    assert write_report(tmp_path, "A title") == tmp_path / "index.html"
    assert "<title>A title</title>" in (tmp_path / "index.html").read_text()


def test_no_runs(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="nrm train"):
        build_report(tmp_path)
    with pytest.raises(FileError, match="there is no folder"):
        build_report(tmp_path / "nowhere")
    folder = run(tmp_path / "a", "rm", 0)
    (folder / "metrics.csv").write_text("nonsense\nx\n")
    with pytest.raises(FileError, match=r"no run below .*/a: "):
        build_report(tmp_path)
    (folder / "metrics.csv").unlink()
    with pytest.raises(FileError, match=r"/a: metrics\.csv is missing"):
        build_report(tmp_path)


def test_broken_runs_cost_only_themselves(runs: Path, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    shutil.copytree(runs / "ugly", root)
    for what, (break_it, _) in BREAKAGES.items():
        shutil.copytree(root / "rm-0", root / what)
        break_it(root / what)
    page = build_report(root, recorded=0)
    assert {path.name for path in page.problems} - {"rm-0"} == set(BREAKAGES)  # with another cell it is that very run
    assert all(names(page.problems[root / what], message) for what, (_, message) in BREAKAGES.items())
    assert [len(group["seeds"]) for group in page.data["groups"]] == [2, 2, 2]
    assert page.html()


def test_a_method_that_is_gone(runs: Path, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    shutil.copytree(runs / "ugly", root)
    lose_method(root / "rm-0")
    page = build_report(root)
    assert [method["label"] for method in page.data["methods"]] == ["RM", "NRM", "RNN", "nowhere:METHOD"]
    (group,) = groups_of(page.data, method="nowhere:METHOD")
    assert group["last"] is not None
    assert group["recordings"] == []
    assert list(page.problems) == [root / "rm-0"]
    assert "only its numbers are shown" in page.problems[root / "rm-0"]


def test_accuracy_that_is_unknown_is_null(tmp_path: Path) -> None:
    folder = run(tmp_path / "a", "nrm", 0)
    head, *rows = (folder / "grounding.csv").read_text().splitlines()
    rows = [",".join([*row.split(",")[:3], "nan"]) for row in rows]
    (folder / "grounding.csv").write_text("\n".join([head, *rows]) + "\n")
    page = build_report(tmp_path)
    (group,) = page.data["groups"]
    assert (group["modulo"], group["plain"] is None) == (None, False)
    assert "modulo" not in group["curves"]["runs"][0]
    json.dumps(page.data, allow_nan=False)


OUTSIDE = """
from dataclasses import dataclass
from nrm.agents import Method
from nrm.agents.machine_methods import RM
from nrm.envs import MinecraftConfig

TOLD = Method(
    name="told", label="Told all", knows="is given everything", prepare=RM.prepare, colour="#123456", dark="#abcdef",
    dash=(3, 1), marker="v", tracks_states=True,
)
@dataclass(frozen=True)
class ISLAND(MinecraftConfig):
    name = "island"
    env_names = ("outside_things:ISLAND",)

    @classmethod
    def parse(cls, name):
        return cls()

    def title(self):
        return "island"

    def board(self, machine, end, seed):
        return None
"""


def test_a_method_and_a_env_from_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "outside_things.py").write_text(OUTSIDE)
    monkeypatch.chdir(tmp_path)
    run(tmp_path / "runs" / "a", "outside_things:TOLD", env="outside_things:ISLAND")
    run(tmp_path / "runs" / "b", "outside_things:TOLD")
    page = build_report(tmp_path / "runs", trust=True)
    (method,) = page.data["methods"]
    assert (method["label"], method["knows"]) == ("Told all", "is given everything")
    assert (method["colour"], method["dash"]) == ("light-dark(#123456, #abcdef)", "6 2")
    assert [group["env"] for group in page.data["groups"]] == ["map", "island"]
    played, filmed_group = page.data["groups"]
    assert played["recordings"][0]["actions"] == ("up", "right", "down", "left")
    (filmed,) = filmed_group["recordings"]  # an environment without a board is shown as it renders itself
    assert filmed["filmed"]
    assert filmed["actions"] == ("up", "right", "down", "left")
    assert not page.problems
    with received(trust=True):
        (series,) = collect(read_records(tmp_path / "runs")[0]).series
    assert (series.label, series.look.colour, series.look.marker) == ("Told all", "#123456", "v")
    monkeypatch.delitem(sys.modules, "outside_things")


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("F a & F b", ["(a b)", "symmetry", "{c, d}", "Label a, c, d (3 of 4 symbols"]),
        ("true", ["teach nothing"]),
        ("F(a & F(b & F c))", ["only the identity"]),
    ],
)
def test_the_shortcuts_in_words(formula: str, said: list[str]) -> None:
    machine: MooreMachine = nrm.compile(formula, "a b c d")
    words = shortcut_words(shortcuts(machine))
    text = " ".join([*words["sentences"], *words["repair"]])
    assert all(part in text for part in said)
    assert [symbol["name"] for symbol in words["symbols"]] == ["a", "b", "c", "d"]
