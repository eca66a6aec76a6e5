"""Reading HOA automata (v1) as machines on finite traces; the convention stands in `hoa_writer`."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedCharacters, UnexpectedToken, VisitError

from nrm.aliases import BoolArray, IntArray
from nrm.errors import LimitError, MachineError, shorten
from nrm.logic import FALSE, TRUE, Formula, atom, both, either, substituted
from nrm.machines.alphabet import Alphabet
from nrm.machines.guarded import machine_of_moves
from nrm.machines.guards import evaluated
from nrm.machines.moore import MooreMachine, amount_of_letters

MAX_DIGITS = 9
"""Longest number that is read."""
MAX_CELLS = 20_000_000
"""Most entries of the table, states times letters, that is built."""

_GRAMMAR = r"""
start: (header | alias)+ _BODY state* _END
!header: HEADER (INT | TEXT | WORD | ALIAS | "!" | "&" | "|" | "(" | ")")*
alias: _ALIAS_HEADER ALIAS _label
state: _STATE_HEADER label INT TEXT? sets edge*
edge: label INT conjuncts sets
label: ("[" _label "]")?
sets: ("{" INT* "}")?
conjuncts: ("&" INT)*
_label: disjunction
disjunction: conjunction ("|" conjunction)*
conjunction: literal ("&" literal)*
?literal: "!" literal -> negation
    | "(" disjunction ")"
    | "t" -> true
    | "f" -> false
    | (INT | ALIAS) -> name

_BODY: "--BODY--"
_END: "--END--"
_ALIAS_HEADER.3: /Alias\s*:/
_STATE_HEADER.3: /State\s*:/
HEADER.2: /[A-Za-z_][\w-]*\s*:/
WORD: /[A-Za-z_][\w-]*/
ALIAS: /@[\w-]+/
INT: /\d+/
TEXT: /"(?:\\.|[^"\\])*"/s
%ignore /\s+/
"""


class _Labels(Transformer[Token, Formula]):
    """Labels as formulas whose atoms are numbers of propositions and names of aliases."""

    def disjunction(self, parts: list[Formula]) -> Formula:
        return either(*parts)

    def conjunction(self, parts: list[Formula]) -> Formula:
        return both(*parts)

    def negation(self, parts: list[Formula]) -> Formula:
        return ~parts[0]

    def true(self, _: list[Token]) -> Formula:
        return TRUE

    def false(self, _: list[Token]) -> Formula:
        return FALSE

    def name(self, parts: list[Token]) -> Formula:
        return atom(str(parts[0]))


@cache
def _lark() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", transformer=_Labels(), propagate_positions=True)


def from_hoa(text: str) -> MooreMachine:
    """Read a deterministic automaton with state-based Büchi acceptance as a machine on finite traces.

    Without potentials of ours, accepting states get potential 1 and others 0. Where no edge fires the trace is
    rejected for good, in a state of its own.
    """
    items = _parsed(text)
    headers = _headers(items)
    alphabet = _alphabet(headers)
    states = _number(headers, "States")
    # Checked before a table is made, for a few bytes can ask for gigabytes.
    if states > len(text):
        raise MachineError(f"the header says {states:,} states, more than the file has room for")
    start = _number(headers, "Start")
    if start >= states:
        raise MachineError(f"the initial state {start} is not a state (0 to {states - 1})")
    accepting = _accepting(items, states, _acceptance(headers))
    outputs = _levels(headers, states) or [float(value) for value in accepting]
    if not alphabet.is_small:
        return _by_guards(items, alphabet, accepting, outputs, start)
    if states * alphabet.size > MAX_CELLS:
        raise LimitError(
            f"{states:,} states and {amount_of_letters(alphabet)} letters make a table of more than {MAX_CELLS:,} "
            "entries; leave out propositions that no label needs"
        )
    table = _table(items, alphabet, states)
    if (table < 0).any():
        table = np.vstack([table, np.full((1, alphabet.size), -1, dtype=np.int32)])
        table[table < 0] = states
        accepting, outputs = [*accepting, False], [*outputs, 0.0]
    return MooreMachine.from_table(alphabet, table, accepting, outputs, start)


def _parsed(text: str) -> list[Any]:
    """The headers, aliases and states, one after the other."""
    try:
        return _lark().parse(_without_comments(text)).children
    except UnexpectedToken as error:
        if error.token.type == "$END":
            raise MachineError("the automaton ends too early; is the file whole?") from None
        raise MachineError(f"line {error.line}: unexpected '{shorten(error.token)}'") from None
    except VisitError as error:
        raise error.orig_exc from None
    except UnexpectedCharacters as error:
        line = text.split("\n")[error.line - 1]
        raise MachineError(f"line {error.line} is not HOA: {shorten(line)}") from None


def _without_comments(text: str) -> str:
    """The text with its comments, which nest, as empty lines; what stands in quotes is no comment."""
    kept, position = [], 0
    while match := re.compile(r'"(?:\\.|[^"\\])*"|/\*', re.DOTALL).search(text, position):
        kept.append(text[position : match.start()])
        position = match.end()
        if match.group() != "/*":
            kept.append(match.group())
            continue
        depth = 1
        while depth:
            mark = re.compile(r"/\*|\*/").search(text, position)
            if mark is None:
                line = 1 + text.count("\n", 0, match.start())
                raise MachineError(f"line {line}: a comment that does not end")
            depth += 1 if mark.group() == "/*" else -1
            position = mark.end()
        kept.append("\n" * text.count("\n", match.start(), position))
    return "".join([*kept, text[position:]])


def _headers(items: list[Any]) -> dict[str, list[Token]]:
    headers: dict[str, list[Token]] = {}
    for title, *values in (item.children for item in items if item.data == "header"):
        name = title.rstrip(": \t\r\n")
        if name == "Start" and name in headers:
            raise MachineError(f"line {title.line}: several initial states; machines are deterministic")
        if name[0].isupper() and name not in ("HOA", "States", "Start", "AP", "Acceptance"):  # as the format asks
            raise MachineError(f"line {title.line}: the header '{name}' is not supported")
        headers[name] = values
    if next(iter(headers), "") != "HOA" or headers["HOA"] != ["v1"]:
        raise MachineError("this is not HOA text: its first line is 'HOA: v1'")
    return headers


def _alphabet(headers: Mapping[str, list[Token]]) -> Alphabet:
    count, *quoted = headers.get("AP") or [Token("INT", "0")]
    names = [_unquoted(token) for token in quoted]
    if count != str(len(names)):
        raise MachineError(f"line {count.line}: AP says {shorten(count)} propositions, but {len(names)} are named")
    if headers.get("nrm-kind") == ["exclusive"]:
        return Alphabet.exclusive(names)
    if not names:
        raise MachineError("the automaton has no propositions (AP)")
    return Alphabet.propositional(names)


def _acceptance(headers: Mapping[str, list[Token]]) -> Callable[[list[int]], bool]:
    said = "".join(headers.get("Acceptance", []))
    rules: Mapping[str, Callable[[list[int]], bool]] = {
        "1Inf(0)": lambda sets: 0 in sets,
        "0t": lambda _: True,
        "0f": lambda _: False,
    }
    if said not in rules:
        raise MachineError(
            f"the acceptance is '{said or 'missing'}'; a machine on finite traces has Büchi acceptance, 1 Inf(0)"
        )
    return rules[said]


def _levels(headers: Mapping[str, list[Token]], states: int) -> list[float] | None:
    if "nrm-levels" not in headers:
        return None
    try:
        levels = [float(_unquoted(token)) for token in headers["nrm-levels"]]
    except ValueError:
        raise MachineError("'nrm-levels' holds something that is no number") from None
    if len(levels) != states:
        raise MachineError(f"'nrm-levels' has {len(levels)} numbers for {states} states")
    return levels


def _accepting(items: list[Any], states: int, accepts: Callable[[list[int]], bool]) -> list[bool]:
    accepting = [accepts([])] * states
    for item in items:
        if item.data == "state":
            sets = next(part for part in item.children[2:] if not isinstance(part, Token))
            accepting[_state(item.children[1], states)] = accepts([_int(token) for token in sets.children])
    return accepting


class _Edge(NamedTuple):
    """One edge of the file; without a label it is that of the letter with number `implicit`."""

    state: int
    target: int
    label: Formula | None
    implicit: int
    place: Token


def _edges(items: list[Any], states: int) -> Iterator[_Edge]:
    for item in items:
        if item.data != "state":
            continue
        label, number, *_ = item.children
        state = _state(number, states)
        _, *edges = (part for part in item.children[2:] if not isinstance(part, Token))
        shared = label.children[0] if label.children else None
        implicit = 0
        for edge in edges:
            label, number, others, sets = edge.children
            if others.children:
                raise MachineError(f"line {number.line}: an edge to several states at once; machines are deterministic")
            if sets.children:
                raise MachineError(f"line {number.line}: acceptance on edges; make it state-based (autfilt -S)")
            here = label.children[0] if label.children else shared
            yield _Edge(state, _state(number, states), here, implicit, number)
            implicit += here is None


def _aliases(items: list[Any]) -> Iterator[tuple[Token, Formula]]:
    return (tuple(item.children) for item in items if item.data == "alias")


def _table(items: list[Any], alphabet: Alphabet, states: int) -> IntArray:
    """(states, letters) the next state, -1 where no edge fires."""
    values = {str(number): mask for number, mask in enumerate(alphabet.letter_masks().astype(bool).T)}
    for name, meaning in _aliases(items):
        values[str(name)] = _letters(meaning, values, name)
    table = np.full((states, alphabet.size), -1, dtype=np.int32)
    for state, target, label, implicit, place in _edges(items, states):
        here = np.arange(alphabet.size) == implicit if label is None else _letters(label, values, place)
        clash = here & (table[state] >= 0) & (table[state] != target)
        if clash.any():
            letter = alphabet.letter_name(int(np.flatnonzero(clash)[0]))
            raise MachineError(
                f"state {state} is not deterministic: the edges to {int(table[state][clash][0])} and to "
                f"{target} (line {place.line}) both fire on '{letter}'"
            )
        table[state, here] = target
    return table


def _by_guards(
    items: list[Any], alphabet: Alphabet, accepting: list[bool], outputs: list[float], start: int
) -> MooreMachine:
    """The machine over many propositions, from its labels as guards."""
    parts: dict[str, Formula] = {str(number): atom(name) for number, name in enumerate(alphabet.symbols)}
    for name, meaning in _aliases(items):
        parts[str(name)] = _named(meaning, parts, name)
    guards: list[dict[int, list[Formula]]] = [{} for _ in accepting]
    for state, target, label, _, place in _edges(items, len(accepting)):
        if label is None:
            raise MachineError(f"line {place.line}: edges without labels number all letters; label them")
        guards[state].setdefault(target, []).append(_named(label, parts, place))
    moves = [[(either(*labels), target) for target, labels in state.items()] for state in guards]
    lost = len(moves)
    machine = machine_of_moves(
        alphabet, [*moves, []], [*accepting, False], [*outputs, 0.0], start, rest=[lost] * (lost + 1)
    )
    if any(lost in machine.targets(state) for state in range(lost)):
        return machine
    return machine_of_moves(alphabet, moves, accepting, outputs, start)


def _named(label: Formula, parts: Mapping[str, Formula], place: Token) -> Formula:
    """A label with names in the place of numbers and aliases."""
    _check_atoms(label, parts, place)
    return substituted(label, parts)


def _check_atoms(label: Formula, known: Container[str], place: Token) -> None:
    for name in label.atoms():
        if name not in known:
            raise MachineError(f"line {place.line}: a label cannot be read: there is no proposition or alias {name}")


def _letters(label: Formula, values: Mapping[str, BoolArray], place: Token) -> BoolArray:
    _check_atoms(label, values, place)
    return evaluated(label, values)


def _number(headers: Mapping[str, list[Token]], name: str) -> int:
    values = headers.get(name, [])
    if len(values) != 1 or values[0].type != "INT":
        raise MachineError(f"the header '{name}' must be there and hold a number")
    return _int(values[0])


def _state(token: Token, states: int) -> int:
    if _int(token) >= states:
        raise MachineError(f"line {token.line}: there is no state {token} (0 to {states - 1})")
    return int(token)


def _int(token: Token) -> int:
    if len(token) > MAX_DIGITS:
        raise MachineError(f"line {token.line}: the number {shorten(token)} is too large")
    return int(token)


def _unquoted(token: Token) -> str:
    if token.type != "TEXT":
        raise MachineError(f"line {token.line}: expected text in quotes, not '{token}'")
    return re.sub(r"\\(.)", r"\1", token[1:-1])
