"""`python -m benchmarks.headline`: every headline can be made, under its own name."""

from __future__ import annotations

import pytest
from benchmarks.headline import MODULES, benchmark

from nrm.errors import NrmError


@pytest.mark.parametrize("name", MODULES)
def test_every_headline_has_its_command_and_its_runs(name: str) -> None:
    found = benchmark(name)
    assert found.headline.name == name
    assert found.headline.command.endswith(f"python -m benchmarks.headline {name}")
    assert len(found.jobs(found.seeds)) > len(found.jobs(found.seeds[:1])) > 0


def test_other_seeds_give_other_runs() -> None:
    jobs = benchmark("hidden-symbols").jobs
    assert not set(jobs((1, 2))) & set(jobs((3,)))


def test_unknown_headlines_are_refused() -> None:
    with pytest.raises(NrmError, match="leter"):
        benchmark("leter")
