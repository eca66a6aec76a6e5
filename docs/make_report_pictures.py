"""Take the pictures of the report that the documentation shows, with Debian's Chromium.

`make demo` first; then `python docs/make_report_pictures.py`.
"""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import tyro
from PIL import Image
from playwright.sync_api import sync_playwright


def main(page: Path = Path("out/demo/index.html"), out: Path = Path("docs/images")) -> None:
    """Open the page, use it a little, and take two pictures."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        shown = browser.new_page(viewport={"width": 1240, "height": 900}, color_scheme="light")
        shown.goto(page.resolve().as_uri())
        shown.wait_for_selector(".player")
        shown.locator(".player").focus()
        for _ in range(5):
            shown.keyboard.press("ArrowRight")
        shown.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
        chart = shown.locator(".chart svg[role=img]").first.bounding_box()
        assert chart is not None
        shown.mouse.move(chart["x"] + 150, chart["y"] + 60)
        shown.wait_for_timeout(300)
        whole = Image.open(io.BytesIO(shown.screenshot(full_page=True))).convert("RGB")
        top = shown.locator("#closer").bounding_box()
        bottom = shown.locator("#footer").bounding_box()
        assert top is not None
        assert bottom is not None
        for name, begin, end in (("report", 0.0, top["y"]), ("report-closer", top["y"] - 8, bottom["y"])):
            part = whole.crop((0, round(begin), whole.width, round(end)))
            part.quantize(128, dither=Image.Dither.NONE).save(out / f"{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    tyro.cli(main)
