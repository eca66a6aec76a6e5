"""Reward machines with rewards on their edges, as the original code has them, and the Moore machines they amount to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np

from nrm.aliases import BoolArray, IntArray, Letter
from nrm.automata import LetterClasses, merged_classes
from nrm.errors import LimitError, MachineError, listing, suggestion
from nrm.logic import Formula
from nrm.machines.alphabet import Alphabet
from nrm.machines.guards import guard_classes
from nrm.machines.moore import MooreMachine

StateName: TypeAlias = int | str
FallOff: TypeAlias = Literal["error", "terminal", "terminal_edge"]
"""What happens at a letter for which a state has no edge. `terminal`: the episode ends and pays 0. `terminal_edge`: it
ends as if the state's last edge to a terminal state were taken, or pays 0 where there is none. So do those versions of
the original code that look rewards up by pairs of states: all terminal states are one there, and so is falling off."""
Overlap: TypeAlias = Literal["error", "first"]
"""What happens at a letter for which a state has several edges. `first`: the first in the file is taken, as in the
original code."""
Outputs: TypeAlias = Literal["levels", "rewards"]
"""What the Moore machine outputs: the sum of the rewards so far, or the reward of the step that led to the state."""

_Node: TypeAlias = tuple[int, Fraction]
"""A state's number, and the sum of the rewards so far (or the reward just paid)."""


@dataclass(frozen=True)
class RewardEdge:
    """A move that is taken where its guard holds, and what it pays."""

    source: StateName
    target: StateName
    guard: Formula
    reward: Fraction
    """Exact, so that sums that should be equal are."""
    line: int = 0
    """Its line in the file, for messages; 0: none."""

    def __str__(self) -> str:
        where = f" of line {self.line}" if self.line else ""
        return f"edge{where} to {self.target} ('{self.guard}')"


@dataclass(frozen=True, eq=False)
class RewardMachine:
    """A reward machine: states, guarded edges with constant rewards, and the terminal states, where episodes end.

    Edges differ by their guards, so two states may be joined by several. Validated here: each state that is
    not terminal must have exactly one edge for each letter, unless `fall_off` and `overlap` say otherwise. Edges that
    leave a terminal state are never taken.
    """

    alphabet: Alphabet
    initial: StateName
    terminals: tuple[StateName, ...]
    edges: tuple[RewardEdge, ...]
    accepting: tuple[StateName, ...] | None = None
    """Terminal (or other) states that count as success. None: the terminals that an edge enters with a reward above
    0, or, when there are none, with a reward of 0."""
    levels: tuple[float, ...] | None = None
    """A potential for each of `states`, for rewards that are their differences; ignored where they are not."""
    fall_off: FallOff = "error"
    overlap: Overlap = "error"

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("fall_off", self.fall_off, get_args(FallOff)),
            ("overlap", self.overlap, get_args(Overlap)),
        ):
            if value not in choices:
                raise MachineError(f"{name} is {' or '.join(map(repr, choices))}, not {value!r}")
        for state in self.accepting or ():
            if state not in self.places:
                raise MachineError(f"accepting: there is no state {state!r} (states: {listing(map(str, self.states))})")
        _ = self.fired

    @cached_property
    def states(self) -> tuple[StateName, ...]:
        """The names of the states: numbers ascending, then other names in order of appearance."""
        found = [self.initial, *self.terminals]
        for edge in self.edges:
            found += [edge.source, edge.target]
        names = dict.fromkeys(found)
        numbers = sorted(name for name in names if isinstance(name, int))
        return (*numbers, *(name for name in names if not isinstance(name, int)))

    @cached_property
    def places(self) -> Mapping[StateName, int]:
        """The number of each state."""
        return {name: number for number, name in enumerate(self.states)}

    @cached_property
    def _leaving(self) -> list[tuple[int, RewardEdge]]:
        """The edges that can be taken, with their numbers."""
        return [(number, edge) for number, edge in enumerate(self.edges) if edge.source not in self.terminals]

    @cached_property
    def _read(self) -> tuple[LetterClasses, Mapping[Formula, BoolArray], Sequence[Letter]]:
        """The classes of letters, where each guard holds (classes,), and a letter of each class."""
        guards = list(dict.fromkeys(edge.guard for _, edge in self._leaving))
        letters, truth, examples = guard_classes(self.alphabet, guards)
        return letters, dict(zip(guards, truth, strict=True)), examples

    @cached_property
    def fired(self) -> IntArray:
        """(states, letter classes) the number of the edge that is taken; -1 in terminal states and where none is."""
        _, holds, examples = self._read
        table = np.full((len(self.states), len(examples)), -1, dtype=np.int32)
        leaving = self._leaving
        for number, edge in leaving:
            row = table[self.places[edge.source]]
            here = holds[edge.guard]
            if self.overlap == "error":
                self._check_alone(edge, row, here)
            row[here & (row < 0)] = number
        if self.fall_off == "error":
            for name, row in zip(self.states, table, strict=True):
                if name not in self.terminals and (row < 0).any():
                    raise MachineError(self._missing(name, row, any(edge.source == name for _, edge in leaving)))
        if self.fall_off == "terminal_edge":
            for number, edge in reversed(leaving):
                row = table[self.places[edge.source]]
                row[(row < 0) & (edge.target in self.terminals)] = number
        table.flags.writeable = False
        return table

    def to_moore(self, outputs: Outputs = "levels") -> MooreMachine:
        """The Moore machine that pays the same.

        `levels`: the output is the sum of the rewards so far, so that differences of outputs are the rewards, which is
        what `TaskEnv` pays. States that can be reached with different sums are split. A loop whose rewards do not sum
        to 0 makes the sum grow for ever, and is an error. `rewards`: the output is the reward of the step that led
        to the state (0 at first), which every reward machine allows; a terminal state keeps it, for episodes end there.
        Pay it with `TaskEnv(…, pay="outputs")`.
        """
        if outputs not in get_args(Outputs):
            hint = suggestion(str(outputs), get_args(Outputs))
            raise MachineError(f"outputs are 'levels' or 'rewards', not {outputs!r}{hint}")
        letters, columns = merged_classes(self._read[0], self.fired)
        if outputs == "levels" and self._levels_fit(columns):
            assert self.levels is not None
            nodes = [(state, Fraction(level)) for state, level in enumerate(self.levels)]
            rows = [self._targets(columns, state) for state, _ in nodes]
        else:
            nodes, rows = self._explore(columns, adding=outputs == "levels")
        good = {self.places[name] for name in self._accepting()}
        start = self.places[self.initial]
        classes, merged = merged_classes(letters, np.array(rows, dtype=np.int32))
        return MooreMachine(
            self.alphabet,
            classes,
            merged,
            np.array([state in good for state, _ in nodes]),
            np.array([_number(value) for _, value in nodes]),
            next(number for number, (state, _) in enumerate(nodes) if state == start),
        )

    def _explore(self, columns: IntArray, adding: bool) -> tuple[list[_Node], list[list[int]]]:
        """The reachable pairs of state and value, with their moves; the first pair of the initial state is the start.

        The value is the sum of the rewards so far (`adding`), or the last of them. A new pair whose state is among its
        own ancestors closes a loop that changes the sum. Paths without such a loop are short, so the search ends.
        """
        fallen, most = len(self.states), 100_000
        start: _Node = (self.places[self.initial], Fraction(0))
        parents: dict[_Node, tuple[_Node, int] | None] = {start: None}
        moves: dict[_Node, list[_Node]] = {}
        for node in (queue := [start]):
            state, value = node
            moves[node] = []
            for edge in columns[state].tolist() if state != fallen else [-1] * columns.shape[1]:
                if edge >= 0:
                    taken = self.edges[edge]
                    after = self.places[taken.target], taken.reward + (value if adding else 0)
                elif state == fallen or self.states[state] in self.terminals:
                    after = node
                else:
                    after = fallen, value if adding else Fraction(0)
                moves[node].append(after)
                if after not in parents:
                    parents[after] = node, edge
                    if adding:
                        self._check_loop(after, parents)
                    if len(parents) > most:
                        raise LimitError(
                            f"the rewards of this machine add up in more than {most:,} ways, a state for each; "
                            "read it with outputs='rewards'"
                        )
                    queue.append(after)
        # The start keeps its place before other copies of its state, so that it can be found.
        nodes = sorted(moves, key=lambda node: (node[0], node != start, node[1]))
        numbers = {node: number for number, node in enumerate(nodes)}
        return nodes, [[numbers[after] for after in moves[node]] for node in nodes]

    def _check_loop(self, node: _Node, parents: dict[_Node, tuple[_Node, int] | None]) -> None:
        edges: list[RewardEdge] = []
        link = parents[node]
        while link is not None:
            before, edge = link
            if edge >= 0:
                edges.append(self.edges[edge])
            if before[0] == node[0]:
                steps = "".join(f"{edge.source} -[{edge.guard}]-> " for edge in reversed(edges))
                lines = sorted({edge.line for edge in edges if edge.line})
                where = f" (line{'s' * (len(lines) > 1)} {listing(map(str, lines))})" if lines else ""
                gain = _number(node[1] - before[1])
                raise MachineError(
                    f"the loop {steps}{self.states[node[0]]}{where} pays {gain:g} each time round, so the sum of "
                    "rewards cannot be the potential of a state. Read the file with outputs='rewards' (--txt rewards), "
                    "and pay with TaskEnv(…, pay='outputs')"
                )
            link = parents[before]

    def _targets(self, columns: IntArray, state: int) -> list[int]:
        return [self.places[self.edges[edge].target] if edge >= 0 else state for edge in columns[state].tolist()]

    def _levels_fit(self, columns: IntArray) -> bool:
        """Whether the noted potentials are those of the edges; who edits the edges need not edit the note."""
        if self.levels is None or len(self.levels) != len(self.states):
            return False
        ends = [name in self.terminals for name in self.states]
        if (columns[~np.array(ends)] < 0).any():
            return False
        # Room for the rounding of decimal fractions.
        slack = 1e-9 * max(1.0, max(abs(level) for level in self.levels))
        return all(
            abs(self.levels[self.places[edge.target]] - self.levels[self.places[edge.source]] - edge.reward) <= slack
            for edge in self.edges
            if edge.source not in self.terminals
        )

    def _accepting(self) -> tuple[StateName, ...]:
        if self.accepting is not None:
            return self.accepting
        entering = [edge for edge in self.edges if edge.target in self.terminals and edge.source not in self.terminals]
        good = [edge.target for edge in entering if edge.reward > 0]
        neutral = [edge.target for edge in entering if edge.reward == 0]
        return tuple(dict.fromkeys(good or neutral))

    def _check_alone(self, edge: RewardEdge, row: IntArray, here: BoolArray) -> None:
        for place in np.flatnonzero(here & (row >= 0)).tolist():
            letter = self._read[2][place]
            other = self.edges[int(row[place])]
            if (other.target, other.reward) == (edge.target, edge.reward):
                continue
            raise MachineError(
                f"state {edge.source} is not deterministic: the {other} and the {edge} both fire on "
                f"'{self.alphabet.letter_name(letter)}'. Make the guards exclude each other; or list symbols of which "
                "one holds (symbols=…, --symbols); or take the first edge (overlap='first', --txt first)"
            )

    def _missing(self, name: StateName, row: IntArray, leaves: bool) -> str:
        if not leaves:
            return f"state {name} has no edges and is not terminal; list it among the terminal states, or add edges"
        examples = self._read[2]
        letters = [f"'{self.alphabet.letter_name(examples[place])}'" for place in np.flatnonzero(row < 0).tolist()]
        return (
            f"state {name} has no edge for {listing(letters, 4)}; add one, or end the episode there: with reward 0 "
            "(fall_off='terminal', --txt terminal), or with that of the state's last edge to a terminal state, as "
            "some versions of the original code do (terminal_edge)"
        )


def _number(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        raise MachineError("the rewards add up to more than a number can hold; scale them down") from None
