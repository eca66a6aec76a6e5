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
import math
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from nrm.errors import FormulaError, MachineError, NrmError, shorten, unknown
from nrm.logic import Formula, Op, name_problem, parse
from nrm.machines.alphabet import Alphabet, alphabet_of
from nrm.machines.guards import moves
from nrm.machines.moore import MooreMachine
from nrm.machines.reward_machine import FallOff, Overlap, RewardEdge, RewardMachine, StateName

Value = TypeVar("Value")
_NOTE = "nrm:"
_TOKENS = re.compile(r'"[^"]*"|&&?|\|\|?|[!~()]|[^&|!~()"]+')
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
    lines = [(number, node) for number, line in enumerate(text.splitlines(), 1) for node in _parsed(line, number)]
    if len(lines) < 2:
        raise MachineError(
            "the file says too little: its first line is the initial state, its second lists the terminal states, and "
            "each line after them is an edge (u, v, 'guard', ConstantRewardFunction(r))"
        )
    (first, node), (second, ends), *_ = lines
    initial = _state(node, first, "the initial state")
    listed = _listed(ends, second)
    edges = [_edge(node, number, rename or {}) for number, node in lines[1 if listed is None else 2 :]]
    for name in rename or {}:
        if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            raise MachineError(f"rename: no guard names '{name}'")
    terminals = tuple(_detected(edges)) if listed is None else tuple(listed)
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
        "symbols" if alphabet.is_exclusive else "propositions": list(alphabet.symbols),
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


def _parsed(line: str, number: int) -> list[ast.expr]:
    """The expression of a line; nothing for a comment or an empty line."""
    try:
        body = ast.parse(line.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        body = [ast.Pass()]
    if body and not (len(body) == 1 and isinstance(body[0], ast.Expr)):
        raise MachineError(
            f"line {number} is neither a state, a list of states nor an edge (u, v, 'guard', "
            f"ConstantRewardFunction(r)): {shorten(line.strip())}"
        )
    return [statement.value for statement in body if isinstance(statement, ast.Expr)]


def _state(node: ast.expr, line: int, what: str) -> StateName:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        if isinstance(value, int) and not isinstance(value, bool):
            return -value
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, str)) and not isinstance(node.value, bool):
        return node.value
    raise MachineError(f"line {line}: {what} must be a number or a name, not {shorten(ast.unparse(node))}")


def _listed(node: ast.expr, line: int) -> list[StateName] | None:
    """The states of a list; None for an edge: the older form has no list."""
    if isinstance(node, ast.Tuple) and len(node.elts) == 4:
        return None
    if not isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        raise MachineError(
            f"line {line}: the second line lists the terminal states, as [2], not {shorten(ast.unparse(node))}"
        )
    return [_state(each, line, "a terminal state") for each in node.elts]


def _edge(node: ast.expr, line: int, rename: Mapping[str, str]) -> RewardEdge:
    if not isinstance(node, ast.Tuple) or len(node.elts) != 4:
        raise MachineError(
            f"line {line}: an edge is (u, v, 'guard', ConstantRewardFunction(r)), not {shorten(ast.unparse(node))}"
        )
    source, target, guard, reward = node.elts
    if not isinstance(guard, ast.Constant) or not isinstance(guard.value, str):
        raise MachineError(f"line {line}: a guard is text in quotes, not {shorten(ast.unparse(guard))}")
    return RewardEdge(
        _state(source, line, "the state that an edge leaves"),
        _state(target, line, "the state that an edge leads to"),
        _guard(guard.value, line, rename),
        _reward(reward, line),
        line,
    )


def _reward(node: ast.expr, line: int) -> Fraction:
    given = node
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).rsplit(".", 1)[-1]
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        if name != "ConstantRewardFunction" or len(values) != 1:
            raise MachineError(
                f"line {line}: the reward is {shorten(ast.unparse(node))}; only constant rewards "
                "(ConstantRewardFunction) can be part of a machine, others depend on the environment"
            )
        given = values[0]
    try:
        value = ast.literal_eval(given)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        value = None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not _finite(value):
        raise MachineError(f"line {line}: a reward is a finite number, not {shorten(ast.unparse(node))}")
    # The decimal text is what was meant: 0.1 is a tenth, and ten of them make 1.
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _guard(text: str, line: int, rename: Mapping[str, str]) -> Formula:
    words = []
    for token in _TOKENS.findall(text):
        bare = token.strip()
        if not bare or bare[0] in "&|!~()":
            words.append("!" if bare == "~" else bare)
        elif bare in ("True", "False", "true", "false"):
            words.append(bare)
        else:
            name = bare[1:-1] if bare.startswith('"') else bare
            name = rename.get(name, name)
            problem = name_problem(name, "proposition")
            if problem:
                raise MachineError(f"line {line}: in the guard '{text}': {problem} (rename={{{name!r}: …}})")
            words.append(f'"{name}"')
    try:
        return parse(" ".join(words))
    except FormulaError as error:
        reason = str(error).splitlines()[0].replace("formula", "guard")
        raise MachineError(f"line {line}: the guard '{shorten(text)}' cannot be read: {reason}") from None


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
            what = "symbol" if alphabet.is_exclusive else "proposition"
            problem = unknown(what, name, alphabet.symbols, f" in the guard '{edge.guard}'")
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
