"""Names of symbols: which texts can be one, which of them hold at a step, and whether an alphabet knows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nrm.aliases import Step, Symbol, Trace
from nrm.errors import TraceError, UnknownSymbolError, listing, suggestion

_LTLF_WORDS = "true True TRUE false False FALSE last end and or not xor implies iff X WX F G U R W M Y O H S"
RESERVED = frozenset(_LTLF_WORDS.split(" "))
"""Words of LTLf, which cannot name a symbol in any language: so that one alphabet serves all of them."""

_PREFIX_LETTERS = "XFGYOH"
_MARKS = '",&+{}\\'


def name_problem(name: str, what: str = "symbol") -> str | None:
    """Why a text cannot name a symbol; None when it can. The one rule for formulas, alphabets and files."""
    if not name or name != name.strip() or not name.isprintable() or any(mark in name for mark in _MARKS):
        rule = "a name is printable and not empty, without spaces at its ends and without , & + { } \\ or quotes inside"
        return f"{name!r} cannot name a {what}: {rule}"
    if name in RESERVED or name == "-":
        return f"'{name}' cannot name a {what}: it is an operator of the language; choose another name"
    return None


def true_symbols(step: Step, place: str = "") -> tuple[str, ...]:
    """The symbols that hold at one step of a trace; `place` (such as "step 3") goes into the error message."""
    given: object = step
    if isinstance(given, str):
        return (given,)
    if isinstance(given, Mapping):
        names: tuple[object, ...] = tuple(name for name, true in given.items() if true)
    else:
        names = tuple(given) if isinstance(given, Iterable) else (given,)
    for name in names:
        if not isinstance(name, str):
            raise TraceError(
                f"{name!r}{f' at {place}' if place else ''} names no symbol; a step is a symbol's name, a collection "
                "of names, or a mapping from names to true or false"
            )
    return tuple(map(str, names))


def check_symbols(atoms: Iterable[Symbol], known: Sequence[Symbol]) -> None:
    """Raise `UnknownSymbolError` when a formula speaks of a symbol that is not among `known`."""
    allowed = set(known)
    for name in atoms:
        if name not in allowed:
            hint = suggestion(name, known)
            stripped = name.lstrip(_PREFIX_LETTERS)  # `Fa` is the symbol "Fa", which is rarely what the writer meant
            if stripped != name and stripped in allowed:
                operators = " ".join(name[: len(name) - len(stripped)])
                hint = f"; did you mean '{operators} {stripped}'?"
            raise UnknownSymbolError(f"unknown symbol '{name}' in the formula (symbols: {listing(known)}){hint}")


def steps_of(trace: Trace, language: str) -> list[frozenset[str]]:
    """The symbols that hold at each step of a non-empty trace."""
    if isinstance(trace, str):
        raise TraceError(f"a trace is a list of steps, not the text '{trace}'; try {trace.split(',')!r}")
    steps = [frozenset(true_symbols(step)) for step in trace]
    if not steps:
        raise TraceError(f"the trace is empty; {language} formulas speak of traces with at least one step")
    return steps
