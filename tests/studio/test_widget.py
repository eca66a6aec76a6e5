"""The player in notebooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nrm.errors import NrmError
from nrm.report import page_part
from nrm.runs import load_run
from nrm.studio import Player, player
from tests.report.opened import needs_chromium
from tests.studio.conftest import NASTY

MODEL = """
  window.values = %s;
  const keep = (name, value) => { values[name] = value; };
  const saved = () => { values.saved = true; };
  window.model = { get: (name) => values[name], set: keep, save_changes: saved, on: () => {}, off: () => {} };
"""


@pytest.fixture(scope="module")
def shown(root: Path) -> Player:
    return player(load_run(root / "many"), "F(a & F b)")


def test_a_formula_and_a_seed_play_another_episode(shown: Player) -> None:
    first = shown.page
    assert "F(a & F b)" in first
    shown.formula = "F zebra"
    assert "zebra" in shown.problem
    assert shown.page == first
    shown.formula = "F c"
    assert (shown.problem, shown.page == first) == ("", False)
    shown.formula = "F(a & F b)"
    assert shown.page == first
    shown.seed = 9
    assert shown.page != first


def test_an_agent_of_one_task_plays_it(root: Path) -> None:
    run = load_run(root / "deep" / NASTY)
    found = player(run)
    assert not found.many
    with pytest.raises(NrmError, match="one task"):
        player(run, "F gem")


@needs_chromium
def test_the_widget_shows_the_page_and_passes_on_what_is_typed(browser: Any, shown: Player, tmp_path: Path) -> None:
    values = {"formula": NASTY, "seed": 1, "many": True, "page": shown.page, "problem": NASTY}
    module = page_part("widget.js", "nrm.studio").replace("export default { render };", "window.render = render;")
    (tmp_path / "notebook.html").write_text("<!doctype html><meta charset=utf-8><div id=cell></div>")
    page = browser.new_page()
    page.on("dialog", lambda dialog: pytest.fail("a text ran as a program"))
    page.goto((tmp_path / "notebook.html").as_uri())
    page.add_script_tag(content=MODEL % json.dumps(values).replace("</", "<\\/") + module)
    page.evaluate("render({ model, el: document.getElementById('cell') })")
    page.frame_locator("iframe").locator(".player").wait_for()
    assert page.locator("pre").inner_text() == NASTY
    assert page.locator("img").count() == 0
    page.get_by_label("Formula").fill("F c")
    page.get_by_role("button", name="Watch").click()
    page.get_by_role("button", name="New layout").click()
    assert page.evaluate("[values.formula, values.seed, values.saved]") == ["F c", 2, True]
    assert page.locator("iframe").evaluate("frame => frame.clientHeight") > 300
    page.close()
