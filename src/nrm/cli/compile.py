"""`nrm compile`: from a formula to its machine."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nrm.cli.options import MachineOptions, Source, UsageError
from nrm.errors import counted, listing
from nrm.files import write_bytes
from nrm.logic import LOOKS_BACK
from nrm.machines import (
    FORMATS,
    MooreMachine,
    amount_of_letters,
    machine_text,
    minimise,
    render,
    text_picture,
    unsatisfiable,
)

Form = Literal["text", "json", "dot", "hoa", "rm", "svg", "png"]
ENDINGS: dict[str, Form] = {ending: form for ending, form in FORMATS.items() if form != "toml"}
ENDINGS |= {"svg": "svg", "png": "png"}


@dataclass(frozen=True)
class Compile(MachineOptions):
    """Compile a task to its minimal Moore machine, or read a machine file, and show or write the machine."""

    format: Form | None = None
    """How to show the machine; rm is a reward machine text file. The default follows --out (.txt: rm), else text."""
    out: Path | None = None
    """Write here instead of to the terminal."""

    def run(self) -> int:
        """Compile, then print or write."""
        source = self.source()
        machine = source.machine
        form = self.format or self._form_by_ending()
        if form == "png" and self.out is None:
            raise UsageError("a PNG picture goes into a file; add --out FILE.png")
        if source.paid and form in ("rm", "json", "hoa"):
            raise UsageError(
                f"a machine that outputs rewards would be read back as one of potentials; --format {form} cannot "
                "say so. Drop --outputs rewards, or draw it (text, dot, svg, png)"
            )
        content = _content(source, form)
        if self.out is None:
            sys.stdout.write(content.decode())
        else:
            write_bytes(self.out, content)
            letters = amount_of_letters(machine.alphabet)
            ending = "" if letters == "1" else "s"
            print(f"{counted(machine.states, 'state')}, {letters} letter{ending}: wrote {self.out}")
        return 0

    def _form_by_ending(self) -> Form:
        if self.out is None:
            return "text"
        ending = self.out.suffix.lstrip(".").lower()
        if ending not in ENDINGS:
            raise UsageError(f"the ending of '{self.out}' says no form; use one of {listing(ENDINGS)}, or add --format")
        return ENDINGS[ending]


def _content(source: Source, form: Form) -> bytes:
    match form:
        case "svg" | "png":
            return render(source.machine, form, source.title)
        case "text":
            return f"{summary(source)}\n\n{text_picture(source.machine)}\n".encode()
        case _:
            return machine_text(source.machine, form, source.title).encode()


def letters_of(machine: MooreMachine) -> str:
    """How many classes of letters there are, or how large the diagrams are that stand for them."""
    return machine.moves.extent.replace(" class", " letter class")


def summary(source: Source) -> str:
    """A few lines on a machine and where it comes from."""
    machine, alphabet = source.machine, source.machine.alphabet
    kind = "exactly one holds at each step" if alphabet.is_exclusive else "any of them may hold at a step"
    what = "symbols" if alphabet.is_exclusive else "props"
    scheme = "custom potentials" if source.scheme is None or not isinstance(source.scheme, str) else source.scheme
    if source.from_file and source.scheme is None:
        scheme = "paid on entering a state" if source.paid else "as in the file"
    least = minimise(machine).states if source.from_file else machine.states
    size = "minimal" if least == machine.states else f"{least} when minimised"
    lines = [
        f"{'file' if source.from_file else 'formula':<9} {source.title}",
        f"{what:<9} {listing(alphabet.symbols)}  ({kind})",
        f"machine   {counted(machine.states, 'state')}, {letters_of(machine)}, {size}",
        f"rewards   {scheme}: potentials {listing([f'{level:.4g}' for level in machine.levels])}",
    ]
    if not machine.accepting.any():
        back = f". {LOOKS_BACK}" if source.looks_back else ""
        lines.append(f"note      the task {unsatisfiable(alphabet)}: no state is accepting{back}")
    elif machine.states == 1:
        lines.append("note      the task is always satisfied: every trace is accepted")
    return "\n".join(lines)
