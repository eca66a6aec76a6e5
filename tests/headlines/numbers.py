"""Numbers of a text, and whether results files have them.

A number is found in a results file when a value of its summary, of its seeds or of its number of rows equals it at the
precision that is printed: 99.9 % stands for 0.9991, 2,400 for 2,413.7, and 15 million for 15,000,000.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.results import RESULTS

from nrm.files import read_json

REFERENCE = re.compile(r"benchmarks/results/([\w-]+)\.json")
# Code, images, targets of links, comments: no claims.
SILENT = re.compile(r"`[^`]*`|!\[[^]]*\]\([^)]*\)|\]\([^)]*\)|<!--.*?-->", re.DOTALL)
# Not within names such as 4x4, S5 or DoorKey-5x5, nor a part of another number.
NUMBER = re.compile(r"(?<![\w.,-])(-?\d[\d,]*(?:\.\d+)?)(?![\w]|[.,]\d)(\s*%|\s*million)?")
# The unit of a range stands behind its second number.
RANGE = re.compile(r"(\d) to (-?\d[\d,.]*)(\s*%|\s*million)")
SCALES = {"%": 0.01, "million": 1e6, "": 1.0}
COARSE = 1000
"""From here on zeros at the end of a number are digits that were rounded away."""


class Printed(NamedTuple):
    """A number as it is printed."""

    text: str
    value: float
    error: float
    """How far from it the true value may lie."""

    def stands_for(self, value: float) -> bool:
        """Whether the value is printed so."""
        return abs(value - self.value) <= self.error * (1 + 1e-6) + 1e-12


def printed(text: str) -> Iterator[Printed]:
    """The numbers that a text claims."""
    for digits, unit in NUMBER.findall(RANGE.sub(r"\1\3 to \2\3", SILENT.sub(" ", text))):
        scale = SCALES[unit.strip()]
        plain = digits.replace(",", "").rstrip(".")
        decimals = len(plain.partition(".")[2])
        zeros = len(plain) - len(plain.rstrip("0")) if not decimals and abs(float(plain)) >= COARSE else 0
        yield Printed(digits + unit, float(plain) * scale, 0.5 * scale * 10.0 ** (zeros - decimals))


def values(data: Any) -> Iterator[float]:
    """All numbers within some data, those in the names of groups included."""
    if isinstance(data, Mapping):
        for name, value in data.items():
            yield from (one.value for one in printed(name))
            yield from values(value)
    elif isinstance(data, list):
        for value in data:
            yield from values(value)
    elif isinstance(data, (int, float)):
        yield float(data)


def claimable(name: str, folder: Path = RESULTS) -> list[float]:
    """What a text may claim of a results file."""
    data = read_json(folder / f"{name}.json")
    return [*values(data["summary"]), *map(float, data["seeds"]), len(data["seeds"]), len(data["rows"])]


def unfounded(text: str, files: set[str], folder: Path = RESULTS) -> list[str]:
    """The numbers of a text that are in none of the results files."""
    known = [value for name in sorted(files) for value in claimable(name, folder)]
    return [one.text for one in printed(text) if not any(map(one.stands_for, known))]
