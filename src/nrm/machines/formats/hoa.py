"""Machines in the Hanoi omega-automata format (HOA v1), for tools that read automata.

A machine reads finite traces; HOA speaks of infinite words. The convention is the one of Spot's `to_finite`: a Büchi
automaton with state-based acceptance, whose accepting states are those in which a finite trace may end. Potentials
and the kind of alphabet stand in headers of their own in lower case, which other tools may ignore. With an exclusive
alphabet, each symbol is a proposition, and an alias stands for "this one and no other"; other combinations have no
edge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from numpy.typing import ArrayLike

from nrm.aliases import BoolArray, State
from nrm.errors import LimitError, MachineError, NrmError, shorten
from nrm.logic import Formula, Op, atom, either, parse, step_value, substituted
from nrm.machines.alphabet import Alphabet
from nrm.machines.guards import Move, guard, letters_where, machine_of_moves, moves, read_guard
from nrm.machines.infinite import MAX_MARKS, InfiniteMachine, bits
from nrm.machines.moore import MooreMachine


def to_hoa(machine: MooreMachine, title: str = "") -> str:
    """The machine as HOA text. `from_hoa` reads it back."""
    levels = f"nrm-levels: {' '.join(_quoted(repr(level)) for level in machine.outputs.tolist())}"
    return _text(machine, title, ["acc-name: Buchi", "Acceptance: 1 Inf(0)", levels], machine.accepting.astype(int))


def infinite_to_hoa(machine: InfiniteMachine, title: str = "") -> str:
    """The machine of an infinite task as HOA text. `infinite_from_hoa` reads it back."""
    said = [f"nrm-marks: {' '.join(map(_quoted, machine.statements))}"] if machine.statements else []
    return _text(machine.moore, title, [f"Acceptance: {machine.count} {machine.acceptance}", *said], machine.marks)


def _text(machine: MooreMachine, title: str, acceptance: Sequence[str], marks: ArrayLike) -> str:
    """`marks`: (states,) the acceptance sets of each state, as bits."""
    alphabet = machine.alphabet
    spelling = alphabet.pick(_Aliases, _Labels)(machine)
    lines = [
        "HOA: v1",
        *([f"name: {_quoted(title)}"] if title else []),
        'tool: "nrm"',
        f"States: {machine.states}",
        f"Start: {machine.initial}",
        f"AP: {len(alphabet.symbols)} {' '.join(map(_quoted, alphabet.symbols))}",
        *acceptance,
        f"properties: trans-labels explicit-labels state-acc deterministic{spelling.properties}",
        f"nrm-kind: {alphabet.kind}",
        *spelling.headers,
        "--BODY--",
    ]
    for state, shown in enumerate(np.asarray(marks).tolist()):
        lines.append(f"State: {state}{f' {{{chr(32).join(map(str, bits(shown)))}}}' if shown else ''}")
        lines += [f"[{label}] {target}" for target, label in spelling.labels(state)]
    return "\n".join([*lines, "--END--"]) + "\n"


class _Labels:
    """How guards are written: with numbers for names, as disjunctions of conjunctions."""

    properties = " complete"

    def __init__(self, machine: MooreMachine) -> None:
        self.machine = machine
        self.headers: list[str] = []

    def labels(self, state: State) -> Iterator[tuple[State, str]]:
        names = {name: atom(str(place)) for name, place in self.machine.alphabet.places.items()}
        for target, condition in moves(self.machine, state):
            text = str(substituted(condition, names)).replace('"', "").replace(" & ", "&")
            yield target, "t" if condition.op is Op.TRUE else text


class _Aliases(_Labels):
    """The same where one symbol holds: by names for "this one and no other"."""

    properties = ""

    def __init__(self, machine: MooreMachine) -> None:
        super().__init__(machine)
        numbers = range(machine.alphabet.size)
        only = ("&".join(f"{'!' * (number != one)}{number}" for number in numbers) for one in numbers)
        self.headers = [f"Alias: @s{one} {literals}" for one, literals in enumerate(only)]

    def labels(self, state: State) -> Iterator[tuple[State, str]]:
        row = self.machine.columns[state][self.machine.letter_class]
        for target in self.machine.targets(state):
            yield target, " | ".join(f"@s{letter}" for letter in np.flatnonzero(row == target).tolist())


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


_GRAMMAR = r"""
start: header+ _BODY state* _END
header: HEADER (INT | TEXT | WORD | ALIAS | OPERATOR)*
state: _STATE LABEL? INT TEXT? SETS? edge*
edge: LABEL? INT CONJUNCT* SETS?

_BODY: "--BODY--"
_END: "--END--"
_STATE.3: /State\s*:/
HEADER.2: /[A-Za-z_][\w-]*\s*:/
WORD: /[A-Za-z_][\w-]*/
ALIAS: /@[\w-]+/
INT: /\d+/
TEXT: /"(?:\\.|[^"\\])*"/s
OPERATOR: /[!&|()]/
LABEL: /\[[^\]]*\]/
SETS: /\{[\d\s]*\}/
CONJUNCT: /&\s*\d+/
%ignore /\s+/
"""


@cache
def _lark() -> Lark:
    return Lark(_GRAMMAR, parser="lalr")


def from_hoa(text: str) -> MooreMachine:
    """Read a deterministic automaton with state-based Büchi acceptance as a machine on finite traces.

    Without potentials of ours, accepting states get potential 1 and others 0. Where no edge fires the trace is
    rejected for good, in a state of its own.
    """
    items, headers, alphabet, states, start = _read(text)
    accepting = _accepting(items, states, _acceptance(headers))
    outputs = _levels(headers, states) or [float(value) for value in accepting]
    most = 20_000_000
    if alphabet.is_small and states * alphabet.size > most:
        raise LimitError(
            f"{states:,} states and {alphabet.amount} letters make a table of more than {most:,} "
            "entries; leave out propositions that no label needs"
        )
    moves = _moves(items, alphabet, states, _unmarked)
    # Where no label holds it is lost, in a state of its own.
    machine = machine_of_moves(
        alphabet, [*moves, []], [*accepting, False], [*outputs, 0.0], start, rest=[states] * (states + 1)
    )
    if any(states in machine.targets(state) for state in range(states)):
        return machine
    return machine_of_moves(alphabet, moves, accepting, outputs, start)


def infinite_from_hoa(text: str) -> InfiniteMachine:
    """Read a deterministic automaton on infinite words, with acceptance on states or edges.

    A state is split by the acceptance sets of the edges that lead to it. Where no edge fires, the word is rejected.
    """
    items, headers, alphabet, states, start = _read(text)
    condition = _condition(headers)
    own = [0] * states
    for item in _of_kind(items, "state"):
        parts = _tokens(item)
        own[_state(parts["INT"], states)] = _bits(parts, len(condition))
    split = {(start, 0): 0}

    def entered(target: State, parts: Mapping[str, Token]) -> State:
        return split.setdefault((target, _bits(parts, len(condition))), len(split))

    moves = _moves(items, alphabet, states, entered)
    sink, refused = len(split), len(condition) if condition.all() else int(condition.argmin())
    marks = [own[state] | edge for state, edge in split]
    rows = [moves[state] for state, _ in split]
    moore = machine_of_moves(alphabet, [*rows, []], [False] * (sink + 1), [*marks, refused], rest=[sink] * (sink + 1))
    if condition.all() and any(sink in moore.targets(state) for state in range(sink)):
        condition = np.concatenate([condition, ~condition])  # a mark for what is rejected
    said = tuple(_unquoted(token) for token in headers.get("nrm-marks", []))
    return InfiniteMachine(moore, condition, said).reduced()


def _condition(headers: Mapping[str, list[Token]]) -> BoolArray:
    """(sets,) the acceptance condition."""
    count, *said = headers.get("Acceptance") or [Token("INT", "")]
    text = re.sub(r"\b[tf]\b", lambda one: {"t": "true", "f": "false"}[one[0]], "".join(said))
    text = re.sub(r"(Inf|Fin)\((\d+)\)", lambda one: f'{"!" * (one[1] == "Fin")}"{one[2]}"', text)
    try:
        formula = parse(text)
        marks = int(count)
        if marks > MAX_MARKS or any(int(name) >= marks for name in formula.atoms()):
            raise ValueError
        sets = np.arange(1 << marks)
        truth = step_value(formula, lambda mark: (sets >> int(mark) & 1).astype(np.bool_))
    except (NrmError, ValueError, KeyError):
        raise MachineError(
            f"the acceptance '{' '.join((count, *said))}' cannot be read: a number of sets, at most {MAX_MARKS}, and a "
            "Boolean combination of Inf(i) and Fin(i)"
        ) from None
    return np.broadcast_to(truth, sets.shape).astype(np.bool_)


def _bits(parts: Mapping[str, Token], sets: int) -> int:
    found = sum({1 << mark for mark in _sets(parts)})
    if found >= sets:
        raise MachineError(f"line {parts['SETS'].line}: an acceptance set that the header does not have")
    return found


def _unmarked(target: State, parts: Mapping[str, Token]) -> State:
    """The target of an edge that has no acceptance sets."""
    if _sets(parts):
        raise MachineError(
            f"line {parts['INT'].line}: acceptance on edges; make it state-based (autfilt -S), or read the automaton "
            "as an infinite task (--logic ltl)"
        )
    return target


def _read(text: str) -> tuple[list[Any], dict[str, list[Token]], Alphabet, int, State]:
    """The items, headers, alphabet, number of states and initial state of a text."""
    items = _parsed(text)
    headers = _headers(items)
    states = _number(headers, "States")
    # Checked before a table is made, for a few bytes can ask for gigabytes.
    if states > len(text):
        raise MachineError(f"the header says {states:,} states, more than the file has room for")
    start = _number(headers, "Start")
    if start >= states:
        raise MachineError(f"the initial state {start} is not a state (0 to {states - 1})")
    return items, headers, _alphabet(headers), states, start


def _parsed(text: str) -> list[Any]:
    """The headers, aliases and states, one after the other."""
    try:
        return _lark().parse(_without_comments(text)).children
    except UnexpectedToken as error:
        if error.token.type == "$END":
            raise MachineError("the automaton ends too early; is the file whole?") from None
        raise MachineError(f"line {error.line}: unexpected '{shorten(error.token)}'") from None
    except UnexpectedCharacters as error:
        line = text.split("\n")[error.line - 1]
        raise MachineError(f"line {error.line} is not HOA: {shorten(line)}") from None


def _without_comments(text: str) -> str:
    """The text with its comments, which nest, as empty lines; what stands in quotes is no comment."""
    innermost = re.compile(r'("(?:\\.|[^"\\])*")|/\*(?:(?!/\*|\*/).)*\*/', re.DOTALL)
    while (without := innermost.sub(lambda match: match[1] or "\n" * match[0].count("\n"), text)) != text:
        text = without
    return text


def _headers(items: list[Any]) -> dict[str, list[Token]]:
    headers: dict[str, list[Token]] = {}
    for title, *values in (item.children for item in items if item.data == "header"):
        name = title.rstrip(": \t\r\n")
        if name == "Start" and name in headers:
            raise MachineError(f"line {title.line}: several initial states; machines are deterministic")
        if name[0].isupper() and name not in ("HOA", "States", "Start", "AP", "Acceptance", "Alias"):
            raise MachineError(f"line {title.line}: the header '{name}' is not supported")  # as the format asks
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
            f"the acceptance is '{said or 'missing'}'; a machine on finite traces has Büchi acceptance, 1 Inf(0); an "
            "infinite task is read with --logic ltl (nrm.machines.load_infinite)"
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
    for item in _of_kind(items, "state"):
        parts = _tokens(item)
        accepting[_state(parts["INT"], states)] = accepts(_sets(parts))
    return accepting


def _of_kind(items: list[Any], kind: str) -> Iterator[Any]:
    return (item for item in items if not isinstance(item, Token) and item.data == kind)


def _tokens(item: Any) -> dict[str, Token]:
    """The parts of a state or edge, by their kind; each occurs at most once, but for the states of a conjunction."""
    return {part.type: part for part in item.children if isinstance(part, Token)}


def _sets(parts: Mapping[str, Token]) -> list[int]:
    return [int(number) for number in parts["SETS"].strip("{}").split()] if "SETS" in parts else []


def _moves(
    items: list[Any], alphabet: Alphabet, states: int, entered: Callable[[State, Mapping[str, Token]], State]
) -> list[list[Move]]:
    """The guards of each state, and where they lead; `entered`: the number of an edge's target, from its parts."""
    names = {str(number): f'"{name}"' for number, name in enumerate(alphabet.symbols)} | {"t": "true", "f": "false"}
    for title, *values in (item.children for item in _of_kind(items, "header")):
        if title.startswith("Alias"):
            if len(values) < 2:
                raise MachineError(f"line {title.line}: an alias has a name and a meaning")
            meaning = _guard("".join(values[1:]), names, title.line)
            # "This symbol and no other" is short where exactly one holds.
            names[values[0]] = (
                f"({guard(alphabet, letters_where(meaning, alphabet)) if alphabet.is_small else meaning})"
            )
    moves: list[dict[int, list[Formula]]] = [{} for _ in range(states)]
    for item in _of_kind(items, "state"):
        own, implicit = _tokens(item), 0
        here = moves[_state(own["INT"], states)]
        for edge in _of_kind(item.children, "edge"):
            parts = _tokens(edge)
            place = parts["INT"]
            if "CONJUNCT" in parts:
                raise MachineError(f"line {place.line}: an edge to several states at once; machines are deterministic")
            label = parts.get("LABEL", own.get("LABEL"))
            if label is None and not alphabet.is_small:
                raise MachineError(f"line {place.line}: edges without labels number all letters; label them")
            if label is None:
                taken = guard(alphabet, np.arange(alphabet.size) == implicit)
                implicit += 1
            else:
                taken = _guard(label[1:-1], names, place.line or 0)
            here.setdefault(entered(_state(place, states), parts), []).append(taken)
    return [[(either(*labels), target) for target, labels in state.items()] for state in moves]


def _guard(label: str, names: Mapping[str, str], line: int) -> Formula:
    """A label as a guard, with names in the place of numbers and aliases."""

    def named(found: str) -> str:
        if found not in names:
            raise MachineError(f"line {line}: a label cannot be read: there is no proposition or alias {found}")
        return names[found]

    return read_guard(label, re.compile(r"@[\w-]+|\w+"), named, line)


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
