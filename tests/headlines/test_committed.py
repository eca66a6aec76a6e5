"""The results files that are committed: made by their programs, not by hand."""

from __future__ import annotations

from statistics import fmean
from typing import Any

import pytest
from benchmarks.flat_world import DEEP_LTL
from benchmarks.headline import MODULES, benchmark
from benchmarks.letter_world import PUBLISHED
from benchmarks.results import RESULTS
from benchmarks.unknown_machines import PUBLISHED as FLNRM

from nrm.files import read_json

MEASURED = sorted(path.stem for path in RESULTS.glob("*.json") if path.stem != "published")


def members(rows: list[dict[str, Any]], columns: tuple[str, ...], stratum: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of each group, with and without the stratum in its name."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        short = " ".join(str(row[name]) for name in columns if name != stratum) or "all"
        for name in {short, " ".join(str(row[name]) for name in columns)}:
            found.setdefault(name, []).append(row)
    return found


@pytest.mark.parametrize("name", MEASURED)
def test_the_summary_is_that_of_the_rows(name: str) -> None:
    assert name in MODULES, f"no headline makes {name}.json"
    data, headline = read_json(RESULTS / f"{name}.json"), benchmark(name).headline
    groups = members(data["rows"], headline.by, headline.stratum)
    summary = {group: of for group, of in data["summary"].items() if group != "derived"}
    assert set(summary) == set(groups)
    for group, scores in summary.items():
        for score, one in scores.items():
            values = [float(row[score]) for row in groups[group] if row.get(score) is not None]
            assert one["runs"] == len(values)
            assert one["mean"] == pytest.approx(fmean(values), abs=1e-5)
            assert (one["min"], one["max"]) == pytest.approx((min(values), max(values)), abs=1e-5)
            assert one["interval"][0] <= one["mean"] <= one["interval"][1]


@pytest.mark.parametrize("name", MEASURED)
def test_rows_are_those_of_the_command(name: str) -> None:
    data, chosen = read_json(RESULTS / f"{name}.json"), benchmark(name)
    assert data["command"] == chosen.headline.command
    keys = [row["key"] for row in data["rows"]]
    assert len(set(keys)) == len(keys)
    assert all(row["source"] and row["cpu_seconds"] is not None for row in data["rows"])


def test_published_figures_are_those_that_programs_show() -> None:
    found = read_json(RESULTS / "published.json")["summary"]
    for system, figures in PUBLISHED.items():
        assert found[f"{system}, LetterWorld"]["formulas"] == list(figures)
        assert found[f"{system}, LetterWorld"]["mean"] == pytest.approx(fmean(figures))
    assert found["DeepLTL, FlatWorld"]["formulas"] == list(DEEP_LTL)
    assert found["DeepLTL, FlatWorld"]["mean"] == pytest.approx(fmean(DEEP_LTL))
    assert found["FLNRM, map"]["tasks"] == list(FLNRM)


def test_the_cost_of_a_published_system_is_frames_by_rate() -> None:
    found = read_json(RESULTS / "published.json")["summary"]
    theirs, ours = found["cost of DeepLTL"], found["cost of NRM"]
    slow, fast = (theirs["frames"] / rate / 3600 for rate in theirs["frames_per_second"])
    assert fast < theirs["cpu_hours"] < slow
    assert theirs["cpu_hours"] * 3600 / max(ours["cpu_seconds"]) == pytest.approx(ours["times less"], rel=0.05)
