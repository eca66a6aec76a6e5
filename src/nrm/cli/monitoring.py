"""What `nrm monitor` does with recordings: follow them, print verdicts, count, and write a JUnit file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple
from xml.etree import ElementTree

import msgspec

from nrm.aliases import Json, Step
from nrm.errors import FileError, NrmError, counted
from nrm.files import write_bytes
from nrm.machines import Monitor, TraceReader, Verdict

Show = Literal["steps", "changes", "ends"]


class Judged(NamedTuple):
    """A step of a recording, and the rule's verdict after it."""

    recording: str
    step: Step
    verdict: Verdict
    monitor: Monitor | None = None
    """Where the rule stands, if symbols are known."""
    shares: Mapping[Verdict, float] | None = None
    """The probability of each verdict, if symbols are read from observations."""
    last: bool = False
    """Whether the recording is known to end here."""


def followed(start: Monitor, reader: TraceReader, lines: Iterable[str]) -> Iterator[Judged]:
    """The verdicts along traces of symbols, as their lines come."""
    running: dict[str, Monitor] = {}
    for name, steps, whole, line in reader.read(lines):
        now = running.get(name, start)
        ends = len(steps) if whole else 0
        for number, step in enumerate(steps, 1):
            try:
                now = now.step(step)
            except NrmError as error:
                raise FileError(f"{reader.source}, line {line}: {error}") from None
            yield Judged(name, step, now.verdict, now, None, number == ends)
        if whole:
            running.pop(name, None)
        else:
            running[name] = now


@dataclass(slots=True)
class Recording:
    """What became of a recording so far."""

    name: str
    now: Judged
    steps: int = 0
    since: int = 0
    """The step that led to the verdict."""
    symbols: str = ""
    """What held at that step."""

    @property
    def verdict(self) -> Verdict:
        """The verdict after the last step."""
        return self.now.verdict

    @property
    def vacuous(self) -> tuple[str, ...]:
        """The parts of the rule that hold vacuously."""
        return () if self.now.monitor is None else self.now.monitor.vacuous

    @property
    def reason(self) -> str:
        """What is wrong with it, if it ends here."""
        if self.verdict is Verdict.VIOLATED:
            return f"violated at step {self.since} ({self.symbols})"
        return f"{self.verdict} at its end, after {counted(self.steps, 'step')}"

    def line(self, as_json: bool) -> str:
        """The recording as it is printed when it ends."""
        if as_json:
            names = ("steps", "verdict", "since", "symbols", "vacuous")
            return _json_line({"recording": self.name, **{name: getattr(self, name) for name in names}})
        vacuous = f"  (vacuously: {', '.join(self.vacuous)})" if self.vacuous else ""
        said = f"{self.verdict}{vacuous}" if self.verdict.passed else self.reason
        return f"{_name(self.name)}{counted(self.steps, 'step'):>10}  {said}\n"


@dataclass
class Followed:
    """Shows judged steps and counts recordings. What has ended is forgotten, but for a few that are listed."""

    show: Show
    json: bool
    write: Callable[[str], object]
    keep: bool = False
    """Whether all recordings are kept, or the first ten that do not satisfy the rule."""
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    vacuous: Counter[str] = field(default_factory=Counter)
    ended: list[Recording] = field(default_factory=list)
    _running: dict[str, Recording] = field(default_factory=dict)

    def add(self, judged: Judged) -> None:
        """Show a step, if it is to be shown."""
        one = self._running.get(judged.recording)
        changed = one is None or one.verdict is not judged.verdict
        if one is None:
            one = self._running[judged.recording] = Recording(judged.recording, judged)
        one.now = judged
        one.steps += 1
        if changed:
            one.since, one.symbols = one.steps, _symbols(judged.step)
        if self.show == "steps" or (changed and self.show == "changes"):
            self.write((_json_step if self.json else _text_step)(judged, one.steps))
        if judged.last:
            self._end(judged.recording)

    def close(self) -> None:
        """End what is running."""
        for name in list(self._running):
            self._end(name)

    def _end(self, name: str) -> None:
        one = self._running.pop(name)
        self.verdicts[one.verdict] += 1
        self.vacuous.update(one.vacuous)
        if self.keep or (not one.verdict.passed and len(self.ended) < 10):
            self.ended.append(one)
        if self.show == "ends":
            self.write(one.line(self.json))

    @property
    def recordings(self) -> int:
        """How many have ended."""
        return sum(self.verdicts.values())

    @property
    def passed(self) -> int:
        """How many of them satisfy the rule."""
        return sum(count for verdict, count in self.verdicts.items() if verdict.passed)

    def summary(self) -> str:
        """What came of all recordings."""
        if self.json:
            counts = {verdict.value: self.verdicts[verdict] for verdict in Verdict}
            return _json_line({"recordings": self.recordings, "passed": self.passed, **counts, "vacuous": self.vacuous})
        failed = self.recordings - self.passed
        first = [one for one in self.ended if not one.verdict.passed][:10]
        lines = [f"{counted(self.recordings, 'recording')}: {self.passed} passed, {failed} failed"]
        lines += [f"  {one.name or 'it'}: {one.reason}" for one in first]
        lines += [f"  and {failed - len(first)} more"] if failed > len(first) else []
        return "\n".join([*lines, ""])


def _text_step(judged: Judged, number: int) -> str:
    shares = "".join(f"  {verdict} {share:.2f}" for verdict, share in (judged.shares or {}).items() if share >= 0.005)
    line = f"{_name(judged.recording)}{number:>6}  {_symbols(judged.step):<16} {judged.verdict.value:<9}{shares}"
    return f"{line.rstrip()}\n"


def _json_step(judged: Judged, number: int) -> str:
    symbols = (judged.step,) if isinstance(judged.step, str) else judged.step
    line = {"recording": judged.recording, "step": number, "symbols": symbols, "verdict": judged.verdict}
    return _json_line(line if judged.shares is None else {**line, "probabilities": judged.shares})


def _symbols(step: Step) -> str:
    return step if isinstance(step, str) else "&".join(step) or "-"


def _name(recording: str) -> str:
    return f"{recording:<12} " if recording else ""


def _json_line(values: Json) -> str:
    return msgspec.json.encode(values).decode() + "\n"


def write_junit(path: Path, rule: str, recordings: Iterable[Recording]) -> None:
    """Write a JUnit file: the rule is a suite, and each recording a test case."""
    suite = ElementTree.Element("testsuite", name=rule)
    for one in recordings:
        # XML cannot hold every character.
        name = "".join(sign if sign.isprintable() else "?" for sign in one.name or "recording")
        case = ElementTree.SubElement(suite, "testcase", classname=rule, name=name)
        if not one.verdict.passed:
            ElementTree.SubElement(case, "failure", message=one.reason, type=one.verdict.value)
        elif one.vacuous:
            ElementTree.SubElement(case, "system-out").text = f"holds vacuously: {', '.join(one.vacuous)}"
    failures = len(suite.findall("*/failure"))
    suite.attrib |= {"tests": str(len(suite)), "failures": str(failures), "errors": "0"}
    write_bytes(path, ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True) + b"\n")
