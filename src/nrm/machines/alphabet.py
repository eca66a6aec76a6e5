"""What can be read at one step: exactly one of several symbols, any subset of several propositions, or some subsets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from nrm.aliases import IntArray, Letter, Step, Symbol, Trace
from nrm.automata import MAX_LISTED, Dfa, Moves, in_columns
from nrm.errors import AlphabetError, LimitError, TraceError, UnknownSymbolError, listing, unknown
from nrm.logic import name_problem, true_symbols

AlphabetKind = Literal["exclusive", "propositional"]


@dataclass(frozen=True)
class Alphabet:
    """The letters of a machine, by the names of what can hold.

    `exclusive`: exactly one of `symbols` holds at each step (the paper's setting), and letter i is symbol i.
    `propositional`: any subset holds, and bit i of a letter's number says whether proposition i is true. Where an
    environment shows few of the subsets, `occurring` lists them and letter i is the i-th: then nothing is asked of
    what never holds, such as two things at once that are far apart.
    """

    symbols: tuple[Symbol, ...]
    kind: AlphabetKind = "exclusive"
    occurring: tuple[int, ...] | None = None
    """The subsets that occur, ascending, each as a number whose bit i says whether proposition i is true; None: all."""

    def __post_init__(self) -> None:
        given: object = self.symbols
        if isinstance(given, str):
            raise AlphabetError(f"symbols must be a list of names, not the text '{given}'")
        object.__setattr__(self, "symbols", tuple(self.symbols))
        what = "symbol" if self.kind == "exclusive" else "proposition"
        if self.kind not in ("exclusive", "propositional"):
            raise AlphabetError(f"an alphabet is 'exclusive' or 'propositional', not '{self.kind}'")
        if not self.symbols:
            raise AlphabetError(f"the alphabet is empty; name at least one {what}")
        for name in self.symbols:
            check_name(name, what)
        (twice, times), *_ = Counter(self.symbols).most_common(1)
        if times > 1:
            raise AlphabetError(f"{what} '{twice}' is listed {times} times; list it once")
        most = 1_000
        if self.kind == "propositional" and len(self.symbols) > most:
            raise AlphabetError(
                f"{len(self.symbols)} propositions are too many (the limit is {most}); if only one of them "
                "holds at a time, use an exclusive alphabet"
            )
        if self.occurring is not None:
            self._check_occurring(tuple(self.occurring))

    def _check_occurring(self, given: tuple[int, ...]) -> None:
        if self.kind == "exclusive":
            raise AlphabetError("in an exclusive alphabet exactly one symbol holds; only propositions occur in sets")
        object.__setattr__(self, "occurring", given)
        if not given or list(given) != sorted(set(given)) or given[0] < 0 or given[-1] >> len(self.symbols):
            raise AlphabetError(
                f"the sets that occur are numbers from 0 below 2^{len(self.symbols)}, ascending and each once, at "
                f"least one; not {listing(map(str, given))}"
            )

    @classmethod
    def exclusive(cls, symbols: Iterable[Symbol]) -> Alphabet:
        """Exactly one of `symbols` holds at each step."""
        return cls(tuple(symbols), "exclusive")

    @classmethod
    def propositional(cls, propositions: Iterable[Symbol]) -> Alphabet:
        """Any subset of `propositions` holds at each step."""
        return cls(tuple(propositions), "propositional")

    @classmethod
    def of_sets(cls, propositions: Iterable[Symbol], sets: Iterable[Iterable[Symbol]]) -> Alphabet:
        """Exactly one of some sets of `propositions` holds at each step; the empty one says that nothing does."""
        every = cls.propositional(propositions)
        return cls(every.symbols, "propositional", tuple(sorted({every.letter(tuple(names)) for names in sets})))

    @cached_property
    def places(self) -> Mapping[Symbol, int]:
        """The index of each symbol."""
        return {name: index for index, name in enumerate(self.symbols)}

    @property
    def is_exclusive(self) -> bool:
        """Whether exactly one symbol holds at each step."""
        return self.kind == "exclusive"

    @property
    def size(self) -> int:
        """How many letters there are."""
        if self.occurring is not None:
            return len(self.occurring)
        return len(self.symbols) if self.is_exclusive else 1 << len(self.symbols)

    @property
    def is_free(self) -> bool:
        """Whether every subset of the propositions is a letter, whose number is its bits."""
        return not self.is_exclusive and self.occurring is None

    @cached_property
    def _letter_of_set(self) -> Mapping[int, Letter]:
        return {bits: letter for letter, bits in enumerate(self.occurring or ())}

    def letter(self, step: Step, place: str = "") -> Letter:
        """The letter of one step: a symbol's name, or the collection of true propositions."""
        names = true_symbols(step, place)
        where = f" at {place}" if place else ""
        for name in names:
            if name not in self.places:
                raise UnknownSymbolError(unknown("symbol", name, self.symbols, where))
        if not self.is_exclusive:
            bits = sum(1 << self.places[name] for name in set(names))
            if self.occurring is None:
                return bits
            if bits not in self._letter_of_set:
                raise TraceError(
                    f"{{{', '.join(sorted(names))}}}{where} is no letter: these do not hold together in this alphabet "
                    f"(what does: {listing(self.letter_names)})"
                )
            return self._letter_of_set[bits]
        if len(names) != 1:
            raise TraceError(
                f"{len(names)} symbols{where}: {{{', '.join(sorted(names))}}}; in an exclusive alphabet exactly "
                "one holds at each step (use a propositional alphabet to let several hold)"
            )
        return self.places[names[0]]

    def encode(self, trace: Trace) -> list[Letter]:
        """The letters of a trace."""
        if isinstance(trace, str):
            raise TraceError(f"a trace is a list of steps, not the text '{trace}'; try {trace.split(',')!r}")
        return [self.letter(step, f"step {index + 1}") for index, step in enumerate(trace)]

    def true_symbols(self, letter: Letter) -> tuple[Symbol, ...]:
        """What holds at a letter."""
        if self.is_exclusive:
            return (self.symbols[letter],)
        bits = letter if self.occurring is None else self.occurring[letter]
        return tuple(name for bit, name in enumerate(self.symbols) if bits >> bit & 1)

    def decode(self, letters: Sequence[Letter]) -> list[Step]:
        """The trace of some letters: names for an exclusive alphabet, tuples of names otherwise."""
        if self.is_exclusive:
            return [self.symbols[letter] for letter in letters]
        return [self.true_symbols(letter) for letter in letters]

    def letter_name(self, letter: Letter) -> str:
        """A letter as text: `a`, or `a&b`, or `-` when nothing holds. `read_step` reads it back."""
        return "&".join(self.true_symbols(letter)) or "-"

    @cached_property
    def letter_names(self) -> tuple[str, ...]:
        """All letters as text, where they can be listed."""
        return tuple(self.letter_name(letter) for letter in range(self.size))

    def read_trace(self, text: str) -> list[Step]:
        """The steps of a typed trace, separated by commas: `a,c,b`; for propositions `a&b,-,c` or `{a,b},{},{c}`."""
        if not text.strip():
            return []
        steps = re.findall(r"\s*(\{[^{}]*\}|[^,{}]*)\s*(?:,|$)", text)
        # The pattern also finds an empty step behind the last one.
        steps = steps[:-1] if not text.rstrip().endswith(",") else steps
        if re.sub(r"\s", "", ",".join(steps)) != re.sub(r"\s", "", text):
            raise TraceError(
                f"'{text}' is no trace; write steps as a,c,b, or as {{a,b}},{{}},{{c}} where several can hold"
            )
        return [self.read_step(step, f"step {number}") for number, step in enumerate(steps, 1)]

    def read_step(self, text: str, place: str = "") -> Step:
        """The step that `letter_name` wrote, or a person typed (`a&b`, `a+b`, `{a,b}`; `-` and `{}` for nothing)."""
        bare = text.strip()
        if not bare:
            raise TraceError(f"{place or 'a step'} is empty; write - where nothing holds")
        braced = bare.startswith("{") and bare.endswith("}")
        if self.is_exclusive and not braced:
            return bare
        if bare in ("-", "{}"):
            return ()
        return tuple(name.strip() for name in re.split(r"[,&+]", bare[1:-1] if braced else bare))

    def lift(self, dfa: Dfa) -> Moves:
        """The moves of an automaton over some of the symbols, by the letters of this alphabet."""
        lifted = dfa.lifted(self.symbols)
        if self.occurring is not None:
            return lifted.relettered(self.occurring)
        return lifted.relettered(range(self.size)) if self.is_exclusive else lifted

    def plainest_first(self) -> Sequence[Letter]:
        """The letters, where they can be listed: those at which little holds first."""
        if self.is_exclusive:
            return range(self.size)
        order: list[Letter] = np.argsort(self.letter_masks().sum(axis=1), kind="stable").tolist()
        return order

    @property
    def propositions(self) -> int | None:
        """How many propositions there are, of which any subset may hold; None where not every subset may."""
        return len(self.symbols) if self.is_free else None

    @property
    def is_small(self) -> bool:
        """Whether letters are so few that each can have a column of a table: past twelve propositions they are not."""
        return self.propositions is None or in_columns(self.propositions)

    @property
    def is_listable(self) -> bool:
        """Whether letters can be listed at all: past twenty propositions they cannot."""
        return self.propositions is None or self.propositions <= MAX_LISTED

    def letter_masks(self) -> IntArray:
        """(letters, symbols) 1 where the symbol holds at the letter, else 0."""
        if self.is_exclusive:
            return np.eye(self.size, dtype=np.int32)
        if not self.is_listable:
            raise LimitError(
                f"{len(self.symbols)} propositions have 2^{len(self.symbols)} letters, and this needs a list of them "
                f"(the limit is {MAX_LISTED} propositions)"
            )
        if self.occurring is not None:
            return np.array(
                [[bits >> bit & 1 for bit in range(len(self.symbols))] for bits in self.occurring], np.int32
            )
        letters = np.arange(self.size, dtype=np.int32)[:, None]
        return letters >> np.arange(len(self.symbols), dtype=np.int32) & 1


def check_name(name: object, what: str = "symbol") -> None:
    """Raise `AlphabetError` unless `name` can name a symbol."""
    if not isinstance(name, str):
        raise AlphabetError(f"a {what} is named by text, not by {type(name).__name__} {name!r}")
    problem = name_problem(name, what)
    if problem:
        raise AlphabetError(problem)


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
