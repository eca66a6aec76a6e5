"""Results files: rows are kept as they come, and the summary is what one computes by hand."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.results import Headline, beside_rm, complete, summarise

from nrm.files import read_json

HEADLINE = Headline("coins", "python -m benchmarks.headline coins", ("success",))


def measured(method: str, seed: int) -> dict[str, Any]:
    return {"method": method, "seed": seed, "success": seed / 10, "accuracy": float("nan")}


def refused(method: str, seed: int) -> dict[str, Any]:
    raise AssertionError(f"{method} {seed} was there already")


def jobs(*seeds: int) -> dict[str, tuple[str, int]]:
    return {f"nrm {seed}": ("nrm", seed) for seed in seeds}


def test_rows_that_are_there_are_not_made_again(tmp_path: Path) -> None:
    complete(HEADLINE, jobs(1, 2), measured, folder=tmp_path)
    found = complete(HEADLINE, jobs(1, 2), refused, folder=tmp_path)
    more = complete(HEADLINE, jobs(1, 2, 3), measured, folder=tmp_path)
    assert found["seeds"] == [1, 2]
    assert more["seeds"] == [1, 2, 3]
    assert read_json(tmp_path / "coins.json") == more
    assert [row["key"] for row in more["rows"]] == ["nrm 1", "nrm 2", "nrm 3"]


def test_a_failing_run_keeps_the_rows_before_it(tmp_path: Path) -> None:
    def fails(method: str, seed: int) -> dict[str, Any]:
        if seed == 2:
            raise RuntimeError("out of luck")
        return measured(method, seed)

    with pytest.raises(RuntimeError):
        complete(HEADLINE, jobs(1, 2, 3), fails, folder=tmp_path)
    assert [row["seed"] for row in read_json(tmp_path / "coins.json")["rows"]] == [1]


def test_processes_give_what_one_gives(tmp_path: Path) -> None:
    alone = complete(HEADLINE, jobs(1, 2), measured, folder=tmp_path / "one")
    beside = complete(HEADLINE, jobs(1, 2), measured, workers=2, folder=tmp_path / "two")
    assert alone["summary"] == beside["summary"]


def test_what_is_not_a_number_is_absent(tmp_path: Path) -> None:
    (row,) = complete(HEADLINE, jobs(1), measured, folder=tmp_path)["rows"]
    assert row["accuracy"] is None
    assert "accuracy" not in summarise([row], ["success", "accuracy"])["nrm"]


def test_summary_by_hand() -> None:
    scores = {"1": (1.0, 0.8), "2": (0.5, 0.7)}
    rows = [{"method": "nrm", "task": task, "success": value} for task, values in scores.items() for value in values]
    rows += [{"method": "rm", "task": "1", "success": 1.0}]
    found = summarise(rows, ["success"])
    nrm, rm = found["nrm"]["success"], found["rm"]["success"]
    assert nrm["runs"] == 4
    assert nrm["min"] == 0.5
    assert nrm["mean"] == pytest.approx(0.75)
    assert nrm["iqm"] == pytest.approx((0.7 + 0.8) / 2)
    assert (rm["count"], "count" in nrm) == (1, False)
    assert rm["interval"] == rm["iqm_interval"] == [1.0, 1.0]


def test_intervals_are_those_of_all_resamples_within_tasks() -> None:
    """The slow twin lists every resample: four of each task of two runs, all equally likely."""
    scores = {"1": (1.0, 0.8), "2": (0.5, 0.1)}
    rows = [{"method": "nrm", "task": task, "success": value} for task, values in scores.items() for value in values]
    every = [np.mean([*one, *two]) for one in product(scores["1"], repeat=2) for two in product(scores["2"], repeat=2)]
    low, high = np.percentile(np.repeat(every, 1000), [2.5, 97.5])
    assert summarise(rows, ["success"])["nrm"]["success"]["interval"] == pytest.approx([low, high])
    pooled = summarise([row | {"task": "one"} for row in rows], ["success"])["nrm"]["success"]["interval"]
    assert pooled[0] < low, "resampling across tasks is wider"


def test_groups_of_all_tasks_stand_beside_those_of_each() -> None:
    rows = [{"method": "nrm", "task": task, "success": value} for task, value in ((1, 1.0), (1, 0.8), (2, 0.5))]
    found = summarise(rows, ["success"], by=("task", "method"))
    assert {name: one["success"]["runs"] for name, one in found.items()} == {"nrm": 3, "1 nrm": 2, "2 nrm": 1}


def test_derived_numbers_stand_in_the_summary(tmp_path: Path) -> None:
    headline = HEADLINE._replace(derived=lambda rows: {"rows": len(rows)})
    assert complete(headline, jobs(1, 2), measured, folder=tmp_path)["summary"]["derived"] == {"rows": 2}


def test_shares_of_rm_are_over_the_seeds_that_both_have() -> None:
    scores = {("rm", 1): 100.0, ("rm", 2): 50.0, ("nrm", 1): 90.0, ("nrm", 3): 10.0}
    rows = [{"task": 1, "method": method, "seed": seed, "test": value} for (method, seed), value in scores.items()]
    assert beside_rm(["test"], rows) == {"1 nrm, test / RM's": 0.9}
