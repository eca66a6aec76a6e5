"""A guess of the formula behind a learned machine: the cheapest of many patterns that behaves like it.

Only what was seen has to agree. Two places that a task avoids are one symbol of the learned machine, so one stands for
all of them here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nrm.inference.hypothesis import IDLE, Hypothesis
from nrm.logic import Formula, parse
from nrm.machines import TOLERANCE, Alphabet, MooreMachine, RewardScheme, compile_formula, minimise, until_over

SCHEMES: tuple[RewardScheme, ...] = ("distance", "three_value", "acceptance")
NOTHING = "nothing"
"""The letter of what the formula does not speak of."""
_GOALS = (
    "visit(a)",
    "visit(a, b)",
    "sequenced_visit(a, b)",
    "reach_avoid(a, b)",
    "existence(a, 2)",
    "existence(a, 3)",
    "existence(a, 4)",
    "visit(a, b, c)",
    "sequenced_visit(a, b, c)",
    "ordered_visit(a, b)",
    "strictly_ordered_visit(a, b)",
    "sequenced_visit(a, b) & visit(c)",
    "patrol(a, b, 2)",
    "visit(a, b, c, d)",
    "sequenced_visit(a, b, c, d)",
    "sequenced_visit(a, b, c) & visit(d)",
    "sequenced_visit(a, b) & sequenced_visit(c, d)",
    "ordered_visit(a, b, c)",
    "sequenced_visit(a, b, c, d, e)",
)
_RELATIONS = (
    *("responded_existence", "coexistence", "not_coexistence", "response", "precedence", "succession"),
    *("alternate_response", "alternate_precedence", "chain_response", "chain_precedence"),
)


@dataclass(frozen=True)
class Guess:
    """A formula that behaves as a learned machine does, as far as was seen."""

    formula: Formula
    scheme: RewardScheme
    """How its states get their potentials."""
    symbols: Mapping[str, int]
    """The symbol of the learned machine that each atom stands for."""

    def describe(self, letters: Mapping[int, Sequence[str]]) -> str:
        """In words. `letters`: the names of the letters of each symbol."""
        meaning = "; ".join(f"{atom} = {', '.join(letters[symbol])}" for atom, symbol in self.symbols.items())
        return f"looks like {self.formula}, with {meaning}" if meaning else f"looks like {self.formula}"


def guess_formula(known: Hypothesis, values: np.ndarray) -> Guess | None:
    """The cheapest formula of the catalogue that explains a learned machine; None where none does."""
    table, seen = known.symbol_table()
    levels = values[known.levels]
    slack = TOLERANCE * (float(np.ptp(levels)) or 1.0)
    for text in catalogue():
        for scheme in SCHEMES:
            candidate = _compiled(text, scheme)
            if candidate.states != known.states:
                continue
            shown = candidate.outputs - candidate.outputs[candidate.initial]
            if not np.allclose(np.sort(shown), np.sort(levels), atol=slack):
                continue
            other = Moves(candidate.transitions, shown, candidate.initial)
            idle = candidate.alphabet.places[NOTHING]
            chosen = matching(Moves(table, levels), other, seen > 0, slack, (idle,))
            if chosen is not None:
                names = candidate.alphabet.symbols
                atoms = {names[letter]: symbol for symbol, letter in enumerate(chosen) if symbol != IDLE}
                return Guess(parse(text), scheme, dict(sorted(atoms.items())))
    return None


@lru_cache(maxsize=1)
def catalogue() -> tuple[str, ...]:
    """All patterns, the cheapest first: by how many symbols they name and how long they are."""
    texts = [*_GOALS, *(f"{goal} & global_avoidance({_next_atom(goal)})" for goal in _GOALS)]
    texts += [f"{relation}(a, b)" for relation in _RELATIONS]
    texts += [f"{name}(a, {times})" for name in ("absence", "exactly") for times in (1, 2, 3)]
    return tuple(sorted(texts, key=lambda text: (len(parse(text).atoms()), len(str(parse(text))), text)))


def _next_atom(text: str) -> str:
    return "abcdef"[len(parse(text).atoms())]


@lru_cache(maxsize=512)
def _compiled(text: str, scheme: RewardScheme) -> MooreMachine:
    """The machine as episodes show it: nothing is read any more where the task is done or lost."""
    formula = parse(text)
    machine = compile_formula(formula, Alphabet.exclusive((*sorted(formula.atoms()), NOTHING)), reward=scheme)
    return minimise(until_over(machine), by="outputs")


class Moves(NamedTuple):
    """A machine as a table."""

    table: NDArray[np.integer]
    """(states, letters) the next state."""
    outputs: NDArray[np.float64]
    """(states,)"""
    initial: int = 0


def matching(
    known: Moves, other: Moves, seen: NDArray[np.bool_] | None = None, slack: float = 0.0, chosen: tuple[int, ...] = ()
) -> tuple[int, ...] | None:
    """A letter of another machine for each of one, under which both output the same; None if there are none.

    `seen`: (states, letters) the transitions of the known machine that count, by default all; `chosen`: the letters
    for its first ones.
    """
    if known.table.shape[1] > other.table.shape[1] or not _agree(known, other, seen, slack, chosen):
        return None
    if len(chosen) == known.table.shape[1]:
        return chosen
    for letter in range(other.table.shape[1]):
        if letter not in chosen:
            found = matching(known, other, seen, slack, (*chosen, letter))
            if found is not None:
                return found
    return None


def _agree(known: Moves, other: Moves, seen: NDArray[np.bool_] | None, slack: float, chosen: tuple[int, ...]) -> bool:
    """Whether no trace over the letters chosen so far tells two machines apart."""
    start = (known.initial, other.initial)
    met, waiting = {start}, [start]
    while waiting:
        mine, theirs = waiting.pop()
        if abs(known.outputs[mine] - other.outputs[theirs]) > slack:
            return False
        for symbol, letter in enumerate(chosen):
            pair = (int(known.table[mine, symbol]), int(other.table[theirs, letter]))
            if (seen is None or seen[mine, symbol]) and pair not in met:
                met.add(pair)
                waiting.append(pair)
    return True
