"""The text files of the original reward machine code (Toro Icarte et al.), read and written.

    0        # initial state
    [2]      # terminal states
    (0,0,'!e&!n',ConstantRewardFunction(0))
    (0,1,'e&!n',ConstantRewardFunction(0))
    (1,2,'g&!n',ConstantRewardFunction(1))

The older form without the second line is read too: states without edges, or with a single 'True' loop, are terminal.
What is written keeps to what the original code reads: guards are disjunctions of conjunctions without spaces. What that
code does not know (potentials, acceptance, the alphabet) stands in a comment behind the terminal states.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeVar

import msgspec
import numpy as np

from nrm.errors import MachineError, NrmError, shorten, unknown
from nrm.logic import Formula, Op, name_problem
from nrm.machines.alphabet import Alphabet
from nrm.machines.guards import moves, read_guard
from nrm.machines.moore import MooreMachine
from nrm.machines.reward_machine import FallOff, Overlap, RewardEdge, RewardMachine, StateName
from nrm.machines.task import alphabet_of

Value = TypeVar("Value")
_NOTE = "nrm:"
_CONSTANT = re.compile(r"(?:\w+\.)*ConstantRewardFunction\(\s*(?:\w+\s*=)?([^()]*)\)")
_NAMES = re.compile(r'"[^"]*"|[^&|!~()"\s][^&|!~()"]*')
_SPACE = re.compile(r'("[^"]*")|\s+')


def parse_reward_machine(
    text: str,
    *,
    symbols: Alphabet | Iterable[str] | None = None,
    propositions: Iterable[str] | None = None,
    fall_off: FallOff | None = None,
    overlap: Overlap | None = None,
    accepting: Iterable[StateName] | None = None,
    rename: Mapping[str, str] | None = None,
) -> RewardMachine:
    """Read the text of a reward machine file.

    `symbols` (exactly one holds at each step) or `propositions` (any may): what can hold; by default what the guards
    name. `fall_off`, `overlap`: what to do about letters without an edge, or with several; by default an error.
    `accepting`: the states that count as success. `rename`: other names for propositions whose names this language
    reserves, as {"F": "f"}.
    """
    lines = list(_values(text))
    if len(lines) < 2:
        raise MachineError(
            "the file says too little: it has the initial state, the terminal states, and edges (u, v, 'guard', "
            "ConstantRewardFunction(r)), each on a line"
        )
    (first, start), (second, ends), *_ = lines
    initial: StateName = _read(start, StateName, first, "the initial state is a number or a name")
    older = isinstance(ends, tuple) and len(ends) == 4
    edges = [_edge(value, number, rename or {}) for number, value in lines[1 if older else 2 :]]
    for name in rename or {}:
        if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            raise MachineError(f"rename: no guard names '{name}'")
    listed = (
        _detected(edges) if older else _read(ends, list[StateName], second, "the terminal states are a list, as [2]")
    )
    terminals = tuple(listed)
    note = _note(text.splitlines()[second - 1])
    alphabet = (
        alphabet_of(symbols, propositions)
        or _noted(note, "symbols", Alphabet.exclusive)
        or _noted(note, "propositions", Alphabet.propositional)
        or _named(edges)
    )
    for edge in edges:
        _check_names(edge, alphabet)
    known = {initial, *terminals, *(name for edge in edges for name in (edge.source, edge.target))}

    def among(names: list[StateName]) -> tuple[StateName, ...]:
        if not known.issuperset(names):
            raise ValueError(names)
        return tuple(names)

    return RewardMachine(
        alphabet,
        initial,
        terminals,
        tuple(edges),
        accepting=_noted(note, "accepting", among) if accepting is None else tuple(accepting),
        levels=_noted(note, "levels", lambda values: tuple(map(float, values))),
        fall_off=fall_off or "error",
        overlap=overlap or "error",
    )


def to_reward_file(machine: MooreMachine) -> str:
    """The machine as a reward machine file; each edge pays the difference of potentials."""
    alphabet = machine.alphabet
    ends = [state for state in np.flatnonzero(machine.absorbing).tolist() if state != machine.initial]
    note = {
        f"{alphabet.noun}s": list(alphabet.symbols),
        "levels": machine.outputs.tolist(),
        "accepting": np.flatnonzero(machine.accepting).tolist(),
    }
    lines = [
        f"{machine.initial} # initial state",
        f"{ends} # terminal states; {_NOTE} {json.dumps(note)}",
    ]
    for source in range(machine.states):
        if source in ends:
            continue
        for target, condition in moves(machine, source):
            guard = "True" if condition.op is Op.TRUE else _SPACE.sub(lambda m: m[1] or "", str(condition))
            paid = _decimal(float(machine.outputs[target] - machine.outputs[source]))
            lines.append(f"({source},{target},{guard!r},ConstantRewardFunction({paid}))")
    return "\n".join(lines) + "\n"


def _decimal(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _values(text: str) -> Iterator[tuple[int, Any]]:
    """The number and the value of each line that has one; a constant reward stands for the function that pays it."""
    for number, line in enumerate(text.splitlines(), 1):
        written = line.strip()
        if not written or written.startswith("#"):
            continue
        try:
            yield number, ast.literal_eval(_CONSTANT.sub(r"\1", written))
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            raise MachineError(
                f"line {number} is neither a state, a list of states nor an edge (u, v, 'guard', "
                f"ConstantRewardFunction(r)) with a constant reward: {shorten(written)}"
            ) from None


def _read(value: Any, kind: Any, line: int, what: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise MachineError(f"line {line}: {what}, not {shorten(repr(value))}: {error}") from None


def _edge(value: Any, line: int, rename: Mapping[str, str]) -> RewardEdge:
    kind = tuple[StateName, StateName, str, int | float]
    source, target, guard, reward = _read(value, kind, line, "an edge is (u, v, 'guard', ConstantRewardFunction(r))")
    if not abs(reward) <= sys.float_info.max:
        raise MachineError(f"line {line}: a reward is a finite number, not {shorten(str(reward))}")
    # The decimal text is what was meant: 0.1 is a tenth, and ten of them make 1.
    exact = Fraction(repr(reward)) if isinstance(reward, float) else Fraction(reward)
    return RewardEdge(source, target, _guard(guard, line, rename), exact, line)


def _guard(text: str, line: int, rename: Mapping[str, str]) -> Formula:
    def named(found: str) -> str:
        bare = found.strip()
        if bare in ("True", "False", "true", "false"):
            return bare
        name = bare.strip('"')
        name = rename.get(name, name)
        if problem := name_problem(name, "proposition"):
            raise MachineError(f"line {line}: in the guard '{text}': {problem} (rename={{{name!r}: …}})")
        return f'"{name}"'

    return read_guard(text, _NAMES, named, line)


def _detected(edges: list[RewardEdge]) -> list[StateName]:
    """The terminal states of the older form: those without edges, and those with one edge that always loops."""
    names = dict.fromkeys(name for edge in edges for name in (edge.source, edge.target))
    leaving = {name: [edge for edge in edges if edge.source == name] for name in names}
    return [
        name
        for name, out in leaving.items()
        if not out or (len(out) == 1 and out[0].target == name and out[0].guard.op is Op.TRUE)
    ]


def _named(edges: list[RewardEdge]) -> Alphabet:
    """The propositions that the guards name, in order of appearance."""
    names = tuple(dict.fromkeys(name for edge in edges for name in edge.guard.atoms()))
    if not names:
        raise MachineError("the guards name no proposition; say what can hold: propositions=… or symbols=…")
    return Alphabet.propositional(names)


def _check_names(edge: RewardEdge, alphabet: Alphabet) -> None:
    for name in edge.guard.atoms():
        if name not in alphabet.places:
            problem = unknown(alphabet.noun, name, alphabet.symbols, f" in the guard '{edge.guard}'")
            raise MachineError(f"line {edge.line}: {problem}")


def _note(line: str) -> dict[str, Any]:
    """What `to_reward_file` left in a comment; nothing when there is none or it cannot be read."""
    _, found, comment = line.partition(f"# terminal states; {_NOTE} ")
    try:
        note = json.loads(comment) if found else {}
    except ValueError:
        return {}
    return note if isinstance(note, dict) else {}


def _noted(note: Mapping[str, Any], key: str, read: Callable[[Any], Value]) -> Value | None:
    """What a note says; nothing where it says nothing that can be used, since people edit files."""
    try:
        return read(note[key])
    except (KeyError, NrmError, TypeError, ValueError, OverflowError):
        return None
