from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.report.opened import CHROMIUM

settings.register_profile(
    "nrm", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("nrm")

TESTS = Path(__file__).parent
FAST = {"automata", "inference", "machines", "results", "samplers", "shortcuts", "tracking", "wrappers"}
"""Folders whose tests train no agent and translate no random formulas: together they take about a minute."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test is `fast` or `slow`, by its folder."""
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        item.add_marker(pytest.mark.fast if folder in FAST else pytest.mark.slow)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One for all tests: a process can drive only one at a time."""
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as driver:
        # Inside a container there is no sandbox to be had; the pages are our own.
        running = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()
