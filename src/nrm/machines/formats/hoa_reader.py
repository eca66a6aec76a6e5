"""Reading HOA automata (v1) as machines on finite traces; the convention stands in `hoa_writer`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from nrm.aliases import BoolArray, IntArray
from nrm.errors import LimitError, MachineError, shorten
from nrm.machines.alphabet import Alphabet
from nrm.machines.moore import MooreMachine

_TOKEN = re.compile(
    r'\s+|(?P<text>"(?:\\.|[^"\\])*")|(?P<end>--[A-Z]+--)|(?P<header>[A-Za-z_][\w-]*)\s*:'
    r"|(?P<alias>@[\w-]+)|(?P<word>[A-Za-z_][\w-]*)|(?P<number>\d+)|(?P<mark>[!&|(){}\[\]])",
    re.DOTALL,
)
MAX_DIGITS = 9
"""Longest number that is read."""
MAX_CELLS = 20_000_000
"""Most entries of the table, states times letters, that is built."""
_WHOLE = ("States", "Start", "AP", "Alias", "Acceptance")
"""Headers with a capital that are understood; the format asks to refuse others."""


def from_hoa(text: str) -> MooreMachine:
    """Read a deterministic automaton with state-based Büchi acceptance as a machine on finite traces.

    Without levels of ours, accepting states get level 1 and others 0. Where no edge fires the trace is rejected for
    good, in a state of its own.
    """
    return _Reader(_tokens(text)).machine()


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int


def _tokens(text: str) -> list[_Token]:
    found, position, line = [], 0, 1
    while position < len(text):
        if text.startswith("/*", position):
            past = _past_comment(text, position, line)
            line += text.count("\n", position, past)
            position = past
            continue
        match = _TOKEN.match(text, position)
        if match is None:
            raise MachineError(f"line {line} is not HOA: {shorten(text[position:].splitlines()[0])}")
        if match.lastgroup is not None:
            found.append(_Token(match.lastgroup, match.group(match.lastgroup), line))
            if match.lastgroup == "number" and len(match.group()) > MAX_DIGITS:
                raise MachineError(f"line {line}: the number {shorten(match.group())} is too large")
        line += match.group().count("\n")
        position = match.end()
    return found


def _past_comment(text: str, position: int, line: int) -> int:
    """The place behind a comment; comments nest."""
    depth = 0
    for mark in re.finditer(r"/\*|\*/", text[position:]):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return position + mark.end()
    raise MachineError(f"line {line}: a comment that does not end")


@dataclass
class _Reader:
    """Reads tokens from the first to the last."""

    tokens: list[_Token]
    place: int = 0
    headers: dict[str, list[_Token]] = field(default_factory=dict)
    aliases: list[list[_Token]] = field(default_factory=list)

    def machine(self) -> MooreMachine:
        self._read_headers()
        alphabet = self._alphabet()
        accepts = self._acceptance()
        masks = alphabet.letter_masks().astype(bool)
        named: dict[str, BoolArray] = {}
        for name, *label in self.aliases:
            named[name.text] = _evaluate(label, masks, named)
        states = self._states(alphabet)
        table, accepting = self._body(alphabet, states, masks, named, accepts)
        outputs = self._levels(states) or [float(value) for value in accepting]
        if (table < 0).any():
            table = np.vstack([table, np.full((1, alphabet.size), -1, dtype=np.int32)])
            table[table < 0] = states
            accepting, outputs = [*accepting, False], [*outputs, 0.0]
        return MooreMachine.from_table(alphabet, table, accepting, outputs, self._start(states))

    def _read_headers(self) -> None:
        while not self._at("end"):
            token = self._next("header")
            name = token.text
            values = []
            while not self._at("header") and not self._at("end"):
                values.append(self._next())
            if name == "Alias":
                if not values:
                    raise MachineError(f"line {token.line}: an alias without a name; write Alias: @name label")
                self.aliases.append(values)
            elif name == "Start" and name in self.headers:
                raise MachineError(f"line {token.line}: several initial states; machines are deterministic")
            elif name[0].isupper() and name not in (*_WHOLE, "HOA"):
                raise MachineError(f"line {token.line}: the header '{name}' is not supported")
            else:
                self.headers[name] = values
        if next(iter(self.headers), "") != "HOA" or [token.text for token in self.headers["HOA"]] != ["v1"]:
            raise MachineError("this is not HOA text: its first line is 'HOA: v1'")
        if self._next().text != "--BODY--":
            raise MachineError("the automaton has no body")

    def _alphabet(self) -> Alphabet:
        kind = self.headers.get("nrm-kind", [])
        count, *quoted = self.headers.get("AP") or [_Token("number", "0", 1)]
        names = [_unquoted(token) for token in quoted]
        if count.text != str(len(names)):
            raise MachineError(
                f"line {count.line}: AP says {shorten(count.text)} propositions, but {len(names)} are named"
            )
        if kind and kind[0].text == "exclusive":
            return Alphabet.exclusive(names)
        if not names:
            raise MachineError("the automaton has no propositions (AP)")
        return Alphabet.propositional(names)

    def _acceptance(self) -> Callable[[list[int]], bool]:
        said = "".join(token.text for token in self.headers.get("Acceptance", []))
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

    def _count(self, name: str) -> int:
        values = self.headers.get(name, [])
        if len(values) != 1 or values[0].kind != "number":
            raise MachineError(f"the header '{name}' must be there and hold a number")
        return int(values[0].text)

    def _states(self, alphabet: Alphabet) -> int:
        """How many states there are; checked before a table is made, for a few bytes can ask for gigabytes."""
        states = self._count("States")
        if states > len(self.tokens):
            raise MachineError(f"the header says {states:,} states, more than the file has room for")
        if states * alphabet.size > MAX_CELLS:
            raise LimitError(
                f"{states:,} states and {alphabet.size:,} letters make a table of more than {MAX_CELLS:,} entries; "
                "leave out propositions that no label needs"
            )
        return states

    def _start(self, states: int) -> int:
        start = self._count("Start")
        if start >= states:
            raise MachineError(f"the initial state {start} is not a state (0 to {states - 1})")
        return start

    def _levels(self, states: int) -> list[float] | None:
        values = self.headers.get("nrm-levels")
        if values is None:
            return None
        try:
            levels = [float(_unquoted(token)) for token in values]
        except ValueError:
            raise MachineError("'nrm-levels' holds something that is no number") from None
        if len(levels) != states:
            raise MachineError(f"'nrm-levels' has {len(levels)} numbers for {states} states")
        return levels

    def _body(
        self,
        alphabet: Alphabet,
        states: int,
        masks: BoolArray,
        named: Mapping[str, BoolArray],
        accepts: Callable[[list[int]], bool],
    ) -> tuple[IntArray, list[bool]]:
        table = np.full((states, alphabet.size), -1, dtype=np.int32)
        accepting = [accepts([])] * states
        while not self._at("end"):
            if self._next("header").text != "State":
                raise MachineError(f"line {self.tokens[self.place - 1].line}: only states stand in the body")
            shared = self._labelled(masks, named)
            state = self._state(states)
            if self._at("text"):
                self._next()
            accepting[state] = accepts(self._sets())
            implicit = 0
            while self._at("mark", "[") or self._at("number"):
                line = self.tokens[self.place].line
                letters = self._labelled(masks, named)
                if letters is None and shared is None:  # the n-th edge without a label is that of letter n
                    letters = np.arange(alphabet.size) == implicit
                    implicit += 1
                here = shared if letters is None else letters
                assert here is not None
                target = self._state(states)
                if self._at("mark", "&"):
                    raise MachineError(f"line {line}: an edge to several states at once; machines are deterministic")
                if self._sets():
                    raise MachineError(f"line {line}: acceptance on edges; make it state-based (autfilt -S)")
                both = here & (table[state] >= 0) & (table[state] != target)
                if both.any():
                    letter = alphabet.letter_name(int(np.flatnonzero(both)[0]))
                    raise MachineError(
                        f"state {state} is not deterministic: the edges to {int(table[state][both][0])} and to "
                        f"{target} (line {line}) both fire on '{letter}'"
                    )
                table[state, here] = target
        return table, accepting

    def _labelled(self, masks: BoolArray, named: Mapping[str, BoolArray]) -> BoolArray | None:
        if not self._at("mark", "["):
            return None
        self._next()
        label = []
        while not self._at("mark", "]"):
            label.append(self._next())
        self._next()
        return _evaluate(label, masks, named)

    def _state(self, states: int) -> int:
        token = self._next("number")
        if int(token.text) >= states:
            raise MachineError(f"line {token.line}: there is no state {token.text} (0 to {states - 1})")
        return int(token.text)

    def _sets(self) -> list[int]:
        found = []
        if self._at("mark", "{"):
            self._next()
            while not self._at("mark", "}"):
                found.append(int(self._next("number").text))
            self._next()
        return found

    def _at(self, kind: str, text: str | None = None) -> bool:
        if self.place >= len(self.tokens):
            raise MachineError("the automaton ends too early; is the file whole?")
        token = self.tokens[self.place]
        return token.kind == kind and text in (None, token.text)

    def _next(self, kind: str | None = None) -> _Token:
        if kind is not None and not self._at(kind):
            token = self.tokens[self.place]
            raise MachineError(f"line {token.line}: expected a {kind}, not '{shorten(token.text)}'")
        self._at("")
        self.place += 1
        return self.tokens[self.place - 1]


def _unquoted(token: _Token) -> str:
    if token.kind != "text":
        raise MachineError(f"line {token.line}: expected text in quotes, not '{token.text}'")
    return re.sub(r"\\(.)", r"\1", token.text[1:-1])


_BINDING = {"!": 3, "&": 2, "|": 1}


def _evaluate(label: list[_Token], masks: BoolArray, named: Mapping[str, BoolArray]) -> BoolArray:
    """(letters,) where a label holds; two stacks, so that depth costs no recursion."""
    values: list[BoolArray] = []
    waiting: list[str] = []

    def settle(binding: int) -> None:
        while waiting and waiting[-1] != "(" and _BINDING[waiting[-1]] >= binding:
            mark = waiting.pop()
            last = values.pop()
            values.append(~last if mark == "!" else values.pop() & last if mark == "&" else values.pop() | last)

    try:
        for token in label:
            if token.text in ("!", "("):
                waiting.append(token.text)
            elif token.text in ("&", "|"):
                settle(_BINDING[token.text])
                waiting.append(token.text)
            elif token.text == ")":
                settle(0)
                waiting.pop()
            elif token.kind == "alias":
                values.append(named[token.text])
            elif token.kind == "number":
                values.append(masks[:, int(token.text)])
            else:
                values.append(np.full(len(masks), {"t": True, "f": False}[token.text]))
        settle(0)
        (result,) = values
        if waiting:
            raise ValueError("a parenthesis that is not closed")
    except (IndexError, KeyError, ValueError):
        line = label[0].line if label else 0
        written = " ".join(token.text for token in label)
        raise MachineError(f"line {line}: the label [{shorten(written)}] cannot be read") from None
    return result
