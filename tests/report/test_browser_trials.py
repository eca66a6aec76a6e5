"""A page about agents of many tasks, beside one of one task, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nrm.aliases import Json
from nrm.report import Page, build_report
from tests.report.opened import Open, needs_chromium
from tests.results.folders import many_run, run

pytestmark = needs_chromium
ASKED = "F(a & F b) & G !c"


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Page:
    root = tmp_path_factory.mktemp("mixed")
    for method in ("rm", "nrm", "rnn"):
        many_run(root / f"many-{method}", method)
    many_run(root / "blurred", "nrm", family=f"file:{_listed(root)}")
    run(root / "one", "nrm", 0)
    return build_report(root, formulas=4, tasks=[ASKED])


def _listed(root: Path) -> Path:
    (root / "tasks.txt").write_text("F a & F b\nF c\n")
    return root / "tasks.txt"


@pytest.fixture
def opened(browser: Any, mixed: Page, tmp_path: Path) -> Iterator[Open]:
    found = Open(browser, mixed.write(tmp_path / "index.html").as_uri())
    yield found
    assert found.trouble == []
    found.page.context.close()


def _trial(page: Page, task: str = "random tasks (reach)") -> Json:
    return next(page.data["trials"][group["trial"]] for group in page.data["groups"] if group["task"] == task)


def _choose(opened: Open, label: str, value: str) -> None:
    opened.page.locator("#closer-tools label", has_text=label).locator("select").select_option(value)


@pytest.mark.parametrize("width", [1400, 400])
def test_it_loads_cleanly_and_fits(browser: Any, mixed: Page, tmp_path: Path, width: int) -> None:
    found = Open(browser, mixed.write(tmp_path / "index.html").as_uri(), width, "dark")
    assert found.page.evaluate("document.documentElement.scrollWidth") <= width
    assert found.trouble == []
    found.page.context.close()


def test_many_tasks_and_one_have_tables_of_their_own(opened: Open) -> None:
    many, one = opened.page.locator("#table table").all()
    assert "Unseen formulas" in many.inner_text()
    assert "IQM" not in many.inner_text()
    assert many.locator("tbody tr").count() == 4
    assert one.locator("tbody tr").count() == 1
    assert "IQM" in one.inner_text()
    headings = [[cell.strip().lower() for cell in table.locator("th").all_inner_texts()] for table in (many, one)]
    assert ["task distribution" in names for names in headings] == [True, False]
    assert ["task" in names for names in headings] == [False, True]
    assert opened.page.locator("[data-filter=task] summary").inner_text() == "Task or distribution: all"
    assert opened.page.locator("#closer-tools label", has_text="Task or distribution").count() == 1
    assert "2 task distributions, 1 task" in opened.page.locator("#about").inner_text()
    labels = "charts => charts.map((chart) => [...chart.querySelectorAll('text')].at(-1).textContent)"
    assert opened.page.locator(".chart svg[role=img]").evaluate_all(labels) == ["steps", "steps", "episodes"]


def test_formulas_can_be_chosen_and_played(opened: Open, mixed: Page) -> None:
    page, trial = opened.page, _trial(mixed)
    _choose(opened, "Task", "random tasks (reach)")
    assert page.locator("#formula").inner_text().startswith(ASKED)
    assert "unseen" in page.locator("#formula .badge").inner_text()
    states = page.locator(".machine .state").count()
    assert states == trial["formulas"][0]["states"]
    other = trial["shown"][1]
    _choose(opened, "Formula", str(other))
    assert page.locator("#formula").inner_text().startswith(trial["formulas"][other]["formula"])
    page.get_by_role("button", name=ASKED, exact=True).click()
    assert page.locator("#formula").inner_text().startswith(ASKED)
    assert opened.texts("#player-tools select >> nth=0 >> option") == ["RM, seed 0", "NRM, seed 0", "RNN, seed 0"]


def test_the_player_shows_what_is_read_and_the_view(opened: Open) -> None:
    page = opened.page
    _choose(opened, "Task", "random tasks (reach)")
    page.locator("#player-tools select").first.select_option("1")
    page.locator(".player").focus()
    page.keyboard.press("Home")
    # At the beginning a helps and c loses; then b helps next.
    cells = "cells => cells.map((cell) => cell.className.replace('view-cell', '').trim())"
    shown = page.locator(".view-cell").evaluate_all(cells)
    assert shown == ["gain", "", "lost", "", "", "gain", "lost", ""]
    assert "2 steps to go" in page.locator(".sight").inner_text()
    page.get_by_label("Next step").click()
    assert "%" in page.locator(".reads").inner_text()
    assert opened.count(".beliefs:not(.reads) .track") == 4
    page.locator("#player-tools select").first.select_option("2")
    assert "is given at the start" in page.locator(".sight").inner_text()


def test_what_is_left_confusable_is_told(opened: Open) -> None:
    page = opened.page
    _choose(opened, "Task", "tasks in tasks.txt")
    assert "cannot separate {a, b}" in page.locator("#words").inner_text()
    assert opened.count("#words td.no") == 2
    assert page.locator("#formula .badge").inner_text() == "unseen"
    _choose(opened, "Formula", "1")
    assert page.locator("#formula .badge").inner_text() == "trained on"
    assert opened.count("#grounding tbody .badge") == 2
    _choose(opened, "Task", "visits")
    assert page.locator("#grounding-title").inner_text() == "The learned grounding"
    assert opened.count("#grounding canvas") == 2
    assert opened.count(".view") == 0


def test_symbols_over_time(opened: Open) -> None:
    _choose(opened, "Task", "random tasks (reach)")
    assert opened.count("#words .mini path.line") == 1
    assert "Symbols over time" in opened.page.locator("#words").inner_text()
