"""`nrm monitor`: follow a rule along recordings."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nrm.cli.monitoring import Followed, Show, followed, write_junit
from nrm.cli.options import JsonOption, MachineOptions
from nrm.errors import FileError, NrmWarning, suggestion
from nrm.machines import Monitor as RuleMonitor
from nrm.machines import TraceReader, alphabet_of, is_machine_file, monitor


@dataclass(frozen=True, kw_only=True)
class Monitor(MachineOptions, JsonOption):
    """Follow a rule along recordings, and print its verdict after each step.

    satisfied: it holds, whatever comes. holds: it holds now, and can still be violated. open: it does not hold yet.
    violated: it cannot be satisfied any more. Exit status 0: every recording satisfies the rule at its end, 1: some
    do not.

    The file has a step a line, JSON lines, or CSV with a header. Columns or keys: recording (or case) and symbol (or
    activity), or one column of 0 and 1 for each proposition. A JSON line can be a whole trace: ["a", ["b", "c"]].
    Lines are read as they come. Without --symbols or --propositions, names that the rule does not mention mean nothing.

    For example:
      nrm monitor "G(request -> F grant)" log.csv
      nrm monitor "response(request, grant)" traces.jsonl --show ends --junit report.xml
      tail -f events.log | nrm monitor "F a & G !b" -
    """

    arguments: ClassVar[tuple[str, ...]] = ("task", "file")
    file: str = "-"
    """The recordings; - for standard input."""
    show: Show = "steps"
    """What to print: every step, steps that change the verdict, or a line for each recording at its end."""
    junit: Path | None = None
    """A JUnit XML file to write, with a test case for each recording."""

    def run(self) -> int:
        """Follow the recordings. Ctrl-C ends them, and what was read counts."""
        rule = self._rule()
        out = Followed(self.show, self.json, _written(self.file == "-"), keep=self.junit is not None)
        reader = TraceReader(rule.alphabet, "standard input" if self.file == "-" else self.file)
        status = 0
        try:
            with _opened(self.file) as lines:
                for judged in followed(rule, reader, lines):
                    out.add(judged)
        except KeyboardInterrupt:
            status = 130
        out.close()
        if not out.recordings and not status:
            raise FileError(f"{reader.source} has no recordings; write at least one step below the header")
        sys.stdout.write(out.summary())
        if self.junit is not None:
            write_junit(self.junit, rule.rule.text, out.endings)
        _warn(rule, out, reader.names)
        return status or int(out.passed < out.recordings)

    def _rule(self) -> RuleMonitor:
        if self.task_text is not None and is_machine_file(self.task_text):
            return monitor(self.source().machine)
        task = self.resolve()
        if self.says_everything:
            return monitor(task, limits=self.limits)
        alphabet = alphabet_of(self.symbols, self.propositions)
        return monitor(task.formula, alphabet, logic=task.logic, limits=self.limits)


@contextmanager
def _opened(file: str) -> Iterator[Iterable[str]]:
    if file == "-":
        yield sys.stdin
        return
    try:
        handle = open(file, encoding="utf-8-sig", newline="")  # noqa: SIM115 - closed below
    except OSError as error:
        raise FileError(f"cannot read {file}: {error.strerror}") from None
    with handle:
        yield handle


def _written(at_once: bool) -> Callable[[str], object]:
    """How text is written: a line at once, where input comes as it happens."""
    if not at_once:
        return sys.stdout.write

    def write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    return write


def _warn(rule: RuleMonitor, out: Followed, names: set[str]) -> None:
    """Say what may not be what it seems: parts that never came due, and misspelt symbols."""
    for part, count in out.vacuous.items():
        where = "in all recordings" if count == out.recordings else f"in {count} of {out.recordings} recordings"
        warnings.warn(f"'{part}' holds vacuously {where}: what it asks for never came due", NrmWarning, stacklevel=2)
    known = rule.alphabet.places
    for name in known:
        near = suggestion(name, sorted(names - known.keys()))
        if rule.ignores_others and name not in names and near:
            warnings.warn(f"'{name}' of the rule occurs in no recording{near}", NrmWarning, stacklevel=2)
