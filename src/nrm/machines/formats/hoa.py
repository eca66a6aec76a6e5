"""Machines in the Hanoi omega-automata format (HOA v1), for tools that read automata.

A machine reads finite traces; HOA speaks of infinite words. The convention is the one of Spot's `to_finite`: a Büchi
automaton with state-based acceptance, whose accepting states are those in which a finite trace may end. Potentials
and the kind of alphabet stand in headers of their own in lower case, which other tools may ignore. With an exclusive
alphabet, each symbol is a proposition, and an alias stands for "this one and no other"; other combinations have no
edge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedCharacters, UnexpectedToken, VisitError

from nrm.aliases import BoolArray
from nrm.errors import LimitError, MachineError, shorten
from nrm.logic import FALSE, TRUE, Formula, Op, atom, both, either, substituted
from nrm.machines.alphabet import Alphabet
from nrm.machines.guards import guard, letters_where, machine_of_moves, moves
from nrm.machines.moore import MooreMachine, amount_of_letters


def to_hoa(machine: MooreMachine, title: str = "") -> str:
    """The machine as HOA text. `from_hoa` reads it back."""
    alphabet = machine.alphabet
    count = len(alphabet.symbols)
    kinds = "trans-labels explicit-labels state-acc deterministic" + (" complete" * (not alphabet.is_exclusive))
    lines = [
        "HOA: v1",
        *([f"name: {_quoted(title)}"] if title else []),
        'tool: "nrm"',
        f"States: {machine.states}",
        f"Start: {machine.initial}",
        f"AP: {count} {' '.join(map(_quoted, alphabet.symbols))}",
        "acc-name: Buchi",
        "Acceptance: 1 Inf(0)",
        f"properties: {kinds}",
        f"nrm-kind: {alphabet.kind}",
        f"nrm-levels: {' '.join(_quoted(repr(level)) for level in machine.outputs.tolist())}",
    ]
    if alphabet.is_exclusive:
        lines += [f"Alias: @s{one} {_only(one, count)}" for one in range(count)]
    lines.append("--BODY--")
    for state in range(machine.states):
        lines.append(f"State: {state}{' {0}' if machine.accepting[state] else ''}")
        for target, condition in moves(machine, state):
            if alphabet.is_exclusive:
                label = _alternatives((machine.columns[state] == target)[machine.letter_class])
            else:
                label = _label(condition, alphabet)
            lines.append(f"[{label}] {target}")
    return "\n".join([*lines, "--END--"]) + "\n"


def _only(one: int, count: int) -> str:
    return "&".join(str(number) if number == one else f"!{number}" for number in range(count))


def _alternatives(letters: BoolArray) -> str:
    return " | ".join(f"@s{letter}" for letter in np.flatnonzero(letters).tolist())


def _label(condition: Formula, alphabet: Alphabet) -> str:
    """A guard in the spelling of HOA, with numbers for names; guards are disjunctions of conjunctions."""
    numbered = substituted(condition, {name: atom(str(place)) for name, place in alphabet.places.items()})
    return "t" if condition.op is Op.TRUE else str(numbered).replace('"', "").replace(" & ", "&")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


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
    if alphabet.is_small and states * alphabet.size > MAX_CELLS:
        raise LimitError(
            f"{states:,} states and {amount_of_letters(alphabet)} letters make a table of more than {MAX_CELLS:,} "
            "entries; leave out propositions that no label needs"
        )
    return _by_guards(items, alphabet, accepting, outputs, start)


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


def _by_guards(
    items: list[Any], alphabet: Alphabet, accepting: list[bool], outputs: list[float], start: int
) -> MooreMachine:
    """The machine of labels as guards; where none holds it is lost, in a state of its own."""
    parts: dict[str, Formula] = {str(number): atom(name) for number, name in enumerate(alphabet.symbols)}
    for name, meaning in _aliases(items):
        named = _named(meaning, parts, name)
        # "This symbol and no other" is short where exactly one holds.
        parts[str(name)] = guard(alphabet, letters_where(named, alphabet)) if alphabet.is_exclusive else named
    guards: list[dict[int, list[Formula]]] = [{} for _ in accepting]
    for state, target, label, implicit, place in _edges(items, len(accepting)):
        if label is None and not alphabet.is_small:
            raise MachineError(f"line {place.line}: edges without labels number all letters; label them")
        here = _one_letter(alphabet, implicit) if label is None else _named(label, parts, place)
        guards[state].setdefault(target, []).append(here)
    moves = [[(either(*labels), target) for target, labels in state.items()] for state in guards]
    lost = len(moves)
    machine = machine_of_moves(
        alphabet, [*moves, []], [*accepting, False], [*outputs, 0.0], start, rest=[lost] * (lost + 1)
    )
    if any(lost in machine.targets(state) for state in range(lost)):
        return machine
    return machine_of_moves(alphabet, moves, accepting, outputs, start)


def _one_letter(alphabet: Alphabet, letter: int) -> Formula:
    """What holds at one letter alone."""
    return guard(alphabet, np.arange(alphabet.size) == letter)


def _named(label: Formula, parts: Mapping[str, Formula], place: Token) -> Formula:
    """A label with names in the place of numbers and aliases."""
    for name in label.atoms():
        if name not in parts:
            raise MachineError(f"line {place.line}: a label cannot be read: there is no proposition or alias {name}")
    return substituted(label, parts)


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
    if len(token) > 9:
        raise MachineError(f"line {token.line}: the number {shorten(token)} is too large")
    return int(token)


def _unquoted(token: Token) -> str:
    if token.type != "TEXT":
        raise MachineError(f"line {token.line}: expected text in quotes, not '{token}'")
    return re.sub(r"\\(.)", r"\1", token[1:-1])
