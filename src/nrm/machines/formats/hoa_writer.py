"""Machines in the Hanoi omega-automata format (HOA v1), for tools that read automata.

A machine reads finite traces; HOA speaks of infinite words. The convention is the one of Spot's `to_finite`: a Büchi
automaton with state-based acceptance, whose accepting states are those in which a finite trace may end. Potentials
and the kind of alphabet stand in headers of their own in lower case, which other tools may ignore. With an exclusive
alphabet, each symbol is a proposition, and an alias stands for "this one and no other"; other combinations have no
edge.
"""

from __future__ import annotations

import numpy as np

from nrm.aliases import BoolArray
from nrm.logic import Formula, Op, atom, substituted
from nrm.machines.alphabet import Alphabet
from nrm.machines.guards import moves
from nrm.machines.moore import MooreMachine


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
