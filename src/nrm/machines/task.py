"""Tasks: what is asked for, over which alphabet, with which rewards; and their minimal Moore machines."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from nrm.aliases import Symbol
from nrm.automata import DEFAULT_LIMITS, Limits
from nrm.errors import AlphabetError, MachineError, NrmWarning, counted, listing, shorten
from nrm.logic import (
    DEFAULT_LOGIC,
    LANGUAGES,
    PAPER_SYMBOLS,
    Formula,
    FormulaValue,
    check_symbols,
    is_infinite,
    named_formula,
    paper_task,
    read_formula,
)
from nrm.machines.alphabet import Alphabet
from nrm.machines.moore import MooreMachine
from nrm.machines.rewards import RewardScheme, with_rewards
from nrm.settings import Checked


@dataclass(frozen=True)
class GivenMachine:
    """A machine in the place of a formula, for tasks that nobody wrote as one."""

    machine: MooreMachine

    def atoms(self) -> tuple[Symbol, ...]:
        """The symbols of its alphabet."""
        return self.machine.alphabet.symbols

    def brief(self) -> str:
        """A few words about it."""
        return f"a machine of {counted(self.machine.states, 'state')} over {listing(self.atoms(), 6)}"

    def __str__(self) -> str:
        return self.brief()


@dataclass(frozen=True)
class Task:
    """A formula over an alphabet, with a reward scheme."""

    formula: FormulaValue
    """A formula, or its text; a `GivenMachine` if the task is a machine."""
    alphabet: Alphabet
    reward: RewardScheme = "distance"
    name: str = "task"
    logic: str = DEFAULT_LOGIC
    """The language of the formula: ltlf, ldlf, ppltl, re, or `module:name`."""

    def __post_init__(self) -> None:
        if isinstance(self.formula, GivenMachine):
            return
        formula, logic = read_formula(self.formula, self.logic)
        object.__setattr__(self, "formula", formula)
        object.__setattr__(self, "logic", logic)
        check_symbols(self.formula.atoms(), self.alphabet.symbols)

    @property
    def title(self) -> str:
        """The formula as text that can be parsed again; languages other than LTLf have a prefix."""
        text = self.formula.brief()
        return text if isinstance(self.formula, GivenMachine) else named_formula(text, self.logic)

    @classmethod
    def of(
        cls,
        formula: FormulaValue | str,
        symbols: Alphabet | Iterable[Symbol] | None = None,
        propositions: Iterable[Symbol] | None = None,
        logic: str = DEFAULT_LOGIC,
        reward: RewardScheme = "distance",
    ) -> Task:
        """The task of a formula over symbols, over propositions, or by default over its own propositions."""
        parsed, logic = read_formula(formula, logic)
        return cls(parsed, alphabet_of(symbols, propositions) or own_alphabet(parsed), reward, logic=logic)

    @classmethod
    def from_paper(cls, number_or_name: int | str, alphabet: Alphabet | None = None) -> Task:
        """One of the eight tasks of the paper; its a, b, c, d are the first symbols of the alphabet."""
        task = paper_task(number_or_name)
        alphabet = alphabet or Alphabet.exclusive(PAPER_SYMBOLS)
        return cls(task.formula(alphabet.symbols), alphabet, name=f"paper task {task.number}: {task.pattern}")

    @classmethod
    def from_machine(cls, machine: MooreMachine, name: str = "task") -> Task:
        """The task of a given machine, with its potentials."""
        return cls(GivenMachine(machine), machine.alphabet, tuple(machine.outputs.tolist()), name)

    @property
    def is_infinite(self) -> bool:
        """Whether it speaks of infinite traces."""
        return is_infinite(self.logic)

    def machine(self, limits: Limits = DEFAULT_LIMITS) -> MooreMachine:
        """The minimal Moore machine of the task, compiled once. A given machine is returned unchanged."""
        return self._machine if limits == DEFAULT_LIMITS else self._compiled(limits)

    def acting(self) -> MooreMachine:
        """The machine that agents act by: of an infinite task that of its rounds."""
        from nrm.machines.infinite import Rounds

        return Rounds.of_task(self).union if self.is_infinite else self.machine()

    @cached_property
    def _machine(self) -> MooreMachine:
        return self._compiled(DEFAULT_LIMITS)

    def _compiled(self, limits: Limits) -> MooreMachine:
        if isinstance(self.formula, GivenMachine):
            return with_rewards(self.formula.machine, self.reward)
        language = LANGUAGES[self.logic]
        if said := self._hint():
            warnings.warn(said, NrmWarning, stacklevel=6)
        dfa = language.dfa(self.formula, self.alphabet.is_exclusive, limits)
        least = self.alphabet.lift(dfa).minimal()
        least.moves.check_size(limits)
        outputs = least.accepting.astype(np.float64)
        plain = MooreMachine.of_moves(self.alphabet, least.moves, least.accepting, outputs)
        return with_rewards(plain, self.reward)

    def _hint(self) -> str:
        """What to say if one step can satisfy what was meant to take several."""
        hint = getattr(LANGUAGES[self.logic], "hint", None)
        return "" if hint is None or self.reward != "distance" else str(hint(self.formula, self.alphabet.together))

    def _repr_svg_(self) -> str | None:
        from nrm.machines.drawing import notebook_svg

        return notebook_svg(self, self.title)


def compile_formula(
    formula: FormulaValue | str,
    symbols: Alphabet | Iterable[str] | None = None,
    *,
    propositions: Iterable[str] | None = None,
    reward: RewardScheme = "distance",
    limits: Limits = DEFAULT_LIMITS,
    logic: str = DEFAULT_LOGIC,
) -> MooreMachine:
    """Compile a task to its minimal Moore machine.

    Equivalent formulas over one alphabet give identical machines, including state numbers.

    Args:
        formula: a formula, or its text.
        symbols: exactly one of these is true at each step. Include symbols that the formula does not mention.
        propositions: any number of these is true at a step. Default: those of the formula.
        reward: reward scheme: `distance`, `three_value`, `acceptance`, `distinct`, a potential per state, or a
            function of the machine.
        limits: limits of the work.
        logic: language: ltlf, ldlf, ppltl, re, or `module:name`. The text may also start with it, as in `re: a*;
            b`.

    """
    return Task.of(formula, symbols, propositions, logic, reward).machine(limits)


def own_alphabet(formula: FormulaValue) -> Alphabet:
    """The formula's own atoms as propositions."""
    atoms = formula.atoms()
    if not atoms:
        raise AlphabetError(f"the formula '{formula}' names no symbol; say what can hold: symbols or propositions")
    return Alphabet.propositional(atoms)


MachineLike: TypeAlias = MooreMachine | Task | Formula | str
"""A machine, a task, or a formula: over the alphabet of those beside it, else over its own propositions."""


def as_machine(value: MachineLike, alphabet: Alphabet | None = None) -> MooreMachine:
    """A machine as it is, the machine of a task, or that of an LTLf formula, over its own propositions if need be."""
    if isinstance(value, MooreMachine):
        return value
    if isinstance(value, Task):
        return value.machine()
    if isinstance(value, (Formula, str)):
        return compile_formula(value, alphabet)
    raise MachineError(
        f"a task is needed, a machine (as nrm.compile makes it) or a formula, not {type(value).__name__} "
        f"{shorten(str(value))}"
    )


def as_machines(values: Sequence[MachineLike]) -> tuple[MooreMachine, ...]:
    """Several machines; formulas among them are compiled over the alphabet of the first machine or task."""
    alphabets = (value.alphabet for value in values if isinstance(value, (MooreMachine, Task)))
    alphabet = next(alphabets, None)
    return tuple(as_machine(value, alphabet) for value in values)


@dataclass(frozen=True, kw_only=True)
class AlphabetSettings(Checked):
    """What a task reads."""

    symbols: tuple[Symbol, ...] | None = None
    """Exactly one of these holds at each step: a,b,c,d,e."""
    propositions: tuple[Symbol, ...] | None = None
    """Any number of these is true at a step: a,b,c. Default: those of the formula."""

    def __post_init__(self) -> None:
        for name in ("symbols", "propositions"):
            if (said := getattr(self, name)) is not None:
                parts = [said] if isinstance(said, str) else said
                object.__setattr__(self, name, tuple(part for one in parts for part in split_names(one)))
        super().__post_init__()


def split_names(text: str) -> tuple[str, ...]:
    """The names in `a,b,c` or `a b c`; an empty text has none."""
    return tuple(name.strip() for name in text.split(",")) if "," in text else tuple(text.split())


def alphabet_of(
    symbols: Alphabet | Iterable[Symbol] | None, propositions: Iterable[Symbol] | None = None
) -> Alphabet | None:
    """The alphabet of some symbols or of some propositions, each a list or text; None when neither is given."""
    if symbols is not None and propositions is not None:
        raise AlphabetError("give either symbols (exactly one holds at a step) or propositions, not both")
    if isinstance(symbols, Alphabet):
        return symbols
    if symbols is not None:
        return Alphabet.exclusive(_names(symbols))
    return None if propositions is None else Alphabet.propositional(_names(propositions))


def _names(names: Iterable[Symbol]) -> tuple[Symbol, ...]:
    """Names from a list, or from text: `"a,b,c"` or `"a b c"`."""
    if isinstance(names, str):
        return split_names(names)
    if not isinstance(names, Iterable):
        raise AlphabetError(f"symbols are a list of names, or text such as 'a b c', not {names!r}")
    return tuple(names)
