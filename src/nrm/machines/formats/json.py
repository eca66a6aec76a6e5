"""Machines as plain dictionaries and as JSON.

The file form has a full table: `transitions[state][letter]`, letters in the order of `symbols`, or, for propositions,
of `letters`; where propositions are many, the decision diagram of the moves. The hand-written form names its states and
guards its moves; all are read by `machine_from_dict`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from nrm.aliases import BoolArray, Json
from nrm.automata import read_diagram
from nrm.errors import MachineError, listing, suggestion, unknown
from nrm.logic import parse
from nrm.machines.alphabet import Alphabet
from nrm.machines.guards import Move, machine_of_moves
from nrm.machines.moore import MooreMachine

MACHINE_FORMAT = "nrm-machine"
VERSIONS = (1, 2, 3)
"""Of files with a full table; with guards, which are no longer written; and with a diagram, for many propositions."""
_PARTS = ("order", "levels", "low", "high", "roots")
_TABLE = ("symbols", "letters", "initial", "transitions", "accepting", "outputs")
MACHINE_KEYS = ("format", "version", "kind", *_TABLE, "moves", "diagram")


def machine_to_dict(machine: MooreMachine) -> Json:
    """The machine as JSON values; `machine_from_dict` reads it back."""
    alphabet = machine.alphabet
    moves = machine.moves.described()
    data: Json = {
        "format": MACHINE_FORMAT,
        "version": 1 if "transitions" in moves else 3,
        "kind": alphabet.kind,
        "symbols": list(alphabet.symbols),
    }
    if not alphabet.is_exclusive and alphabet.is_small:
        data["letters"] = [list(alphabet.true_symbols(letter)) for letter in range(alphabet.size)]
    data["initial"] = machine.initial
    data.update(moves)
    data["accepting"] = machine.accepting.tolist()
    data["outputs"] = machine.outputs.tolist()
    return data


def machine_from_dict(data: Mapping[str, Any]) -> MooreMachine:
    """A machine from its file form, or from a hand-written dictionary with named states.

    Hand-written: `{"symbols": ["a", "b"], "initial": "start", "transitions": {"start": {"a": "won", "else": "start"},
    "won": {"true": "won"}}, "outputs": {"start": 0, "won": 100}, "accepting": ["won"]}`. Guards are Boolean formulas;
    every letter must match exactly one, and "else" takes the rest. States are numbered in the order of `transitions`.
    """
    if not isinstance(data, Mapping):
        raise MachineError(f"a machine is a dictionary, not {type(data).__name__}")
    for key in data:
        if key not in MACHINE_KEYS:
            raise MachineError(unknown("key", key, MACHINE_KEYS, " in the machine"))
    if data.get("format", MACHINE_FORMAT) != MACHINE_FORMAT:
        raise MachineError(f"the format is '{data['format']}', not '{MACHINE_FORMAT}'")
    if data.get("version", 1) not in VERSIONS:
        raise MachineError(
            f"the machine is of format version {data['version']}, and this release reads versions "
            f"{VERSIONS[0]} to {VERSIONS[-1]}; update nrm"
        )
    by_guards = "moves" in data
    for key in ("symbols", next((key for key in ("moves", "diagram") if key in data), "transitions"), "outputs"):
        if key not in data:
            raise MachineError(f"the machine lacks the key '{key}'")
    symbols = data["symbols"]
    if isinstance(symbols, str) or not isinstance(symbols, (list, tuple)):
        raise MachineError(f"'symbols' must be a list of names, not {symbols!r}")
    alphabet = Alphabet(tuple(symbols), data.get("kind", "exclusive"))
    if not alphabet.is_exclusive and data.get("letters") is not None:
        alphabet = _of_letters(alphabet, data["letters"])
    if by_guards:
        return _from_guards(alphabet, data)
    if "diagram" in data:
        return _from_functions(alphabet, data)
    if isinstance(data["transitions"], Mapping):
        return _from_names(alphabet, data)
    return _from_table(alphabet, data)


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


def _from_functions(alphabet: Alphabet, data: Mapping[str, Any]) -> MooreMachine:
    given = data["diagram"]
    if not isinstance(given, Mapping) or set(given) != set(_PARTS):
        raise MachineError(f"'diagram' must have the keys {', '.join(_PARTS)}")
    if not alphabet.is_free:
        raise MachineError("a 'diagram' of moves is for propositions, of which any may hold")
    moves = read_diagram(len(alphabet.symbols), {name: given[name] for name in _PARTS})
    return MooreMachine.of_moves(alphabet, moves, *_numbered_states(data, moves.states))


def _from_guards(alphabet: Alphabet, data: Mapping[str, Any]) -> MooreMachine:
    if "transitions" in data or "letters" in data:
        raise MachineError("a machine has 'moves', which are guards, or 'transitions', a table; not both")
    if alphabet.is_exclusive:
        raise MachineError("'moves' with guards are for propositions; with symbols, give 'transitions'")
    rows = data["moves"]
    if not isinstance(rows, (list, tuple)) or not rows:
        raise MachineError("'moves' must be a non-empty list, one entry per state")
    states = []
    for state, row in enumerate(rows):
        pairs = row if isinstance(row, (list, tuple)) else [row]
        for pair in pairs:
            if not (
                isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[0], str) and type(pair[1]) is int
            ):
                raise MachineError(f"'moves' of state {state} must be pairs of a guard and a state, not {pair!r}")
        states.append([(parse(guard), target) for guard, target in pairs])
    return machine_of_moves(alphabet, states, *_numbered_states(data, len(rows)))


def _of_letters(every: Alphabet, letters: Any) -> Alphabet:
    """The alphabet of some sets of propositions, in the order of their numbers: all of them, or those that occur."""
    named = isinstance(letters, (list, tuple)) and all(isinstance(names, (list, tuple)) for names in letters)
    if not named or not letters:
        raise MachineError("'letters' must be a list of lists of 'symbols', one for each letter")
    bits = tuple(every.letter(tuple(names), f"letter {number}") for number, names in enumerate(letters))
    if bits == tuple(range(len(bits))) and len(bits) == 1 << len(every.symbols):
        return every
    if list(bits) != sorted(set(bits)):
        raise MachineError(
            "'letters' must list subsets of 'symbols', each once and in the order of their numbers, the first symbol "
            "being the lowest bit"
        )
    return Alphabet(every.symbols, every.kind, bits)


def _numbered_states(data: Mapping[str, Any], count: int) -> tuple[list[bool], list[float], int]:
    """Which states accept, the output of each, and the initial one."""
    accepting, initial = data.get("accepting", [False] * count), data.get("initial", 0)
    for field, values in (("accepting", accepting), ("outputs", data["outputs"])):
        if not isinstance(values, (list, tuple)):
            raise MachineError(f"'{field}' must be a list with an entry per state, not {values!r}")
    if not all(isinstance(value, bool) for value in accepting):
        raise MachineError(f"'accepting' must hold true or false for each state, not {accepting!r}")
    if not isinstance(initial, int) or isinstance(initial, bool):
        raise MachineError(f"'initial' must be a state number, not {initial!r}")
    return accepting, data["outputs"], initial


def _from_table(alphabet: Alphabet, data: Mapping[str, Any]) -> MooreMachine:
    rows = data["transitions"]
    if not isinstance(rows, (list, tuple)) or not rows:
        raise MachineError("'transitions' must be a non-empty list of rows, one per state")
    for state, row in enumerate(rows):
        if not isinstance(row, (list, tuple)):
            raise MachineError(f"'transitions' of state {state} must be a list of next states, not {row!r}")
        if len(row) != alphabet.size:
            missing = listing(alphabet.letter_name(letter) for letter in range(len(row), alphabet.size))
            detail = f"missing: {missing}" if missing else "too many"
            raise MachineError(
                f"state {state} has {len(row)} transitions, but the alphabet has {alphabet.size} letters ({detail})"
            )
        for letter, target in enumerate(row):
            if not isinstance(target, int) or isinstance(target, bool):
                raise MachineError(
                    f"state {state} goes to {target!r} on '{alphabet.letter_name(letter)}'; not a state number"
                )
    return MooreMachine.from_table(alphabet, rows, *_numbered_states(data, len(rows)))


def _from_names(alphabet: Alphabet, data: Mapping[str, Any]) -> MooreMachine:
    moves: Mapping[str, Any] = data["transitions"]
    if not moves:
        raise MachineError("'transitions' names no state")
    numbers: dict[object, int] = {name: number for number, name in enumerate(moves)}

    def number(name: object, where: str) -> int:
        if not isinstance(name, Hashable) or name not in numbers:
            raise MachineError(f"unknown state '{name}' in {where}{suggestion(str(name), map(str, numbers))}")
        return numbers[name]

    for state, guarded in moves.items():
        if not isinstance(guarded, Mapping):
            raise MachineError(f"'transitions' of state '{state}' must map guards to states, not {guarded!r}")
    guards: list[list[Move]] = []
    rest: list[int | None] = []
    for state, guarded in moves.items():
        targets = {text: number(name, f"the transitions of state '{state}'") for text, name in guarded.items()}
        rest.append(targets.pop("else", None))
        guards.append([(parse(text), target) for text, target in targets.items()])
    names = [f"'{name}'" for name in moves]
    accepting, outputs, initial = _named_states(data, moves, number)
    return machine_of_moves(alphabet, guards, accepting, outputs, initial, rest=rest, name=names.__getitem__)


def _named_states(
    data: Mapping[str, Any], states: Mapping[str, Any], number: Callable[[object, str], int]
) -> tuple[BoolArray, list[float], int]:
    """Which named states accept, the output of each, and the initial one."""
    outputs = data["outputs"]
    if not isinstance(outputs, Mapping):
        raise MachineError("'outputs' must map each named state to a number")
    for state in outputs:
        number(state, "'outputs'")
    lacking = [state for state in states if state not in outputs]
    if lacking:
        raise MachineError(f"'outputs' has no number for state '{lacking[0]}'")
    accepting = np.zeros(len(states), dtype=bool)
    named = data.get("accepting", ())
    if isinstance(named, (str, Mapping)) or not isinstance(named, Iterable):
        raise MachineError(f"'accepting' must be a list of state names, not {named!r}")
    for state in named:
        accepting[number(state, "'accepting'")] = True
    initial = number(data["initial"], "'initial'") if "initial" in data else 0
    return accepting, [outputs[state] for state in states], initial
