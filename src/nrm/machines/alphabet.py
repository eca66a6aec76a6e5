"""What can be read at one step: exactly one of several symbols, any subset of several propositions, or some subsets.

Each is a class of its own, which answers whatever depends on it.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeVar

import numpy as np

from nrm.aliases import BoolArray, IntArray, Json, Letter, Step, Symbol, Trace
from nrm.automata import MAX_LISTED, Cube, Dfa, in_columns, shortest_cubes
from nrm.errors import AlphabetError, LimitError, TraceError, UnknownSymbolError, listing, unknown
from nrm.logic import name_problem, true_symbols

Value = TypeVar("Value")


@dataclass(frozen=True)
class Alphabet(ABC):
    """The symbols or propositions of a task.

    `Alphabet.exclusive`: exactly one symbol is true at each step, as in the paper. `Alphabet.propositional`: any subset
    of the propositions is true. `Alphabet.of_sets`: one of the listed subsets is true. Use the last if your environment
    shows only some subsets, so that no task asks for two propositions that are never true together.

    A *letter* is what is read at a step: a symbol, or a subset. Letters are numbered from 0; in a propositional
    alphabet, bit i says whether proposition i is true.
    """

    symbols: tuple[Symbol, ...]

    kind: ClassVar[str]
    """How files call it: `exclusive` or `propositional`."""
    noun: ClassVar[str] = "proposition"
    """What one of `symbols` is called."""
    is_exclusive: ClassVar[bool] = False
    """Whether exactly one symbol holds at each step."""
    letters_noun: ClassVar[str] = "combinations of propositions"
    """What letters are called."""
    caveat: ClassVar[str] = ""
    """What is easily forgotten, such as where a task cannot be satisfied; empty for nothing."""
    heading: ClassVar[str] = "props"
    """What lists of its symbols are called in tables."""

    def __post_init__(self) -> None:
        if not self.symbols:
            raise AlphabetError(f"the alphabet is empty; name at least one {self.noun}")
        for name in self.symbols:
            if not isinstance(name, str):
                raise AlphabetError(f"a {self.noun} is named by text, not by {type(name).__name__} {name!r}")
            if problem := name_problem(name, self.noun):
                raise AlphabetError(problem)
        (twice, times), *_ = Counter(self.symbols).most_common(1)
        if times > 1:
            raise AlphabetError(f"{self.noun} '{twice}' is listed {times} times; list it once")

    @staticmethod
    def exclusive(symbols: Iterable[Symbol]) -> Alphabet:
        """Exactly one of `symbols` is true at each step."""
        return _Exclusive(tuple(symbols))

    @staticmethod
    def propositional(propositions: Iterable[Symbol]) -> Alphabet:
        """Any subset of `propositions` is true at a step."""
        return _Propositional(tuple(propositions))

    @staticmethod
    def of_sets(propositions: Iterable[Symbol], sets: Iterable[Iterable[Symbol]]) -> Alphabet:
        """One of some sets of `propositions` is true at each step; the empty set means none of them."""
        every = _Propositional(tuple(propositions))
        return _SomeSets(every.symbols, tuple(sorted({every.letter(tuple(names)) for names in sets})))

    @staticmethod
    def of_kind(symbols: Sequence[Symbol], kind: str, occurring: Sequence[int] | None = None) -> Alphabet:
        """The alphabet that a file describes by `symbols`, `kind` and `occurring`."""
        if kind not in ("exclusive", "propositional"):
            raise AlphabetError(f"an alphabet is 'exclusive' or 'propositional', not '{kind}'")
        if occurring is None:
            return (_Exclusive if kind == "exclusive" else _Propositional)(tuple(symbols))
        if kind == "exclusive":
            raise AlphabetError("in an exclusive alphabet exactly one symbol holds; only propositions occur in sets")
        return _SomeSets(tuple(symbols), tuple(occurring))

    @cached_property
    def places(self) -> Mapping[Symbol, int]:
        """The index of each symbol."""
        return {name: index for index, name in enumerate(self.symbols)}

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of letters."""

    @property
    def symbol_letters(self) -> tuple[Letter, ...]:
        """The letters that are single symbols."""
        return ()

    @property
    def amount(self) -> str:
        """Number of letters as text: `5`, `1,024`, `2^40`."""
        return f"{self.size:,}" if self.is_listable else f"2^{len(self.symbols)}"

    @property
    def rule(self) -> str:
        """How many symbols are true at a step, in words."""
        return f"any number holds at a step: {self.amount} combinations"

    @property
    def occurring(self) -> tuple[int, ...] | None:
        """The subsets that occur, ascending, by numbers whose bit i is proposition i; None where none is listed."""
        return None

    @property
    def propositions(self) -> int | None:
        """How many propositions there are, of which any subset may hold; None where not every subset may."""
        return self.pick(None, len(self.symbols))

    def pick(self, by_letter: Value, by_proposition: Value) -> Value:  # noqa: ARG002
        """One of two ways to treat letters: each by itself; or, where any subset may hold, by its propositions."""
        return by_letter

    @property
    def together(self) -> Sequence[tuple[Symbol, ...]] | None:
        """The sets of several symbols that may hold at one step; None if any set may."""
        letters = self.pick(range(self.size), None)
        return None if letters is None else [step for step in map(self.true_symbols, letters) if len(step) > 1]

    def nothing(self, empty: Symbol | None, place: str = "") -> tuple[Symbol, ...]:  # noqa: ARG002
        """What holds where nothing does; `empty` says so where one symbol always holds, and must then be given."""
        return ()

    def weight(self, symbol: Symbol) -> int:
        """What a symbol that holds adds to the number of its letter; of a set, to the bits that stand for it."""
        return 1 << self.places[symbol]

    def described(self) -> Json:
        """As values of a JSON file."""
        return {"kind": self.kind, "symbols": list(self.symbols)}

    def restricted(self, sets: Sequence[Sequence[Symbol]]) -> Alphabet:  # noqa: ARG002
        """The alphabet whose letters are some `sets` of symbols, in the order of their numbers; or all of them."""
        return self

    @property
    def is_small(self) -> bool:
        """Whether each letter has a column in the transition table: up to twelve propositions."""
        return self.propositions is None or in_columns(self.propositions)

    @property
    def is_listable(self) -> bool:
        """Whether letters can be listed: up to twenty propositions."""
        return self.propositions is None or self.propositions <= MAX_LISTED

    def letter(self, step: Step, place: str = "") -> Letter:
        """The letter of a step: the name of a symbol, or a collection of true propositions."""
        names = true_symbols(step, place)
        where = f" at {place}" if place else ""
        for name in names:
            if name not in self.places:
                raise UnknownSymbolError(unknown("symbol", name, self.symbols, where))
        return self._letter(names, where)

    @abstractmethod
    def _letter(self, names: Sequence[Symbol], where: str) -> Letter:
        """The letter at which these symbols hold."""

    def encode(self, trace: Trace) -> list[Letter]:
        """The letters of a trace."""
        if isinstance(trace, str):
            raise TraceError(f"a trace is a list of steps, not the text '{trace}'; try {trace.split(',')!r}")
        return [self.letter(step, f"step {index + 1}") for index, step in enumerate(trace)]

    @abstractmethod
    def true_symbols(self, letter: Letter) -> tuple[Symbol, ...]:
        """The symbols that are true at a letter."""

    def decode(self, letters: Sequence[Letter]) -> list[Step]:
        """The trace of some letters: names for symbols, tuples of names for propositions."""
        return [self.true_symbols(letter) for letter in letters]

    def letter_name(self, letter: Letter) -> str:
        """A letter as text: `a`, `a&b`, or `-` if none is true. `read_step` reads it back."""
        return "&".join(self.true_symbols(letter)) or "-"

    @cached_property
    def letter_names(self) -> tuple[str, ...]:
        """All letters as text, if they can be listed."""
        return tuple(self.letter_name(letter) for letter in range(self.size))

    def read_trace(self, text: str) -> list[Step]:
        """The steps of a typed trace, separated by commas: `a,c,b`; for propositions `a&b,-,c` or `{a,b},{},{c}`."""
        steps = re.split(r",(?![^{]*\})", text) if text.strip() else []  # at commas outside of braces
        return [self.read_step(step, f"step {number}") for number, step in enumerate(steps, 1)]

    def read_step(self, text: str, place: str = "") -> Step:
        """The step that `letter_name` wrote, or a person typed (`a&b`, `a+b`, `{a,b}`; `-` and `{}` for nothing)."""
        bare = text.strip()
        if not bare:
            raise TraceError(f"{place or 'a step'} is empty; write - where nothing holds")
        if bare in ("-", "{}"):
            return ()
        names = bare[1:-1] if bare.startswith("{") and bare.endswith("}") else bare
        if "{" in names or "}" in names:
            raise TraceError(f"'{bare}' is no step; write a,c,b, or {{a,b}},{{}},{{c}} where several hold")
        return tuple(name.strip() for name in re.split(r"[,&+]", names))

    @abstractmethod
    def lift(self, dfa: Dfa) -> Dfa:
        """An automaton over some of the symbols as one over the letters of this alphabet.

        Where letters are lacking, such as "none of the formula's symbols", states that cannot be reached are left out.
        """

    def plainest_first(self) -> Sequence[Letter]:
        """The letters, where they can be listed: those at which little holds first."""
        order: list[Letter] = np.argsort(self.letter_masks().sum(axis=1), kind="stable").tolist()
        return order

    @abstractmethod
    def letter_masks(self) -> IntArray:
        """(letters, symbols) 1 where the symbol holds at the letter, else 0."""

    @abstractmethod
    def cubes(self, letters: BoolArray) -> Sequence[Cube]:
        """Conjunctions of literals, few and short, that together hold at exactly these letters. letters: (letters,)."""


class _Exclusive(Alphabet):
    """Exactly one symbol holds at each step."""

    kind = "exclusive"
    noun = "symbol"
    is_exclusive = True
    letters_noun = "symbols"
    caveat = "one symbol holds at a time"
    heading = "symbols"

    @property
    def size(self) -> int:
        return len(self.symbols)

    @property
    def symbol_letters(self) -> tuple[Letter, ...]:
        return tuple(range(self.size))

    @property
    def rule(self) -> str:
        return "exactly one holds at each step"

    def nothing(self, empty: Symbol | None, place: str = "") -> tuple[Symbol, ...]:
        if empty is None:
            where = place and f", as at {place}"
            raise UnknownSymbolError(
                f"in an exclusive alphabet one symbol holds at every step, also where nothing is{where}: name it with "
                f"empty=… (--env.empty; symbols: {listing(self.symbols)}), or compile the task over propositions"
            )
        return (empty,)

    def weight(self, symbol: Symbol) -> int:
        return self.places[symbol]

    def _letter(self, names: Sequence[Symbol], where: str) -> Letter:
        if len(names) != 1:
            raise TraceError(f"{len(names)} symbols{where}: {{{', '.join(sorted(names))}}}; one holds at each step")
        return self.places[names[0]]

    def true_symbols(self, letter: Letter) -> tuple[Symbol, ...]:
        return (self.symbols[letter],)

    def decode(self, letters: Sequence[Letter]) -> list[Step]:
        return [self.symbols[letter] for letter in letters]

    def read_step(self, text: str, place: str = "") -> Step:
        bare = text.strip()
        return bare if bare and not (bare[0] == "{" and bare[-1] == "}") else super().read_step(text, place)

    def lift(self, dfa: Dfa) -> Dfa:
        moves = dfa.lifted(self.symbols).relettered(range(self.size))
        return Dfa(self.symbols, True, moves, dfa.accepting).trimmed()

    def letter_masks(self) -> IntArray:
        return np.eye(self.size, dtype=np.int32)

    def cubes(self, letters: BoolArray) -> Sequence[Cube]:
        chosen, others = np.flatnonzero(letters).tolist(), np.flatnonzero(~letters).tolist()
        if others and len(chosen) <= len(others) + 1:
            return [((index, True),) for index in chosen]
        return [tuple((index, False) for index in others)]


class _Propositional(Alphabet):
    """Any subset of the propositions holds at each step."""

    kind = "propositional"

    def __post_init__(self) -> None:
        super().__post_init__()
        if (count := len(self.symbols)) > 1_000:
            raise AlphabetError(f"{count} propositions are more than 1,000; where one holds at a time, use symbols")

    @property
    def size(self) -> int:
        return 1 << len(self.symbols)

    def pick(self, by_letter: Value, by_proposition: Value) -> Value:  # noqa: ARG002
        return by_proposition

    def described(self) -> Json:
        sets = map(self.true_symbols, range(self.size))
        return super().described() | ({"letters": list(map(list, sets))} if self.is_small else {})

    def restricted(self, sets: Sequence[Sequence[Symbol]]) -> Alphabet:
        bits = [self.letter(tuple(names), f"letter {number}") for number, names in enumerate(sets)]
        every = len(bits) == self.size and bits == list(range(len(bits)))
        return self if every else _SomeSets(self.symbols, tuple(bits))

    def _letter(self, names: Sequence[Symbol], where: str) -> Letter:  # noqa: ARG002 - every set is a letter
        return sum(1 << self.places[name] for name in set(names))

    def true_symbols(self, letter: Letter) -> tuple[Symbol, ...]:
        return tuple(name for bit, name in enumerate(self.symbols) if letter >> bit & 1)

    def lift(self, dfa: Dfa) -> Dfa:
        return Dfa(self.symbols, False, dfa.lifted(self.symbols), dfa.accepting)

    def letter_masks(self) -> IntArray:
        if not self.is_listable:
            raise LimitError(f"the letters of {len(self.symbols)} propositions cannot be listed, only of {MAX_LISTED}")
        letters = np.arange(self.size, dtype=np.int32)[:, None]
        return letters >> np.arange(len(self.symbols), dtype=np.int32) & 1

    def cubes(self, letters: BoolArray) -> Sequence[Cube]:
        return shortest_cubes(letters.astype(np.int32), len(self.symbols))


@dataclass(frozen=True)
class _SomeSets(_Propositional):
    """One of some sets of propositions holds at each step."""

    sets: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.sets
        if not given or list(given) != sorted(set(given)) or given[0] < 0 or given[-1] >> len(self.symbols):
            raise AlphabetError(
                f"the sets are numbers below 2^{len(self.symbols)}, ascending; not {listing(map(str, given))}"
            )

    @property
    def size(self) -> int:
        return len(self.sets)

    @property
    def occurring(self) -> tuple[int, ...]:
        return self.sets

    def pick(self, by_letter: Value, by_proposition: Value) -> Value:  # noqa: ARG002
        return by_letter

    @cached_property
    def _letter_of_set(self) -> Mapping[int, Letter]:
        return {bits: letter for letter, bits in enumerate(self.sets)}

    def _letter(self, names: Sequence[Symbol], where: str) -> Letter:
        bits = super()._letter(names, where)
        if bits not in self._letter_of_set:
            raise TraceError(
                f"{{{', '.join(sorted(names))}}}{where} is no letter: these do not hold together in this alphabet "
                f"(what does: {listing(self.letter_names)})"
            )
        return self._letter_of_set[bits]

    def true_symbols(self, letter: Letter) -> tuple[Symbol, ...]:
        return super().true_symbols(self.sets[letter])

    def lift(self, dfa: Dfa) -> Dfa:
        lifted = super().lift(dfa)
        return Dfa(self.symbols, False, lifted.moves.relettered(self.sets), dfa.accepting).trimmed()

    def letter_masks(self) -> IntArray:
        return np.array([[bits >> bit & 1 for bit in range(len(self.symbols))] for bits in self.sets], np.int32)

    def cubes(self, letters: BoolArray) -> Sequence[Cube]:
        classes = np.full(1 << len(self.symbols), 2, dtype=np.int32)  # what never occurs may be covered or not
        classes[list(self.sets)] = letters
        return shortest_cubes(classes, len(self.symbols))
