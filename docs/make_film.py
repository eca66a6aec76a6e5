"""Film the report's player, for the README: `make demo`, then `python docs/make_film.py`.

The page is opened in Debian's Chromium, an episode is stepped through, and every step becomes a picture: the formula,
the player, and below it the machine with the present state lit.
"""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import tyro
from PIL import Image
from playwright.sync_api import sync_playwright

GAP, SCALE = 16, 2


def main(
    page: Path = Path("out/demo/index.html"), out: Path = Path("docs/images/player.gif"), width: int = 720
) -> None:
    """Step through the first formula that was never trained."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        shown = browser.new_page(
            viewport={"width": 1240, "height": 2800}, device_scale_factor=SCALE, color_scheme="light", bypass_csp=True
        )
        shown.goto(page.resolve().as_uri())
        shown.wait_for_selector(".player")
        shown.add_style_tag(
            content=".transport, .keys, .sight { display: none !important } .player { outline: none !important }"
            ".facts div:first-child { min-height: 4.25rem }"  # room for the last line, so that nothing jumps
            "#formula { background: white !important } #formula .text { font-size: 20px; display: inline-block }"
            "#machine { position: fixed; top: 2200px; left: 0; z-index: 9; overflow: visible !important; mask: none; }"
            "#machine, #machine svg { width: max-content; max-width: none !important; background: white }"
        )
        tasks = shown.locator("#closer-tools label", has_text="Task").locator("select")
        if tasks.count():
            tasks.first.select_option(index=0)
        shown.locator(".player").focus()
        shown.evaluate("window.scrollTo(0, 0)")
        steps = int(shown.locator(".player input[type=range]").get_attribute("max"))
        shown.keyboard.press("Home")
        frames = [frame(shown, width)]
        for _ in range(steps):
            shown.keyboard.press("ArrowRight")
            shown.wait_for_timeout(60)
            frames.append(frame(shown, width))
        browser.close()
    palette = frames[-1].quantize(128, dither=Image.Dither.NONE)
    reduced = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in frames]
    times = [1200, *([500] * (len(frames) - 2)), 3000]
    reduced[0].save(out, save_all=True, append_images=reduced[1:], duration=times, loop=0, optimize=True)


def frame(shown: Any, width: int) -> Image.Image:
    """One picture: the formula with its ticks, the player, and the machine."""
    formula, player, machine = (part(shown, name) for name in ("#formula .text", ".player", "#machine svg"))
    full = width - 2 * GAP
    rows = [scaled(formula, formula.width // SCALE), scaled(player, full), scaled(machine, full)]
    picture = Image.new("RGB", (width, sum(one.height + GAP for one in rows) + GAP), "white")
    top = GAP
    for one in rows:
        picture.paste(one, (GAP, top))
        top += one.height + GAP
    return picture


def part(shown: Any, selector: str) -> Image.Image:
    """A part of the page."""
    return Image.open(io.BytesIO(shown.locator(selector).first.screenshot())).convert("RGB")


def scaled(picture: Image.Image, width: int) -> Image.Image:
    """The picture at a width."""
    return picture.resize((width, round(picture.height * width / picture.width)), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    tyro.cli(main)
