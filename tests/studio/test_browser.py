"""The three rooms in a real browser, with texts that would rather be programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from nrm.runs import load_run
from nrm.studio import Studio, recorded_page
from tests.report.opened import Open, needs_chromium
from tests.studio.conftest import NASTY

pytestmark = needs_chromium
Opener = Callable[..., Open]


@pytest.fixture
def room(browser: Any, live: Studio) -> Iterator[Opener]:
    found: list[Open] = []

    def opened(ready: str, width: int = 1400, scheme: str = "light", **choices: Any) -> Open:
        address = f"{live.address}#{urlencode(choices)}"
        found.append(Open(browser, address, width, scheme, ready, live.origin))
        return found[-1]

    yield opened
    for one in found:
        assert [line for line in one.trouble if "422" not in line] == []
        one.page.context.close()


def until(opened: Open, condition: str) -> None:
    """Wait until an expression holds; the page's policy forbids the waiting of Playwright's own."""
    for _ in range(600):
        if opened.page.evaluate(condition):
            return
        opened.page.wait_for_timeout(20)
    raise AssertionError(f"{condition}; problem: {opened.texts('#problem')}")


def states(opened: Open, number: int) -> None:
    until(opened, f"document.querySelectorAll('#machine .state').length === {number}")


def test_a_formula_is_drawn_as_it_is_typed(room: Opener) -> None:
    opened = room("#words p", names="", one="0")
    page = opened.page
    for formula, number in (("F a", 2), ("F a & F b", 4), ("G !a", 2)):
        page.fill("#text", formula)
        states(opened, number)
    page.fill("#text", "F (a &")
    page.wait_for_selector("#problem:visible")
    assert page.locator("#problem").inner_text().splitlines()[1:] == ["  F (a &", "        ^"]
    page.fill("#text", " | ".join(f"(x{i} U y{i})" for i in range(12)))
    until(opened, "document.getElementById('problem').textContent.includes('too long')")
    page.get_by_label("Tasks of the paper").select_option("visit(a, b)")
    states(opened, 4)
    page.get_by_role("button", name="<(!c)*; a; (!c)*; b>tt").click()
    until(opened, "document.getElementById('formula').textContent.includes('LDLf')")
    assert not page.locator("#problem").is_visible()


def test_clicks_on_symbols_step_and_the_link_holds_all_of_it(room: Opener) -> None:
    opened = room("#words p", text="F a & G !b", names="", one="0")
    page = opened.page
    page.locator("#walk-symbols button", has_text="a").click()
    page.locator("#walk-symbols .primary").click()
    until(opened, "document.getElementById('walk').textContent.includes('satisfied')")
    page.locator("#walk-symbols .primary").focus()
    page.locator("#walk-symbols button", has_text="b").click()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    until(opened, "document.querySelector('#walk b').textContent === 'violated'")
    assert opened.texts("#walk tbody td:nth-child(4)") == ["−200", "+100"]
    assert page.locator(".state.current").get_attribute("data-state") == "2"
    link = page.evaluate("location.href")
    page.goto("about:blank")
    page.goto(link)
    until(opened, "document.querySelectorAll('#walk tbody tr').length === 2")
    page.get_by_role("button", name="Undo").click()
    until(opened, "document.querySelectorAll('#walk tbody tr').length === 1")


def test_hostile_texts_stay_texts(room: Opener) -> None:
    opened = room("#words p", text=f'F "{NASTY}"', names="", one="0")
    page = opened.page
    page.fill("#text", NASTY)
    page.wait_for_selector("#problem:visible")
    assert NASTY in page.locator("#problem").inner_text()
    page.locator("#asked-tools input[type=text]").fill(f"a {NASTY}")
    page.fill("#text", "F a")
    page.wait_for_timeout(300)
    link = page.evaluate("location.href")
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector("#walk-symbols button")
    assert "<img" in opened.texts("#walk-symbols button")
    assert opened.count("main img") == 0


def test_an_agent_is_watched(room: Opener) -> None:
    opened = room(".player", room="watch", agent="./many", text="F(a & F b)")
    page = opened.page
    states(opened, 3)
    assert page.locator("#formula").inner_text().startswith("F(a & F b)")
    page.locator(".player").focus()
    page.keyboard.press("End")
    assert page.locator(".facts dd").first.inner_text()[0] != "0"
    page.get_by_role("button", name="Success over 100 episodes").click()
    until(opened, "document.getElementById('note').textContent.includes('of 100 episodes')")
    with page.expect_download() as film:
        page.get_by_role("button", name="Film").click()
    assert Path(film.value.path()).read_bytes()[:6] == b"GIF89a"
    page.fill("#text", "F zebra")
    page.keyboard.press("Enter")
    page.wait_for_selector("#problem:visible")
    assert "zebra" in page.locator("#problem").inner_text()
    page.locator("#agent select").select_option("./damaged")
    until(opened, "document.getElementById('problem').textContent.includes('config.json')")
    page.locator("#agent select").select_option(f"./deep/{NASTY}")
    until(opened, "document.getElementById('text').disabled")
    until(opened, "document.getElementById('formula').textContent.includes('pickaxe')")
    assert opened.count("#room img[src=x]") == 0


def test_runs_are_followed(room: Opener) -> None:
    opened = room("#runs table", room="runs")
    page = opened.page
    assert len(opened.texts("#runs tbody tr")) == 3
    assert NASTY in page.locator("#runs").inner_text()
    assert "config.json" in page.locator("#runs tbody tr", has_text="damaged").inner_text()
    assert opened.count("#charts .chart") == 2
    assert opened.count("#running img") == 0
    page.locator("#begin summary").click()
    page.locator("#begin-form input").first.fill("many")
    page.get_by_role("button", name="Train").click()
    page.wait_for_selector("#runs-problem:visible")
    assert "many" in page.locator("#runs-problem").inner_text()
    page.get_by_role("button", name="Watch many").click()
    page.wait_for_selector(".player")
    assert page.locator("#tab-watch").get_attribute("aria-selected") == "true"
    page.locator("#tab-watch").focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator("#tab-task").get_attribute("aria-selected") == "true"


@pytest.mark.parametrize(("name", "ready"), [("task", "#words p"), ("watch", ".player"), ("runs", "#runs table")])
def test_rooms_fit_narrow_screens(room: Opener, name: str, ready: str) -> None:
    opened = room(ready, 400, "dark", room=name, agent="./many")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 400


def test_two_browsers_and_many_formulas(room: Opener) -> None:
    one, other = (room("#words p", names="", one="0") for _ in range(2))
    nodes = "document.querySelectorAll('*').length"
    before = one.page.evaluate(nodes)
    for number in range(12):
        one.page.fill("#text", " & ".join(f"F s{place}" for place in range(1 + number % 3)))
        other.page.fill("#text", f"F a & G !b{number}")
    one.page.fill("#text", "F(a & F b) & G !c")
    states(one, 4)
    states(other, 3)
    one.page.wait_for_timeout(300)
    assert one.page.evaluate(nodes) <= before + 20


def test_a_recorded_page_needs_no_server(browser: Any, root: Path, tmp_path: Path) -> None:
    run = load_run(root / "many")
    (tmp_path / "page.html").write_text(recorded_page({"many": run}, ["F a", "F(a & F b)"], tested=4))
    opened = Open(browser, (tmp_path / "page.html").as_uri())
    opened.page.locator("#formulas select").select_option("F(a & F b)")
    states(opened, 3)
    opened.page.get_by_role("button", name="Success").click()
    until(opened, "document.getElementById('note').textContent.includes('of 4 episodes')")
    assert opened.trouble == []
    opened.page.context.close()
