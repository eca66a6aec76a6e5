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
_MAX_LISTED = 10


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

    @property
    def said(self) -> str:
        """What holds at the step."""
        return self.step if isinstance(self.step, str) else "&".join(self.step) or "-"


class Ending(NamedTuple):
    """What became of a recording."""

    recording: str
    steps: int
    verdict: Verdict
    since: int
    """The step that led to the verdict."""
    symbols: str
    """What held at that step."""
    vacuous: tuple[str, ...]

    @property
    def reason(self) -> str:
        """What is wrong with it."""
        if self.verdict is Verdict.VIOLATED:
            return f"violated at step {self.since} ({self.symbols})"
        return f"{self.verdict} at its end, after {counted(self.steps, 'step')}"


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
class _Recording:
    """A recording so far."""

    now: Judged
    steps: int = 0
    since: int = 0
    symbols: str = ""

    @property
    def ending(self) -> Ending:
        name, _, verdict, monitor, *_ = self.now
        vacuous = () if monitor is None else monitor.vacuous
        return Ending(name, self.steps, verdict, self.since, self.symbols, vacuous)


@dataclass
class Followed:
    """Shows judged steps and counts recordings. What has ended is forgotten, but for a few that are listed."""

    show: Show
    json: bool
    write: Callable[[str], object]
    keep: bool = False
    """Whether all endings are kept."""
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    vacuous: Counter[str] = field(default_factory=Counter)
    endings: list[Ending] = field(default_factory=list)
    """All of them, or the first that do not satisfy the rule."""
    _running: dict[str, _Recording] = field(default_factory=dict)

    def add(self, judged: Judged) -> None:
        """Show a step, if it is to be shown."""
        one = self._running.get(judged.recording)
        before = None if one is None else one.now.verdict
        if one is None:
            one = self._running[judged.recording] = _Recording(judged)
        one.now = judged
        one.steps += 1
        changed = judged.verdict is not before
        if changed:
            one.since, one.symbols = one.steps, judged.said
        if self.show == "steps" or (changed and self.show == "changes"):
            self.write(_json_step(judged, one.steps) if self.json else _text_step(judged, one.steps))
        if judged.last:
            self._end(judged.recording)

    def close(self) -> None:
        """End what is running."""
        for name in list(self._running):
            self._end(name)

    def _end(self, name: str) -> None:
        ending = self._running.pop(name).ending
        self.verdicts[ending.verdict] += 1
        self.vacuous.update(ending.vacuous)
        if self.keep or (not ending.verdict.passed and len(self.endings) < _MAX_LISTED):
            self.endings.append(ending)
        if self.show == "ends":
            self.write(_json_line(ending._asdict()) if self.json else _text_ending(ending))

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
        failed = self.recordings - self.passed
        if self.json:
            counts = {verdict.value: self.verdicts[verdict] for verdict in Verdict}
            return _json_line({"recordings": self.recordings, "passed": self.passed, **counts, "vacuous": self.vacuous})
        listed = [ending for ending in self.endings if not ending.verdict.passed][:_MAX_LISTED]
        lines = [f"{counted(self.recordings, 'recording')}: {self.passed} passed, {failed} failed"]
        lines += [f"  {ending.recording or 'it'}: {ending.reason}" for ending in listed]
        return "\n".join([*lines, *([f"  and {failed - len(listed)} more"] if failed > len(listed) else []), ""])


def _text_step(judged: Judged, number: int) -> str:
    name = f"{judged.recording:<12} " if judged.recording else ""
    shares = ""
    if judged.shares is not None:
        shares = "".join(f"  {verdict} {share:.2f}" for verdict, share in judged.shares.items() if share >= 0.005)
    return f"{name}{number:>6}  {judged.said:<16} {judged.verdict.value:<9}{shares}".rstrip() + "\n"


def _json_step(judged: Judged, number: int) -> str:
    symbols = (judged.step,) if isinstance(judged.step, str) else judged.step
    line = {"recording": judged.recording, "step": number, "symbols": symbols, "verdict": judged.verdict}
    return _json_line(line if judged.shares is None else {**line, "probabilities": judged.shares})


def _text_ending(ending: Ending) -> str:
    name = f"{ending.recording:<12} " if ending.recording else ""
    vacuous = f"  (vacuously: {', '.join(ending.vacuous)})" if ending.vacuous else ""
    said = f"{ending.verdict}{vacuous}" if ending.verdict.passed else ending.reason
    return f"{name}{counted(ending.steps, 'step'):>10}  {said}\n"


def _json_line(values: Json) -> str:
    return msgspec.json.encode(values).decode() + "\n"


def _printable(name: str) -> str:
    """A name without what XML cannot hold."""
    return "".join(sign if sign.isprintable() else "?" for sign in name)


def write_junit(path: Path, rule: str, endings: Iterable[Ending]) -> None:
    """Write a JUnit file: the rule is a suite, and each recording a test case."""
    suite = ElementTree.Element("testsuite", name=rule)
    failures = 0
    for ending in endings:
        case = ElementTree.SubElement(
            suite, "testcase", classname=rule, name=_printable(ending.recording or "recording")
        )
        if not ending.verdict.passed:
            failures += 1
            ElementTree.SubElement(case, "failure", message=ending.reason, type=ending.verdict.value)
        elif ending.vacuous:
            ElementTree.SubElement(case, "system-out").text = f"holds vacuously: {', '.join(ending.vacuous)}"
    suite.attrib |= {"tests": str(len(suite)), "failures": str(failures), "errors": "0"}
    write_bytes(path, ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True) + b"\n")
