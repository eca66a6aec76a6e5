"""Take the pictures of the studio that the documentation shows, and record the page that it embeds.

python docs/make_studio.py            # both, from the pretrained agents and the runs below --runs
python docs/make_studio.py --no-page  # pictures only
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import tyro
from PIL import Image
from playwright.sync_api import sync_playwright

ROOMS = {
    "task": ("#words p", {"text": "F(a & F b) & G !c", "names": "a,b,c,d", "one": "1", "steps": "d,a"}),
    "watch": (".player", {"agent": "letter", "text": "F(a & F b) & G !c", "seed": "1"}),
    "runs": ("#runs table", {}),
}


def main(runs: Path = Path("out/demo"), out: Path = Path("docs/images"), page: bool = True) -> None:
    """Serve the studio, use it a little, and take its pictures: each room wide, and one of each narrow and dark."""
    if page:
        from nrm.studio import recorded_page

        text = recorded_page(("letter", "layouts"), 20)
        Path("docs/_static/watch.html").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "nrm", "studio", str(runs), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as driver:
        assert server.stdout is not None
        address = server.stdout.readline().rpartition(" ")[2].strip()
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for name in ROOMS:
            for width, scheme in ((1240, "light"), (1240, "dark"), (400, "light"), (400, "dark")):
                picture = _taken(browser, address, name, width, scheme)
                ending = "" if (width, scheme) == (1240, "light") else f"-{width}-{scheme}"
                where = out if not ending else Path("out/studio")
                where.mkdir(parents=True, exist_ok=True)
                picture.quantize(128).save(where / f"studio-{name}{ending}.png", optimize=True)
        server.terminate()


def _taken(browser: Any, address: str, name: str, width: int, scheme: str) -> Image.Image:
    ready, choices = ROOMS[name]
    size = {"width": width, "height": 900}
    shown = browser.new_page(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    shown.goto(f"{address}#{urlencode({'room': name, **choices})}")
    shown.wait_for_selector(ready, timeout=120_000)
    if name == "watch":
        shown.locator(".player").focus()
        for _ in range(3):
            shown.keyboard.press("ArrowRight")
        shown.get_by_role("button", name="Success").click()
        shown.get_by_text("of 100 episodes").wait_for()
    shown.wait_for_timeout(800)
    shown.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    picture = Image.open(io.BytesIO(shown.screenshot(full_page=True)))
    shown.close()
    return picture


if __name__ == "__main__":
    tyro.cli(main)
