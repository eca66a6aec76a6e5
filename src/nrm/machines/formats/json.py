"""Machines as plain dictionaries and as JSON.

The file form has a full table: `transitions[state][letter]`, letters in the order of `symbols`, or, for propositions,
of `letters`; where propositions are many, the decision diagram of the moves. The hand-written form names its states and
guards its moves; all are read by `machine_from_dict`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from nrm.aliases import Json
from nrm.automata import read_diagram
from nrm.errors import MachineError, suggestion, unknown
from nrm.logic import parse
from nrm.machines.alphabet import Alphabet
from nrm.machines.guards import Move, machine_of_moves
from nrm.machines.moore import MooreMachine

StateName = int | str


class _Diagram(msgspec.Struct, forbid_unknown_fields=True):
    order: list[int]
    levels: list[int]
    low: list[int]
    high: list[int]
    roots: list[int]


class _Described(msgspec.Struct):
    """What a dictionary may say of a machine."""

    symbols: list[str]
    outputs: list[float] | dict[StateName, float]
    kind: str = "exclusive"
    letters: list[list[str]] | None = None
    initial: StateName | None = None
    accepting: list[bool | int | str] | None = None
    transitions: list[list[int]] | dict[StateName, dict[str, StateName]] | None = None
    moves: list[list[tuple[str, int]]] | None = None
    """For each state, guards and where they lead; no longer written."""
    diagram: _Diagram | None = None
    format: Literal["nrm-machine"] = "nrm-machine"
    version: Literal[1, 2, 3] = 1
    """Of files with a full table; with guards; and with a diagram, for many propositions."""


def machine_to_dict(machine: MooreMachine) -> Json:
    """The machine as JSON values; `machine_from_dict` reads it back."""
    moves = machine.moves.described()
    return {
        "format": "nrm-machine",
        "version": 1 if "transitions" in moves else 3,
        **machine.alphabet.described(),
        "initial": machine.initial,
        **moves,
        "accepting": machine.accepting.tolist(),
        "outputs": machine.outputs.tolist(),
    }


def machine_from_dict(data: Mapping[str, Any]) -> MooreMachine:
    """A machine from its file form, or from a hand-written dictionary with named states.

    Hand-written: `{"symbols": ["a", "b"], "initial": "start", "transitions": {"start": {"a": "won", "else": "start"},
    "won": {"true": "won"}}, "outputs": {"start": 0, "won": 100}, "accepting": ["won"]}`. Guards are Boolean formulas;
    every letter must match exactly one, and "else" takes the rest. States are numbered in the order of `transitions`.
    """
    if not isinstance(data, Mapping):
        raise MachineError(f"a machine is a dictionary, not {type(data).__name__}")
    for key in data:
        if key not in _Described.__struct_fields__:
            raise MachineError(unknown("key", key, _Described.__struct_fields__, " in the machine"))
    try:
        given = msgspec.convert(dict(data), _Described)
    except msgspec.ValidationError as error:
        raise MachineError(f"the description of the machine is malformed: {error}") from None
    alphabet = Alphabet.of_kind(given.symbols, given.kind)
    if given.letters is not None:
        alphabet = alphabet.restricted(given.letters)
    forms = (given.transitions, given.moves, given.diagram)
    match [moves for moves in forms if moves is not None]:
        case [_Diagram() as diagram]:
            moves = read_diagram(len(alphabet.symbols), msgspec.structs.asdict(diagram))
            return MooreMachine.of_moves(alphabet, moves, *_numbered_states(given, moves.states))
        case [dict() as named]:
            return _from_names(alphabet, named, given)
        case [list() as rows] if given.moves is not None:
            guards = [[(parse(guard), target) for guard, target in row] for row in rows]
            return machine_of_moves(alphabet, guards, *_numbered_states(given, len(rows)))
        case [list() as rows]:
            return MooreMachine.from_table(alphabet, rows or [[]], *_numbered_states(given, len(rows)))
    raise MachineError("a machine has one of the keys 'transitions' (a table, or named states), 'moves' and 'diagram'")


def machine_json(machine: MooreMachine) -> str:
    """The JSON text of a machine, a line per state and field."""
    parts = []
    for key, value in machine_to_dict(machine).items():
        if key == "transitions":
            rows = ",\n    ".join(json.dumps(row, ensure_ascii=False) for row in value)
            parts.append(f'  "{key}": [\n    {rows}\n  ]')
        else:
            parts.append(f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _numbered_states(given: _Described, count: int) -> tuple[list[bool], list[float], int]:
    """Which states accept, the output of each, and the initial one."""
    accepting = [False] * count if given.accepting is None else given.accepting
    initial = 0 if given.initial is None else given.initial
    if not isinstance(given.outputs, list) or not all(isinstance(value, bool) for value in accepting):
        raise MachineError(f"'outputs' and 'accepting' are lists with an entry per state, not {accepting!r}")
    if not isinstance(initial, int):
        raise MachineError(f"'initial' must be a state number, not {initial!r}")
    return [bool(value) for value in accepting], given.outputs, initial


def _from_names(
    alphabet: Alphabet, moves: Mapping[StateName, Mapping[str, StateName]], given: _Described
) -> MooreMachine:
    numbers = {name: number for number, name in enumerate(moves)}

    def number(name: StateName, where: str) -> int:
        if name not in numbers:
            raise MachineError(f"unknown state '{name}' in {where}{suggestion(str(name), map(str, numbers))}")
        return numbers[name]

    guards: list[list[Move]] = []
    rest: list[int | None] = []
    for state, guarded in moves.items():
        targets = {text: number(name, f"the transitions of state '{state}'") for text, name in guarded.items()}
        rest.append(targets.pop("else", None))
        guards.append([(parse(text), target) for text, target in targets.items()])
    outputs = given.outputs
    if not isinstance(outputs, dict) or len(outputs) != len(moves):
        raise MachineError(f"'outputs' must have a number for each of the states {', '.join(map(str, moves))}")
    for state in outputs:
        number(state, "'outputs'")
    accepting = {number(state, "'accepting'") for state in given.accepting or ()}
    return machine_of_moves(
        alphabet,
        guards,
        [state in accepting for state in range(len(moves))],
        [outputs[state] for state in moves],
        0 if given.initial is None else number(given.initial, "'initial'"),
        rest=rest,
        name=[f"'{name}'" for name in moves].__getitem__,
    )
