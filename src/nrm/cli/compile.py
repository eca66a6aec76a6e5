"""`nrm compile`: from a formula to its machine."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nrm.cli.options import TaskOptions, UsageError
from nrm.errors import listing
from nrm.files import write_bytes
from nrm.machines import MooreMachine, Task, machine_json, render, text_picture, to_dot

Form = Literal["text", "json", "dot", "svg", "png"]
ENDINGS: dict[str, Form] = {"txt": "text", "json": "json", "dot": "dot", "gv": "dot", "svg": "svg", "png": "png"}


@dataclass(frozen=True)
class Compile(TaskOptions):
    """Compile a task to its minimal Moore machine, and show or write it."""

    format: Form | None = None
    """How to show the machine. The default follows the ending of --out, and is text otherwise."""
    out: Path | None = None
    """Write here instead of to the terminal."""

    def run(self) -> int:
        """Compile, then print or write."""
        task = self.resolve()
        machine = task.machine(self.limits)
        form = self.format or self._form_by_ending()
        if form == "png" and self.out is None:
            raise UsageError("a PNG picture goes into a file; add --out FILE.png")
        content = _content(task, machine, form)
        if self.out is None:
            sys.stdout.write(content.decode())
        else:
            write_bytes(self.out, content)
            print(f"{machine.states} states, {machine.alphabet.size:,} letters: wrote {self.out}")
        return 0

    def _form_by_ending(self) -> Form:
        if self.out is None:
            return "text"
        ending = self.out.suffix.lstrip(".").lower()
        if ending not in ENDINGS:
            raise UsageError(f"the ending of '{self.out}' says no form; use one of {listing(ENDINGS)}, or add --format")
        return ENDINGS[ending]


def _content(task: Task, machine: MooreMachine, form: Form) -> bytes:
    match form:
        case "json":
            return machine_json(machine).encode()
        case "dot":
            return to_dot(machine, task.formula.brief()).encode()
        case "svg" | "png":
            return render(machine, form, task.formula.brief())
        case "text":
            return f"{summary(task, machine)}\n\n{text_picture(machine)}\n".encode()


def summary(task: Task, machine: MooreMachine) -> str:
    """A few lines on a task and its machine."""
    alphabet = machine.alphabet
    kind = "exactly one holds at each step" if alphabet.is_exclusive else "any of them may hold at a step"
    what = "symbols" if alphabet.is_exclusive else "props"
    scheme = task.reward if isinstance(task.reward, str) else "custom levels"
    lines = [
        f"formula   {task.formula.brief()}",
        f"{what:<9} {listing(alphabet.symbols)}  ({kind})",
        f"machine   {machine.states} states, {machine.classes} letter classes, minimal",
        f"rewards   {scheme}: levels {listing([f'{level:.4g}' for level in machine.levels])}",
    ]
    if not machine.accepting.any():
        lines.append("note      the task cannot be satisfied: no state is accepting")
    elif machine.states == 1:
        lines.append("note      the task is always satisfied: every trace is accepted")
    return "\n".join(lines)
