"""`nrm explain`: what a formula says."""

from __future__ import annotations

import json
import re
import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nrm.cli.arguments import UsageError
from nrm.cli.compile import accepts, size_of, symbols_of
from nrm.cli.options import JsonOption, MachineOptions
from nrm.cli.terminal import say
from nrm.errors import FormulaError, LimitError, NrmWarning
from nrm.logic import LANGUAGES, Reading, inherited_logic, read_formula
from nrm.machines import Alphabet, InfiniteMachine, Task, alphabet_of
from nrm.shortcuts import Comparison, Explanation, findings, shortcuts, trace_text


@dataclass(frozen=True, kw_only=True)
class Explain(MachineOptions, JsonOption):
    """Explain a task: its meaning in words, example traces, its pattern, and the size of its machine.

    With --against, compare two formulas. If they differ, show a shortest trace and exit with status 1.

    For example:
      nrm explain "F(a & F b) & G !c"
      nrm explain "F a" --against "ppltl: O a"
      nrm explain 5 --json
    """

    against: str | None = None
    """A second formula over the same symbols, in the language of the first or with a prefix: "ldlf: <a>tt"."""

    def run(self) -> int:
        """Explain, then print."""
        if self.resolve().is_infinite:
            return self._infinite(self.resolve())
        said = Explanation(self._task(), self.limits)
        compared = None if self.against is None else self._compared(said)
        if self.json:
            print(json.dumps(_as_json(said, compared), indent=2, ensure_ascii=False))
        else:
            _print(said, self.title(said.task))
            if compared is not None:
                say(_side_by_side(compared))
        return 0 if compared is None or compared.equivalent else 1

    def _infinite(self, task: Task) -> int:
        """An infinite task: what it says, and when a trace is accepted."""
        if self.against is not None:
            raise UsageError("--against compares finite tasks; drop it")
        language, machine = LANGUAGES[task.logic], InfiniteMachine.of(task, self.limits)
        words = str(language.words(task.formula)) if language.words else ""
        if self.json:
            about = {"formula": str(task.formula), "logic": task.logic, "kind": task.alphabet.kind, "words": words}
            marks = {"acceptance": machine.acceptance, "marks": machine.statements, "states": machine.moore.states}
            satisfiable = bool(machine.live[machine.moore.initial])
            print(json.dumps({**about, "symbols": task.alphabet.symbols, **marks, "satisfiable": satisfiable}))
            return 0
        rows = [("formula", f"{self.title(task)}  ({language.label})"), ("over", symbols_of(task.alphabet))]
        rows += [("in words", words), ("accepts", accepts(machine)), ("machine", size_of(machine.moore))]
        _rows([*rows, ("symbols", " ".join(findings(shortcuts(machine.moore))))])
        return 0

    def _task(self) -> Task:
        """The task; with a second formula, over the propositions of both where none are named."""
        task = self.resolve()
        if self.against is None or self.says_everything or alphabet_of(self.symbols, self.propositions) is not None:
            return task
        other = self._other(task).formula
        atoms = dict.fromkeys((*task.alphabet.symbols, *other.atoms()))
        return replace(task, alphabet=Alphabet.propositional(atoms))

    def _compared(self, said: Explanation) -> Comparison:
        assert self.against is not None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NrmWarning)
            return said.against(*self._other(said.task))

    def _other(self, task: Task) -> Reading:
        """The second formula; errors say how it names its language."""
        assert self.against is not None
        try:
            return read_formula(self.against, inherited_logic(self.against, task.logic))
        except FormulaError as error:
            error.args = (re.sub(r"add --logic (\w+)", r"write '\1:' in front of it", str(error)),)
            raise


def _print(said: Explanation, title: str) -> None:
    label = LANGUAGES[said.task.logic].label
    rows = [("formula", f"{title}  ({label})"), ("over", symbols_of(said.task.alphabet)), *said.rows()]
    _rows([*rows, ("machine", size_of(said.machine)), ("symbols", _teaching(said))])


def _rows(rows: Sequence[tuple[str, str]]) -> None:
    for name, text in rows:
        say(textwrap.fill(text, 110, initial_indent=f"{name:<10}", subsequent_indent=" " * 10))


def _teaching(said: Explanation) -> str:
    try:
        return " ".join(findings(said.shortcuts))
    except LimitError as error:
        return f"not analysed: {error}"


def _side_by_side(compared: Comparison) -> str:
    if compared.equivalent:
        return "equivalent: the same traces satisfy both"
    lines = []
    for trace, yes, no in ((compared.only_first, "first", "second"), (compared.only_second, "second", "first")):
        if trace is None:
            lines.append(f"whatever satisfies the {yes} satisfies the {no}")
        else:
            lines.append(f"{trace_text(trace)} satisfies the {yes}, not the {no}")
    shortest = compared.shortest
    assert shortest is not None
    return "\n".join([f"not equivalent; a shortest trace that separates them: {trace_text(shortest)}", *lines])


def _as_json(said: Explanation, compared: Comparison | None) -> dict[str, object]:
    task = said.task
    data: dict[str, object] = {
        "formula": str(task.formula),
        "logic": task.logic,
        "kind": task.alphabet.kind,
        "symbols": list(task.alphabet.symbols),
        "words": said.words,
        "pattern": said.pattern,
        "satisfying": trace_text(said.satisfying),
        "violating": trace_text(said.violating),
        "undoable": said.undoable,
        "states": said.machine.states,
        "letter_classes": said.machine.classes,
        "groundable": said.shortcuts.groundable,
    }
    if compared is not None:
        only = {"only_first": trace_text(compared.only_first), "only_second": trace_text(compared.only_second)}
        data["against"] = {"equivalent": compared.equivalent, **only}
    return data
