"""Take the pictures of the report that the documentation shows, with Debian's Chromium.

`make demo` first; then `python docs/make_report_pictures.py`.
"""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import tyro
from PIL import Image
from playwright.sync_api import sync_playwright


def main(page: Path = Path("out/demo/index.html"), out: Path = Path("docs/images")) -> None:
    """Open the page, use it a little, and take its pictures: results, and closer looks at many tasks and at one."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        shown = browser.new_page(viewport={"width": 1240, "height": 900}, color_scheme="light")
        shown.goto(page.resolve().as_uri())
        shown.wait_for_selector(".player")
        chart = shown.locator(".chart svg[role=img]").first.bounding_box()
        assert chart is not None
        shown.mouse.move(chart["x"] + 150, chart["y"] + 60)
        shown.wait_for_timeout(300)
        take(shown, "#summary", "#footer", out / "report.png")
        shown.mouse.move(2, 2)
        tasks = shown.locator("#closer-tools label", has_text="Task").locator("option").all_text_contents()
        for name, wanted in (("report-many", True), ("report-closer", False)):
            found = [task for task in tasks if task.startswith(("random tasks", "tasks in")) == wanted]
            if tasks and not found:
                continue
            if found:
                shown.locator("#closer-tools label", has_text="Task").locator("select").select_option(found[0])
            elif shown.locator(".view").count() != int(wanted):
                continue
            shown.locator(".player").focus()
            for _ in range(5):
                shown.keyboard.press("ArrowRight")
            shown.evaluate("document.activeElement.blur()")
            shown.wait_for_timeout(300)
            take(shown, "#closer", "#summary", out / f"{name}.png")
        browser.close()


def take(shown: Any, first: str, last: str, path: Path) -> None:
    """A picture from the top of one part of the page to the top of another."""
    shown.evaluate("scrollTo(0, 0)")
    whole = Image.open(io.BytesIO(shown.screenshot(full_page=True))).convert("RGB")
    top, bottom = (shown.locator(part).bounding_box() for part in (first, last))
    part = whole.crop((0, round(top["y"] - 8), whole.width, round(bottom["y"])))
    part.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    tyro.cli(main)
