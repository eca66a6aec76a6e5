"""A language from outside: a file beside the tests would do the same."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import nrm
from nrm import Alphabet, Task
from nrm.aliases import Trace
from nrm.automata import Dfa, Limits
from nrm.errors import ConfigError, FormulaSyntaxError, TaskFileError, UnknownSymbolError
from nrm.logic import LANGUAGES, Language
from nrm.machines import load_task, save_task, task_from_toml, task_toml
from tests.strategies import traces


@dataclass(frozen=True)
class EndsWith:
    """The trace ends with a symbol."""

    symbol: str

    def atoms(self) -> tuple[str, ...]:
        return (self.symbol,)

    def brief(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return f"ends {self.symbol}"


def parse(text: str | EndsWith) -> EndsWith:
    if isinstance(text, EndsWith):
        return text
    word, _, symbol = text.partition(" ")
    if word != "ends" or not symbol:
        raise FormulaSyntaxError("expected 'ends' and a symbol", text, 0)
    return EndsWith(symbol)


def dfa(formula: EndsWith, exclusive: bool, limits: Limits) -> Dfa:
    # Letters: the symbol and "none of these", or nothing and the symbol.
    moves = [1, 0] if exclusive else [0, 1]
    columns = np.array([moves, moves], dtype=np.int32)
    return Dfa.of_classes(formula.atoms(), exclusive, np.arange(2, dtype=np.int32), columns, np.array([False, True]))


def holds(formula: EndsWith, trace: Trace) -> bool:
    return formula.symbol in trace[-1]


SUFFIX = Language("ends-with", "last symbols", parse, dfa, holds)
HERE = f"{__name__}:SUFFIX"


@pytest.mark.parametrize("alphabet", [Alphabet.exclusive("abc"), Alphabet.propositional("abc")])
def test_a_task_in_a_language_of_ones_own(alphabet: Alphabet, tmp_path: Path) -> None:
    task = Task("ends b", alphabet, logic=HERE)  # type: ignore[arg-type]
    assert task.formula == EndsWith("b")
    machine = task.machine()
    letters = alphabet.decode(range(alphabet.size))
    for trace in traces(letters, 3):
        assert machine.accepts(trace) == SUFFIX.holds(EndsWith("b"), trace)
    assert nrm.equivalent(machine, "F(b & last)")
    assert nrm.compile("ends b", alphabet, logic=HERE) == machine
    assert nrm.shortcuts(task).count == nrm.shortcuts(machine).count
    save_task(task, tmp_path / "task.toml")
    assert load_task(tmp_path / "task.toml", trust=True) == task


def test_a_language_registers_under_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "ltlf" in LANGUAGES
    monkeypatch.setattr(LANGUAGES, "_values", dict(LANGUAGES._values))
    LANGUAGES.register(SUFFIX)
    task = task_from_toml('formula = "ends a"\nlogic = "ends-with"\nsymbols = ["a", "b"]')
    assert task.machine().accepts(["b", "a"])
    assert 'logic = "ends-with"' in task_toml(task)
    assert "logic" not in task_toml(Task.from_paper(1))


def test_errors_are_those_of_the_language() -> None:
    with pytest.raises(FormulaSyntaxError, match="expected 'ends'"):
        Task("F a", Alphabet.exclusive("ab"), logic=HERE)  # type: ignore[arg-type]
    with pytest.raises(UnknownSymbolError, match="unknown symbol 'c'"):
        Task("ends c", Alphabet.exclusive("ab"), logic=HERE)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"'ltf'.*'ltlf'.*: ltlf"):
        nrm.compile("F a", "a b", logic="ltf")
    with pytest.raises(TaskFileError, match=r"line 2.*'logic'.*'ltf'"):
        task_from_toml('formula = "F a"\nlogic = "ltf"\nsymbols = ["a"]')
    with pytest.raises(TaskFileError, match=r"'logic'.*'task'"):
        task_from_toml('task = 1\nlogic = "ltlf"')
