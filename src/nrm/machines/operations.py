"""Machines from machines, and what can be asked of them: equivalence, shortest traces, satisfiability."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from nrm.aliases import BoolArray, Letter, State, Step
from nrm.automata import Limits, first_path
from nrm.errors import AlphabetError, MachineError
from nrm.machines.alphabet import Alphabet
from nrm.machines.moore import MooreMachine
from nrm.machines.task import MachineLike, as_machine, as_machines

Observed: TypeAlias = Literal["outputs and acceptance", "outputs"]
"""What tells states apart."""

PRODUCT_LIMITS = Limits(states=5_000_000)
"""How large a product may grow."""


def canonical(machine: MooreMachine) -> MooreMachine:
    """The reachable part, numbered in breadth-first order by letter: isomorphic machines become equal."""
    moves, kept = machine.moves.canonical(machine.initial)
    return MooreMachine.of_moves(machine.alphabet, moves, machine.accepting[kept], machine.outputs[kept])


def minimise(machine: MachineLike, by: Observed = "outputs and acceptance") -> MooreMachine:
    """The smallest machine with the same behaviour, in canonical numbering.

    `by="outputs"` compares potentials only: what an agent can observe that sees rewards. Merged states then have the
    acceptance of one of them.
    """
    if by not in get_args(Observed):
        raise MachineError(f"machines are minimised by {' or by '.join(map(repr, get_args(Observed)))}, not by {by!r}")
    given = as_machine(machine)
    labels = given.level_of_state.astype(np.int64) * 2
    if by != "outputs":
        labels = labels + given.accepting
    blocks = given.moves.congruence(labels)
    moves, kept = given.moves.quotient(blocks)
    initial = int(blocks[given.initial])
    accepting, outputs = given.accepting[kept], given.outputs[kept]
    return canonical(MooreMachine.of_moves(given.alphabet, moves, accepting, outputs, initial))


@dataclass(frozen=True)
class Difference:
    """A shortest trace on which two machines differ."""

    trace: tuple[Step, ...]
    left: str
    """What the first machine says at the end of the trace."""
    right: str
    """What the second machine says at the end of the trace."""

    def __str__(self) -> str:
        steps = ", ".join(step if isinstance(step, str) else "&".join(step) or "-" for step in self.trace)
        return f"after ({steps}) the first machine is {self.left}, the second {self.right}"


def difference(left: MachineLike, right: MachineLike, acceptance: bool = True) -> Difference | None:
    """A shortest trace after which two machines differ; None if they are equivalent.

    They differ in outputs or acceptance; with `acceptance=False`, in outputs.
    """
    one, two = _over_one_alphabet(left, right)

    def differ(a: State, b: State) -> bool:
        if one.outputs[a] != two.outputs[b]:
            return True
        return acceptance and bool(one.accepting[a] != two.accepting[b])

    found = one.moves.difference(two.moves, (one.initial, two.initial), differ)
    if found is None:
        return None
    string, (a, b) = found
    return Difference(tuple(one.alphabet.decode(string)), _describe(one, a), _describe(two, b))


def equivalent(left: MachineLike, right: MachineLike, acceptance: bool = True) -> bool:
    """Whether two machines over one alphabet have equal outputs and acceptance on every trace."""
    return difference(left, right, acceptance) is None


def until_over(machine: MachineLike) -> MooreMachine:
    """The machine as episodes show it that end when the task is done or lost: such states are absorbing; minimal."""
    whole = as_machine(machine)
    if not whole.accepting.any():
        return minimise(whole)
    over = np.flatnonzero(whole.accepting | whole.dead)
    moves = whole.moves.halted(over.astype(np.int32))
    return minimise(MooreMachine.of_moves(whole.alphabet, moves, whole.accepting, whole.outputs, whole.initial))


def product(
    left: MachineLike,
    right: MachineLike,
    accept: Callable[[bool, bool], bool] = lambda a, b: a and b,
    output: Callable[[float, float], float] = lambda a, b: a + b,
) -> MooreMachine:
    """The product of two machines, on reachable pairs. By default both must accept, and potentials add up."""
    one, two = _over_one_alphabet(left, right)
    moves, a, b = one.moves.product(two.moves, PRODUCT_LIMITS, (one.initial, two.initial))
    accepting = list(map(accept, one.accepting[a].tolist(), two.accepting[b].tolist()))
    outputs = list(map(output, one.outputs[a].tolist(), two.outputs[b].tolist()))
    return canonical(MooreMachine.of_moves(one.alphabet, moves, np.array(accepting), np.array(outputs)))


def _over_one_alphabet(left: MachineLike, right: MachineLike) -> tuple[MooreMachine, MooreMachine]:
    one, two = as_machines((left, right))
    if one.alphabet != two.alphabet:
        raise AlphabetError(
            f"the machines have different alphabets: {one.alphabet.kind} ({', '.join(one.alphabet.symbols)}) and "
            f"{two.alphabet.kind} ({', '.join(two.alphabet.symbols)}); build both over the same one"
        )
    return one, two


def _describe(machine: MooreMachine, state: State) -> str:
    return f"{'accepting' if machine.accepting[state] else 'not accepting'} at potential {machine.outputs[state]:g}"


def shortest_trace(machine: MooreMachine, goals: BoolArray) -> tuple[Step, ...] | None:
    """A shortest non-empty trace that ends in one of the states `goals` (states,); None if there is none."""
    before = -1  # the first step: the initial state may also be a goal, but later

    def moves(state: State) -> Iterable[tuple[State, Letter]]:
        here = machine.initial if state == before else state
        return machine.moves.plainest(here, machine.alphabet.plainest_first)

    found = first_path(before, moves, lambda state: state != before and bool(goals[state]))
    return None if found is None else tuple(machine.alphabet.decode(found[0]))


def not_asked(machine: MooreMachine) -> str:
    """Why a task asks for nothing, or for the impossible; empty where it asks for something."""
    steps = int(machine.distance_to_acceptance[machine.initial])
    if steps > 0:
        return ""
    alone = "holds before anything has happened (train on it alone, with nrm train --end limit)"
    return alone if steps == 0 else unsatisfiable(machine.alphabet)


def unsatisfiable(alphabet: Alphabet) -> str:
    """That a task cannot be satisfied, with what is easily forgotten of its symbols."""
    return f"cannot be satisfied{alphabet.caveat and f' ({alphabet.caveat})'}"
