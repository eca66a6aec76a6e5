"""A guess of the formula behind a learned machine: the cheapest of many patterns that behaves like it.

Only what was seen has to agree. Two places that a task avoids are one symbol of the learned machine, so one stands for
all of them here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

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
    for text in catalogue():
        for scheme in SCHEMES:
            candidate = _compiled(text, scheme)
            if candidate.states != known.states:
                continue
            shown = candidate.outputs - candidate.outputs[candidate.initial]
            if not np.allclose(np.sort(shown), np.sort(levels), atol=TOLERANCE * (np.ptp(levels) or 1.0)):
                continue
            chosen = _matched(table, seen, levels, candidate, shown)
            if chosen is not None:
                atoms = {candidate.alphabet.symbols[letter]: symbol for symbol, letter in chosen.items()}
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


def _matched(
    table: np.ndarray, seen: np.ndarray, levels: np.ndarray, candidate: MooreMachine, shown: np.ndarray
) -> dict[int, int] | None:
    """For each symbol but the idle one a letter of its own, under which all that was seen agrees; None if none does."""
    count, idle = table.shape[1], candidate.alphabet.places[NOTHING]
    if count > candidate.alphabet.size:
        return None
    slack = TOLERANCE * (float(np.ptp(levels)) or 1.0)

    def agrees(chosen: dict[int, int]) -> bool:
        start = (0, candidate.initial)
        met, waiting = {start}, [start]
        while waiting:
            mine, theirs = waiting.pop()
            if abs(levels[mine] - shown[theirs]) > slack:
                return False
            for symbol, letter in chosen.items():
                if seen[mine, symbol]:
                    pair = (int(table[mine, symbol]), int(candidate.transitions[theirs, letter]))
                    if pair not in met:
                        met.add(pair)
                        waiting.append(pair)
        return True

    def extended(chosen: dict[int, int]) -> Iterator[dict[int, int]]:
        if not agrees(chosen):
            return
        symbol = len(chosen)
        if symbol == count:
            yield chosen
            return
        for letter in range(candidate.alphabet.size):
            if letter not in chosen.values():
                yield from extended({**chosen, symbol: letter})

    found = next(extended({IDLE: idle}), None)
    return None if found is None else {symbol: letter for symbol, letter in found.items() if symbol != IDLE}
