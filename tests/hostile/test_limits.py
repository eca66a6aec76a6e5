"""Short texts that ask for a lot: the limit speaks first."""

from __future__ import annotations

import resource
import time

import pytest

import nrm
from nrm.errors import LimitError

MANY = [f"s{number}" for number in range(300)]


@pytest.mark.filterwarnings("ignore:one step can satisfy")
@pytest.mark.parametrize(
    ("formula", "names"),
    [
        ("ppltl: " + "Y " * 200 + "a", {"symbols": ["a", "b"]}),
        ("visit(" + ", ".join(MANY[:20]) + ")", {"propositions": MANY[:20]}),
        ("re: a{200}{20}", {"symbols": ["a", "b"]}),
        ("strictly_ordered_visit(" + ", ".join(MANY) + ")", {"symbols": MANY}),
        ("ppltl: strictly_ordered_visit(" + ", ".join(MANY) + ")", {"symbols": MANY}),
        ("re: " + ";".join(["a*"] * 500), {"symbols": ["a", "b"]}),
    ],
)
def test_a_translation_stops_at_its_limit(formula: str, names: dict[str, list[str]]) -> None:
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(LimitError):
        nrm.compile(formula, **names)  # type: ignore[arg-type]
    # Far above what it takes, as machines differ; without limits it took from 10 s to no end.
    assert time.process_time() - began < 30
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1_000_000  # kB
