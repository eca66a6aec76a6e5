"""Pages in a real browser."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed: the page is not tried in it")


class Open:
    """A page that is open, and all that went wrong on it."""

    def __init__(
        self,
        browser: Any,
        address: str,
        width: int = 1400,
        scheme: str = "light",
        ready: str = ".player",
        site: str = "",
    ) -> None:
        """`ready`: what the page shows once it is there; `site`: what it may ask, nothing for a page from disk."""
        self._mine = ("file:", "data:", *([site, "blob:"] if site else []))
        looks = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme, "reduced_motion": "reduce"}
        context = browser.new_context(offline=not site, **looks)
        self.page = context.new_page()
        self.trouble: list[str] = []
        self.page.on("console", lambda message: self.trouble.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("dialog", self._alerted)
        self.page.on("request", lambda request: self._asked(request.url))
        self.page.goto(address)
        self.page.wait_for_selector(ready)

    def _alerted(self, dialog: Any) -> None:
        self.trouble.append("a text ran as a program")
        dialog.dismiss()

    def _asked(self, url: str) -> None:
        if not url.startswith(self._mine):
            self.trouble.append(f"the page asked for {url}")

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.page.locator(selector).all_inner_texts()
        return found

    def count(self, selector: str) -> int:
        return int(self.page.locator(selector).count())
