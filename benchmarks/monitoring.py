"""Events per second of `nrm monitor` on traces, beside a loop that only parses the same lines.

Verdicts are printed to nowhere; the ratio says what following the rule and writing lines costs beside reading.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import nrm
from benchmarks.common import report
from nrm.cli.monitoring import Followed, Show, followed
from nrm.machines import TraceReader

RULES = {
    "response": "G(request -> F grant)",
    "6 responses": " & ".join(f"response(request, e{number})" for number in range(6)),
}
OUTPUTS: dict[str, tuple[Show, bool]] = {"steps": ("steps", False), "JSON": ("steps", True), "ends": ("ends", False)}
SYMBOLS = ["request", "grant", *(f"e{number}" for number in range(20))]
FORMS: dict[str, Callable[[str, str], str]] = {
    "CSV": lambda recording, symbol: f"{recording},{symbol}\n",
    "JSON lines": lambda recording, symbol: json.dumps({"recording": recording, "symbol": symbol}) + "\n",
}


def lines_of(form: str, recordings: int, steps: int) -> list[str]:
    """A log in one of the forms."""
    chosen = random.Random(0)
    pairs = ((f"r{number}", chosen.choice(SYMBOLS)) for number in range(recordings) for _ in range(steps))
    lines = [FORMS[form](*pair) for pair in pairs]
    return ["recording,symbol\n", *lines] if form == "CSV" else lines


def parsed(form: str, lines: Iterable[str]) -> None:
    """Only read."""
    for _ in csv.reader(lines) if form == "CSV" else map(json.loads, lines):
        pass


def monitored(rule: str, lines: Iterable[str], show: Show, as_json: bool) -> None:
    """Read, follow the rule, and write."""
    start = nrm.monitor(rule)
    with open("/dev/null", "w") as nowhere:
        out = Followed(show, as_json, nowhere.write)
        for judged in followed(start, TraceReader(start.machine.alphabet, "log"), lines):
            out.add(judged)
        out.close()


def seconds(work: Callable[[], None], rounds: int = 3) -> float:
    """The least processor time of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        before = time.process_time()
        work()
        best = min(best, time.process_time() - before)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    parser.add_argument("--recordings", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=100)
    given = parser.parse_args()
    rows = []
    for form in FORMS:
        lines = lines_of(form, given.recordings, given.steps)
        alone = seconds(partial(parsed, form, lines))
        for name, rule in RULES.items():
            for written, (show, as_json) in OUTPUTS.items():
                took = seconds(partial(monitored, rule, lines, show, as_json))
                rows.append([f"{form}, {name}, {written}", len(lines) / took, len(lines) / alone, took / alone])
    headings = ["log, rule and output", "events/s", "events/s, parsing alone", "ratio of times"]
    report("Monitoring traces", headings, rows, given.out, "monitoring")


if __name__ == "__main__":
    main()
