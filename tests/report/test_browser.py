"""The page in a real browser: it loads cleanly, and what can be touched works."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nrm.agents import METHODS
from nrm.report import Page
from tests.report.conftest import NASTY
from tests.report.opened import Open, needs_chromium

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def address(page: Page, tmp_path_factory: pytest.TempPathFactory) -> str:
    return page.write(tmp_path_factory.mktemp("page") / "index.html").as_uri()


@pytest.fixture
def opened(browser: Any, address: str) -> Iterator[Open]:
    found = Open(browser, address)
    yield found
    assert found.trouble == []
    found.page.context.close()


@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_loads_cleanly_and_fits(browser: Any, address: str, width: int, scheme: str) -> None:
    found = Open(browser, address, width, scheme)
    assert found.page.evaluate("document.documentElement.scrollWidth") <= width
    ground = found.page.evaluate("getComputedStyle(document.body).backgroundColor")
    light = sum(int(part) for part in ground.removeprefix("rgb(").removesuffix(")").split(",")) > 3 * 128
    assert light == (scheme == "light")
    assert found.trouble == []
    found.page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_methods_have_their_own_colours_and_lines(browser: Any, address: str, scheme: str) -> None:
    found = Open(browser, address, scheme=scheme)
    for method in (METHODS[name] for name in ("rm", "nrm", "rnn")):
        line = found.page.locator(f'.mean[data-series="{method.label}"]').first
        colour = method.colour if scheme == "light" else method.dark
        red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
        assert line.evaluate("line => getComputedStyle(line).stroke") == f"rgb({red}, {green}, {blue})"
        assert line.get_attribute("stroke-dasharray") == " ".join(f"{2 * length:g}" for length in method.dash)
    found.page.context.close()


def test_texts_are_shown_as_they_are(opened: Open) -> None:
    assert opened.texts("h1") == [NASTY]
    assert NASTY in opened.texts("#table .link")
    assert opened.count("main img[src=x]") == 0


def test_the_table_has_every_group_and_sorts(opened: Open) -> None:
    assert opened.count("#table tbody tr") == 5
    opened.page.get_by_role("button", name="CPU s").click()
    shown = [float(text) for text in opened.texts("#table tbody td:last-child")]
    assert shown == sorted(shown, reverse=True)
    assert opened.page.locator('th[aria-sort="descending"]').count() == 1
    assert any("unfinished" in text for text in opened.texts("#table .badge"))


def test_charts_are_drawn_as_wide_as_they_are(opened: Open) -> None:
    widths = "charts => charts.map((chart) => [chart.viewBox.baseVal.width, chart.clientWidth])"
    for drawn, shown in opened.page.locator(".chart svg[role=img]").evaluate_all(widths):
        assert drawn == pytest.approx(shown, abs=2)


def test_a_return_that_never_changes_is_a_line(browser: Any, page: Page, tmp_path: Path) -> None:
    data = copy.deepcopy(page.data)
    for group in data["groups"]:
        for one in group["curves"]["runs"]:
            one["return"] = [100.0] * len(one["return"])
    found = Open(browser, replace(page, data=data).write(tmp_path / "index.html").as_uri())
    drawn = found.page.locator(".mean").first.evaluate("line => [line.outerHTML, line.getBBox().y]")
    assert "NaN" not in drawn[0]
    assert 0 <= drawn[1] < 100
    assert found.trouble == []
    found.page.context.close()


def test_hovering_shows_the_values(opened: Open) -> None:
    assert opened.count(".chart svg[role=img]") == 2
    assert not opened.page.locator(".tip").first.is_visible()
    chart = opened.page.locator(".chart svg[role=img]").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    opened.page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.5)
    tip = opened.page.locator(".tip:visible")
    assert "episode" in tip.inner_text()
    assert len(tip.locator("tr").all()) in (2, 3)
    inside = tip.bounding_box()
    assert box["y"] <= inside["y"] <= box["y"] + box["height"]
    assert inside["x"] > box["x"] + box["width"] * 0.6 or inside["x"] + inside["width"] < box["x"] + box["width"] * 0.6
    opened.page.mouse.move(2, 2)
    assert opened.page.locator(".tip:visible").count() == 0
    chart.focus()
    opened.page.keyboard.press("End")
    assert "40" in opened.page.locator(".tip:visible").inner_text()


def test_filters_remove_curves_and_rows(opened: Open) -> None:
    assert opened.count('.mean[data-series="RNN"]') == 1
    before = opened.count(".mean")
    opened.page.locator('.chip[data-method="rnn"]').click()
    assert opened.count('.mean[data-series="RNN"]') == 0
    assert opened.count(".mean") == before - 1
    assert opened.count("#table tbody tr") == 4
    opened.page.locator('[data-filter="task"] summary').click()
    opened.page.locator('[data-filter="task"] label', has_text="visits").locator("input").uncheck()
    assert opened.count(".chart svg[role=img]") == 1
    assert opened.count("#table tbody tr") == 2
    opened.page.get_by_role("button", name="None").click()
    assert opened.count(".chart svg[role=img]") == 0
    assert not opened.page.locator("#closer").is_visible()
    opened.page.get_by_role("button", name="All").click()
    assert opened.count(".chart svg[role=img]") == 2


def test_other_measures(opened: Open) -> None:
    for measure in ("success", "length", "modulo", "plain"):
        opened.page.get_by_label("Show").select_option(measure)
        lines = set(opened.page.locator(".mean").evaluate_all("lines => lines.map((line) => line.dataset.series)"))
        assert lines == ({"NRM"} if measure in ("modulo", "plain") else {"RM", "NRM", "RNN"})


def test_the_player_steps_by_key_and_slider(opened: Open) -> None:
    page = opened.page
    step = page.locator(".facts dd").first
    total = int(page.locator(".player input[type=range]").get_attribute("max"))
    assert page.locator(".facts dd").nth(4).inner_text() != "–"  # it opens at the first reward
    page.locator(".player").focus()
    page.keyboard.press("Home")
    assert step.inner_text() == f"0 of {total}"
    picture = "document.querySelector('.player canvas').toDataURL()"
    first = page.evaluate(picture)
    page.locator(".player").focus()
    page.keyboard.press("ArrowRight")
    assert step.inner_text().startswith(f"1 of {total}")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert step.inner_text().startswith("1 of")
    page.keyboard.press("End")
    assert step.inner_text().split()[:4] == [str(total), "of", str(total), "satisfied"]
    assert page.evaluate(picture) != first
    ticked = page.locator("#formula .ticked")
    assert set(ticked.all_inner_texts()) == {"pickaxe", "lava"}
    page.keyboard.press("Home")
    assert step.inner_text() == f"0 of {total}"
    assert ticked.count() == 0
    page.locator(".player input[type=range]").fill("2")
    assert step.inner_text().startswith("2 of")
    page.keyboard.press("Space")
    page.get_by_label("Pause").wait_for()
    page.locator(".facts dd", has_text="3 of").wait_for()
    page.get_by_label("Pause").click()
    page.get_by_label("Play", exact=True).wait_for()
    page.get_by_label("Next step").click()
    assert opened.count(".machine .state.current") == 1


def test_the_player_shows_every_method(opened: Open) -> None:
    page = opened.page
    run = page.locator("#player-tools select").first
    assert opened.texts("#player-tools select >> nth=0 >> option") == ["RM, seed 0", "NRM, seed 0", "RNN, seed 0"]
    for place, words in enumerate(
        ("none: RM is given the task and the true symbols", "%", "none: RNN is given neither")
    ):
        run.select_option(str(place))
        page.get_by_label("Next step").click()
        assert words in page.locator(".facts").inner_text()
        assert page.locator(".beliefs").count() == (0 if place == 2 else 1)
    page.get_by_label("Actions").select_option("greedy")
    total = page.locator(".player input[type=range]").get_attribute("max")
    assert page.locator(".facts dd").first.inner_text().split()[2] == total


def test_the_closer_look(opened: Open) -> None:
    page = opened.page
    assert page.locator("#formula").inner_text() == "F pickaxe & F lava"
    assert "symmetry" in page.locator("#words").inner_text()
    assert opened.count("#grounding canvas") == 2
    assert "16 cells" in page.locator("#grounding").inner_text() or opened.count("#grounding .legend li") > 1
    page.locator("#closer-tools select").select_option("visits")
    assert opened.texts("#player-tools select >> nth=0 >> option") == ["RM, seed 0", "NRM, seed 0"]
    assert "broken" in page.locator("#notes").inner_text()


def test_the_theme_can_be_chosen_and_is_kept(opened: Open) -> None:
    page = opened.page
    ground = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(ground)
    page.locator("#theme").click()
    after = page.evaluate(ground)
    assert after != before
    page.reload()
    assert page.evaluate(ground) == after
    page.locator("#theme").click()
    assert page.evaluate(ground) == before


def test_the_player_comes_first(opened: Open) -> None:
    tops = [opened.page.locator(part).bounding_box()["y"] for part in (".player", "#machine", "#summary", "#learning")]
    assert tops[0] < 500
    assert tops[0] - 200 < tops[1] < tops[2] < tops[3]


def test_no_band_around_few_runs(opened: Open) -> None:
    assert opened.count(".band") == 0
    assert opened.count(".line.thin") == 3 * 2  # two seeds of three methods; single runs are their own mean


def test_numbers_have_sensible_digits(opened: Open) -> None:
    potentials = opened.page.locator(".machine .state text").all_text_contents()
    shown = " ".join(potentials + opened.texts(".facts dd"))
    assert not re.search(r"\d{2}\.\d\d", shown)


def test_it_prints(opened: Open, tmp_path: Path) -> None:
    opened.page.pdf(path=tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").stat().st_size > 10_000


def test_charts_name_their_environment(opened: Open) -> None:
    names = opened.page.locator("#charts .badge").all_text_contents()
    assert names
    assert all(names)
