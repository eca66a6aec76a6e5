"""`nrm monitor`: follow a rule along recordings."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nrm.cli.arguments import UsageError
from nrm.cli.monitoring import Followed, Judged, Show, followed, write_junit
from nrm.cli.options import FileArgument, JsonOption, MachineOptions, OutOption
from nrm.errors import FileError, NrmWarning, escaped, suggestion
from nrm.files import read_lines
from nrm.logic import DEFAULT_LOGIC
from nrm.machines import Monitor as RuleMonitor
from nrm.machines import TraceReader, alphabet_of, is_machine_file, monitor


@dataclass(frozen=True, kw_only=True)
class Monitor(FileArgument, MachineOptions, JsonOption, OutOption):
    """Follow a rule along recordings, and print its verdict after each step.

    satisfied: it holds, whatever comes. holds: it holds now, and can still be violated. open: it does not hold yet.
    violated: it cannot be satisfied any more. Exit status 0: every recording satisfies the rule at its end, 1: some
    do not.

    The file has a step a line, JSON lines, or CSV with a header. Columns or keys: recording (or case) and symbol (or
    activity), or one column of 0 and 1 for each proposition. A JSON line can be a whole trace: ["a", ["b", "c"]].
    Lines are read as they come. Without --symbols or --propositions, names that are not in the rule mean nothing.

    --out FILE.xml writes a JUnit file, with a test case for each recording.

    The folder of nrm fit, or the file of a detector, takes the place of the rule. Then the file has observations (.npz,
    .csv, .parquet, or CSV on standard input), and each verdict has a probability.

    For example:
      nrm monitor "G(request -> F grant)" log.csv
      nrm monitor "response(request, grant)" traces.jsonl --show ends --out report.xml
      nrm monitor out/fit sessions.csv --show ends
      tail -f events.log | nrm monitor "F a & G !b" -
    """

    arguments: ClassVar[tuple[str, ...]] = ("task", "file")
    usual: ClassVar = {**MachineOptions.usual, "file": "-"}
    show: Show = "steps"
    """What to print: every step, steps that change the verdict, or a line for each recording at its end."""

    def run(self) -> int:
        """Follow the recordings. Ctrl-C ends them, and what was read counts."""
        out = Followed(self.show, self.json, _written(self.file == "-"), keep=self.out is not None)
        folder_or_file = Path(self.task or "")
        if folder_or_file.suffix in (".csv", ".jsonl", ".npz", ".parquet"):
            raise UsageError(
                f"{self.task} has recordings, not a rule; write the rule first: nrm monitor RULE {self.task}"
            )
        by_model = self.task is not None and (folder_or_file.suffix == ".pt" or os.path.isdir(folder_or_file))
        judged = self._by_model(folder_or_file) if by_model else self._by_rule()
        status = 0
        try:
            for step in judged:
                out.add(step)
        except KeyboardInterrupt:
            status = 130
        out.close()
        if not out.recordings and not status:
            raise FileError(f"{self._source} has no recordings; write at least one step below the header")
        sys.stdout.write(escaped(out.summary()))
        if self.out is not None:
            write_junit(self.out, str(self.task), out.ended)
        for part, count in out.vacuous.items():
            where = "all" if count == out.recordings else f"{count} of {out.recordings}"
            said = f"'{part}' holds vacuously in {where} recordings: what it asks for never came due"
            warnings.warn(said, NrmWarning, stacklevel=2)
        return status or int(out.passed < out.recordings)

    @property
    def _source(self) -> str:
        return "standard input" if self.file == "-" else self.file

    def _by_rule(self) -> Iterator[Judged]:
        """Follow traces of symbols; in the end, symbols of the rule that are probably misspelt give a warning."""
        rule = self._rule()
        reader = TraceReader(rule.machine.alphabet, self._source)
        with _opened(self.file) as lines:
            yield from followed(rule, reader, lines)
        known = rule.machine.alphabet.places
        for name in known if rule.ignores_others else ():
            near = suggestion(name, sorted(reader.names - known.keys()))
            if name not in reader.names and near:
                warnings.warn(f"'{name}' of the rule occurs in no recording{near}", NrmWarning, stacklevel=2)

    def _by_model(self, path: Path) -> Iterator[Judged]:
        """Follow observations, whose symbols a model reads."""
        if self.symbols or self.propositions or self.reward or self.txt or self.logic != DEFAULT_LOGIC:
            raise UsageError(f"{path} is a model, which has its rule; drop the options of a formula")
        from nrm.cli.grounding import Detector

        detector = Detector.load(path)
        yield from detector.rows(read_lines(sys.stdin, self._source)) if self.file == "-" else detector.file(self.file)

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
        yield read_lines(sys.stdin, "standard input")
        return
    try:
        handle = open(file, encoding="utf-8-sig", newline="")  # noqa: SIM115 - closed below
    except OSError as error:
        raise FileError(f"cannot read {file}: {error.strerror}") from None
    with handle:
        yield read_lines(handle, file)


def _written(at_once: bool) -> Callable[[str], object]:
    """How text is written: a line at once, where input comes as it happens."""
    if not at_once:
        return lambda text: sys.stdout.write(escaped(text))

    def write(text: str) -> None:
        sys.stdout.write(escaped(text))
        sys.stdout.flush()

    return write
