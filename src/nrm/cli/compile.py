"""`nrm compile` and `nrm check`: machines of tasks."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nrm.cli.arguments import UsageError
from nrm.cli.options import JsonOption, MachineOptions, OutOption, Source
from nrm.cli.terminal import plain_console, say, table
from nrm.errors import TraceError, counted, listing
from nrm.files import write_bytes
from nrm.machines import (
    FORMATS,
    Alphabet,
    InfiniteMachine,
    MooreMachine,
    Run,
    Verdict,
    infinite_to_hoa,
    machine_text,
    minimise,
    render,
    text_picture,
    to_dot,
)

Form = Literal["text", "json", "dot", "hoa", "rm", "svg", "png"]
ENDINGS: dict[str, Form] = {ending: form for ending, form in FORMATS.items() if form != "toml"}
ENDINGS |= {"svg": "svg", "png": "png"}


@dataclass(frozen=True, kw_only=True)
class Compile(MachineOptions, OutOption, JsonOption):
    """Compile a task to its minimal Moore machine, or read a machine file. Print the machine, or write it with --out.

    The ending of --out is the format: .json, .dot, .hoa, .txt (a reward machine), .svg or .png.

    For example:
      nrm compile "F a & G !b" --symbols a,b,c
      nrm compile 3 --out machine.svg
      nrm compile t1.txt --out t1.dot
    """

    def run(self) -> int:
        """Compile, then print or write."""
        source = self.any_source()
        machine = source.machine
        form = self._form()
        if source.paid and form in ("rm", "json", "hoa"):
            raise UsageError(f"{form} would be read back as potentials; drop --txt rewards, or draw it (svg)")
        if source.infinite is not None and form in ("rm", "json"):
            raise UsageError(f"{form} holds machines of finite tasks; an infinite one is written as hoa")
        content = _content(source, form)
        if self.out is None:
            sys.stdout.write(content.decode())
        else:
            write_bytes(self.out, content)
            say(f"{size_of(machine)}: wrote {self.out}")
        return 0

    def _form(self) -> Form:
        if self.out is None:
            return "json" if self.json else "text"
        ending = self.out.suffix.lstrip(".").lower()
        if ending not in ENDINGS:
            raise UsageError(f"unknown ending of '{self.out}'; use one of {listing(ENDINGS)}")
        return ENDINGS[ending]


def _content(source: Source, form: Form) -> bytes:
    if source.infinite is not None:
        return _infinite_content(source, source.infinite, form)
    match form:
        case "svg" | "png":
            return render(source.machine, form, source.title)
        case "text":
            return f"{summary(source)}\n\n{text_picture(source.machine)}\n".encode()
        case _:
            return machine_text(source.machine, form, source.title).encode()


def _infinite_content(source: Source, machine: InfiniteMachine, form: Form) -> bytes:
    """The same with sets of marks in the place of potentials."""
    shown = machine.marks_text
    match form:
        case "svg" | "png":
            return render(machine.moore, form, f"{source.title}\n{machine.acceptance}", shown)
        case "dot":
            return to_dot(machine.moore, source.title, shown).encode()
        case "hoa":
            return infinite_to_hoa(machine, source.title).encode()
        case _:
            picture = text_picture(machine.moore, output=lambda marks: f"marks {shown(marks)}")
            return f"{summary(source)}\n\n{picture}\n".encode()


def size_of(machine: MooreMachine) -> str:
    """The number of states and symbol classes, or the size of the diagrams in their place."""
    return f"{counted(machine.states, 'state')}, {machine.moves.extent.replace(' class', ' symbol class')}"


def accepts(machine: InfiniteMachine) -> str:
    """When an infinite trace is accepted, and what marks stand for."""
    if not machine.live[machine.moore.initial]:
        return "nothing: its acceptance cannot be reached"
    marks = "; ".join(f"{mark}: {said}" for mark, said in enumerate(machine.statements))
    return f"{machine.acceptance}{marks and f', with marks {marks}'}"


def symbols_of(alphabet: Alphabet) -> str:
    """The symbols or propositions, and how many of them may hold."""
    return f"{listing(alphabet.symbols)}  ({alphabet.rule})"


def summary(source: Source) -> str:
    """A few lines on a machine and where it comes from."""
    machine, alphabet = source.machine, source.machine.alphabet
    scheme = "custom potentials" if source.scheme is None or not isinstance(source.scheme, str) else source.scheme
    if source.from_file and source.scheme is None:
        scheme = "paid on entering a state" if source.paid else "as in the file"
    least = minimise(machine).states if source.from_file else machine.states
    size = "minimal" if least == machine.states else f"{least} when minimised"
    rewards = f"rewards   {scheme}: potentials {listing([f'{level:.4g}' for level in machine.levels])}"
    if source.infinite is not None:
        rewards = f"accepts   {accepts(source.infinite)}"
    lines = [
        f"{'file' if source.from_file else 'formula':<9} {source.title}",
        f"{alphabet.heading:<9} {symbols_of(alphabet)}",
        f"machine   {size_of(machine)}, {size}",
        rewards,
    ]
    return "\n".join([*lines, *(f"note      {note}" for note in source.notes)])


@dataclass(frozen=True, kw_only=True)
class Check(MachineOptions, JsonOption):
    """Run a trace through the machine of a task, and print the verdict on it, as 'nrm monitor' does.

    Exit status 0: the trace satisfies the task (satisfied or holds), 1: it does not (open or violated).

    For example:
      nrm check "F a & G !b" --symbols a,b,c --trace a,c
      nrm check "F(a & X b)" --propositions a,b --trace "a&b,-,b"
      nrm check t1.txt --trace a,b --json
    """

    trace: str
    """Comma-separated steps: a,c,b. Propositions: a&b,-,c or {a,b},{},{c}; - means that none is true."""

    def run(self) -> int:
        """Print the states and rewards along the trace."""
        source = self.source()
        machine = source.machine
        steps = machine.alphabet.read_trace(self.trace)
        if not steps:
            raise TraceError("the trace is empty; a trace has at least one step")
        run = machine.run(steps)
        rewards = run.outputs[1:] if source.paid else run.rewards
        letters = machine.alphabet.encode(steps)
        if self.json:
            found = {
                "satisfied": run.accepted,
                "verdict": machine.verdicts[run.states[-1]],
                "trace": [machine.alphabet.letter_name(letter) for letter in letters],
                "states": run.states,
                "outputs": run.outputs,
                "rewards": rewards,
            }
            print(json.dumps(found))
        else:
            _print_table(machine, letters, run, rewards)
        return 0 if run.accepted else 1


def _print_table(machine: MooreMachine, letters: list[int], run: Run, rewards: Sequence[float]) -> None:
    rows = [("0", "", str(run.states[0]), f"{run.outputs[0]:g}", "")]
    steps = zip(letters, run.states[1:], run.outputs[1:], rewards, strict=True)
    for number, (letter, state, level, reward) in enumerate(steps, 1):
        note = " (failed)" if machine.dead[state] else " (accepting)" if machine.accepting[state] else ""
        name = machine.alphabet.letter_name(letter)
        rows.append((str(number), name, f"{state}{note}", f"{level:g}", f"{reward:+g}"))
    headings = ("step", "reads", "state", "potential", "reward")
    plain_console().print(table(headings, rows, numbers=("step", "state", "potential", "reward")))
    say(f"{_STANDS[machine.verdicts[run.states[-1]]]}; sum of rewards {sum(rewards):g}")


_STANDS = {
    Verdict.SATISFIED: "satisfied",
    Verdict.HOLDS: "holds, but later steps can undo it",
    Verdict.OPEN: "open: not satisfied yet",
    Verdict.VIOLATED: "violated",
}
