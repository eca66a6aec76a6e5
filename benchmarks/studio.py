"""The studio in a real browser: from a key press to the machine that it gives, and memory over 1,000 formulas.

    python -m benchmarks.studio

Times are by the clock, of Chromium and the server on one machine: other work counts, so the median is printed beside
the shortest. `work` is what compiling and laying out take, in CPU time.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro
from playwright.sync_api import sync_playwright

from benchmarks.common import report, timed
from nrm.logic import PAPER_SYMBOLS, PAPER_TASKS
from nrm.studio import tasks
from nrm.studio.questions import Home, Typed

TIMED = """(text) => new Promise((done) => {
  const input = document.getElementById("text"), machine = document.getElementById("machine");
  const began = performance.now();
  const watcher = new MutationObserver(() => {
    watcher.disconnect();
    requestAnimationFrame(() => done(performance.now() - began));
  });
  watcher.observe(machine, { childList: true });
  input.value = text;
  input.dispatchEvent(new Event("input", { bubbles: true }));
})"""
"""Types a text, and gives the milliseconds until its machine is on the screen."""


@dataclass(frozen=True)
class Config:
    """Measure the studio."""

    out: Path = Path("out/bench")
    """Where the tables go."""
    formulas: int = 1000
    """Formulas that are typed one after the other."""
    repeats: int = 7
    """How often each task of the paper is typed."""


@contextmanager
def studio(folder: Path) -> Iterator[tuple[str, int]]:
    """A studio that listens: its address and its process."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "nrm", "studio", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().rpartition(" ")[2].strip(), process.pid
        finally:
            process.terminate()


def memory(process: int) -> float:
    """Megabytes of a process and of all that it started."""
    found = 0.0
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = int(re.search(r"\) \w (\d+)", (path / "stat").read_text())[1])  # type: ignore[index]
            pages = int((path / "statm").read_text().split()[1])
        except (OSError, TypeError):
            continue
        if process in (int(path.name), parent):
            found += pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    return found


def key_press(page: Any, repeats: int) -> list[dict[str, Any]]:
    """From key press to machine, for the paper's tasks; every other time another one is typed in between."""
    rows = []
    for task in PAPER_TASKS:
        times = []
        for _ in range(repeats):
            page.evaluate(TIMED, "F z9")
            page.wait_for_timeout(600)
            times.append(page.evaluate(TIMED, task.pattern))
            page.wait_for_timeout(600)

        def work(text: str = task.pattern) -> Any:
            tasks._compiled.cache_clear()
            return tasks.draw(Home("."), Typed(text, names=",".join([*PAPER_SYMBOLS, "z9"]), one=True))

        work()  # loads what it needs
        _, seconds = timed(work)
        spread = {"median_ms": statistics.median(times), "least_ms": min(times), "worst_ms": max(times)}
        rows.append({"task": task.pattern, **spread, "work_ms": 1000 * seconds})
    return rows


def typed(page: Any, process: int, formulas: int) -> list[dict[str, Any]]:
    """Memory while so many different formulas are typed."""
    rows = []
    for number in range(formulas + 1):
        if number % (formulas // 5) == 0:
            page.wait_for_timeout(500)
            heap = page.evaluate("performance.memory.usedJSHeapSize / 1e6")
            nodes = page.evaluate("document.querySelectorAll('*').length")
            rows.append({"formulas": number, "server_mb": memory(process), "page_mb": heap, "elements": nodes})
        names = [f"s{(number * 7 + place) % 997}" for place in range(1 + number % 4)]
        page.evaluate(TIMED, " & ".join(f"F {name}" for name in names))
    return rows


def _table(title: str, rows: list[dict[str, Any]], out: Path, name: str) -> None:
    report(title, list(rows[0]), [list(row.values()) for row in rows], out, name)


def main(config: Config) -> None:
    """Open the page, type, and print what it took."""
    began = time.monotonic()
    with studio(config.out / "studio-runs") as (address, process), sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info", "--js-flags=--expose-gc"],
        )
        page = browser.new_page()
        names = "%2C".join([*PAPER_SYMBOLS, "z9"])
        page.goto(f"{address}#room=task&text=F+a&names={names}&one=1")
        page.locator("#words p").first.wait_for()
        page.wait_for_timeout(15_000)  # the first questions load what the others need
        _table("From key press to machine", key_press(page, config.repeats), config.out, "studio-keys")
        page.goto("about:blank")
        page.goto(f"{address}#room=task&text=F+a&names=&one=0")
        page.locator("#words p").first.wait_for()
        rows = typed(page, process, config.formulas)
        _table(f"{config.formulas:,} formulas typed in a row", rows, config.out, "studio-memory")
        browser.close()
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main(tyro.cli(Config))
