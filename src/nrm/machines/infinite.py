"""Deterministic machines of infinite tasks, and their rounds, which agents act by.

A machine shows a set of *marks* in each state. Whether an infinite trace is accepted depends on the marks that it shows
infinitely often, in any Boolean combination: an Emerson-Lei condition. Each statement of a formula (`InfiniteFormula`)
has a small automaton with one mark, and the machine is their product; nothing is determinised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from itertools import accumulate
from typing import NamedTuple, TypeVar

import numpy as np

from nrm.aliases import BoolArray, FloatArray, IntArray, State, Trace
from nrm.automata import DEFAULT_LIMITS, Dfa, Limits, moves_of_classes, shortest_cubes
from nrm.errors import LimitError, MachineError, counted
from nrm.logic import Formula as Finite
from nrm.logic import (
    InfiniteFormula,
    InfiniteOp,
    Op,
    atom,
    infinite_normal,
    inherited_logic,
    parse,
    prefix,
    step_value,
    translate,
)
from nrm.machines.alphabet import Alphabet
from nrm.machines.moore import MooreMachine
from nrm.machines.operations import minimise, product, unsatisfiable
from nrm.machines.rewards import RewardScheme, with_rewards
from nrm.machines.task import Task
from nrm.machines.task_set import TaskSet, task_view

Node = TypeVar("Node")
MAX_MARKS = 10
"""Statements that a formula may combine: the condition lists all sets of their marks."""


ROUND_LIMITS = Limits(states=20_000, cells=1_000_000)
"""How large the machine of a round may be before it is minimised."""


class Disjunct(NamedTuple):
    """One way to be accepted: sets of marks, as bits."""

    infinitely: int
    """All these are shown infinitely often,"""
    finitely: int
    """and none of these."""


@dataclass(frozen=True, eq=False)
class InfiniteMachine:
    """A complete deterministic machine with an Emerson-Lei condition on states."""

    moore: MooreMachine
    """Its outputs are sets of marks, as numbers: bit i for mark i. Its accepting states are visits, see `_visits`."""
    condition: BoolArray
    """(sets,) whether a trace is accepted that shows exactly these marks infinitely often."""
    statements: tuple[str, ...] = ()
    """What each mark stands for, where it is known."""

    @classmethod
    def of(cls, task: Task, limits: Limits = DEFAULT_LIMITS) -> InfiniteMachine:
        """The machine of an infinite task, minimal as a Moore machine of marks."""
        formula = infinite_normal(task.formula, task.logic)
        numbers: dict[tuple[InfiniteOp, Finite], int] = {}
        condition = formula.folded(partial(_condition, numbers))
        if len(numbers) > MAX_MARKS:
            raise LimitError(
                f"the task combines {len(numbers)} statements about infinite traces, more than {MAX_MARKS}"
            )
        with limits.working():
            parts = [_part(*leaf, 1 << number, task.alphabet, limits) for leaf, number in numbers.items()]
            moore = reduce(lambda left, right: minimise(product(left, right), by="outputs"), parts)
        sets = np.arange(1 << len(parts))
        truth = step_value(condition, lambda mark: (sets >> int(mark) & 1).astype(np.bool_))
        said = tuple(f"{op.value}({finite})" for op, finite in numbers)
        return cls(moore, np.broadcast_to(truth, sets.shape).astype(np.bool_), said).reduced()

    @property
    def marks(self) -> IntArray:
        """(states,) the marks that are shown, as bits."""
        return self.moore.outputs.astype(np.int32)

    @property
    def count(self) -> int:
        """The number of marks."""
        return len(self.condition).bit_length() - 1

    def marks_text(self, output: float) -> str:
        """What a state shows, for pictures."""
        return f"{{{', '.join(map(str, bits(int(output))))}}}"

    @cached_property
    def disjuncts(self) -> tuple[Disjunct, ...]:
        """The condition in disjunctive form; empty if nothing is accepted."""
        return disjunctive(self.condition)

    @property
    def acceptance(self) -> str:
        """The condition as HOA writes it."""
        if self.condition.all():
            return "t"
        texts = []
        for infinitely, finitely in self.disjuncts:
            marks = [f"Inf({mark})" for mark in bits(infinitely)] + [f"Fin({mark})" for mark in bits(finitely)]
            texts.append("&".join(marks) if min(len(self.disjuncts), len(marks)) == 1 else f"({'&'.join(marks)})")
        return " | ".join(texts) or "f"

    @cached_property
    def live(self) -> BoolArray:
        """(states,) from where some trace is accepted. In all other states the task is violated."""
        return self._accepting(self.condition)

    def _accepting(self, condition: BoolArray) -> BoolArray:
        """(states,) from where some trace is accepted by a condition (Emerson and Lei, 1987)."""
        found = np.zeros(self.moore.states, dtype=np.bool_)
        for infinitely, finitely in disjunctive(condition):
            inside = (self.marks & finitely) == 0
            goals = [(self.marks >> mark & 1).astype(np.bool_) for mark in bits(infinitely)] or [inside]
            before = None
            while before is None or (before != inside).any():
                before = inside
                for goal in goals:
                    inside = inside & self._staying(inside, inside & goal)
            found |= self.moore.moves.distances(inside) >= 0
        return found

    def _staying(self, inside: BoolArray, goals: BoolArray) -> BoolArray:
        """(states,) from where goals are reached by at least one step, inside all the way."""
        reached = np.zeros_like(goals)
        while True:
            more = inside & self.moore.moves.reaching(goals | reached)
            if (more == reached).all():
                return reached
            reached = more

    def reduced(self) -> InfiniteMachine:
        """The same language, with one state where nothing can be accepted, and one where everything is; minimal."""
        outputs, moves = self.moore.outputs.copy(), self.moore.moves
        for settled, accepted in ((~self.live, False), (~self._accepting(~self.condition), True)):
            if settled.any():
                outputs[settled] = int((self.condition == accepted).argmax())
                moves = moves.halted(np.flatnonzero(settled).astype(np.int32))
        none = np.zeros(self.moore.states, dtype=np.bool_)
        plain = MooreMachine.of_moves(self.moore.alphabet, moves, none, outputs, self.moore.initial)
        least = InfiniteMachine(minimise(plain, by="outputs"), self.condition, self.statements)
        shown = MooreMachine.of_moves(self.moore.alphabet, least.moore.moves, least._visits(), least.moore.outputs)
        return replace(least, moore=shown)

    def _visits(self) -> BoolArray:
        """(states,) which states are accepting visits: they show a recurring mark of a disjunct, and none it must not.

        A mark that stays for ever (something was done once) does not count, but must be there; a disjunct without
        recurring marks is visited by staying.
        """
        found = np.zeros(self.moore.states, dtype=np.bool_)
        lasting = sum(1 << mark for mark in range(self.count) if self._lasts(1 << mark))
        for infinitely, finitely in self.disjuncts:
            due, recurring = infinitely & lasting, infinitely & ~lasting
            good = (self.marks & finitely == 0) & (self.marks & due == due)
            found |= good & ((self.marks & recurring > 0) | (recurring == 0))
        return found

    def _lasts(self, mark: int) -> bool:
        shown = self.marks & mark > 0
        return not (shown & self.moore.moves.reaching(~shown)).any()

    def accepts(self, stem: Trace, loop: Trace) -> bool:
        """Whether the trace is accepted that goes on with `loop` for ever after `stem`."""
        if not len(loop):
            raise MachineError("the loop of an infinite trace has at least one step")
        state, starts = self.moore.run(stem).states[-1], dict[State, int]()
        shown: list[int] = []
        while state not in starts:
            starts[state] = len(shown)
            states = self._run(state, loop)
            shown.append(int(np.bitwise_or.reduce(self.marks[states])))
            state = states[-1]
        return bool(self.condition[reduce(int.__or__, shown[starts[state] :])])

    def _run(self, state: State, trace: Trace) -> list[State]:
        letters = self.moore.alphabet.encode(trace)
        return list(accumulate(letters, self.moore.next_state, initial=state))[1:]

    def rounds(self, reward: RewardScheme = "distance") -> MooreMachine:
        """The machine of a *round*, a finite task: accepting where a round is over, and another one begins there.

        A round is over when each mark of a disjunct that must come infinitely often was shown since the last round, and
        since then none that must not. A disjunct without such marks pays for every step that stays.
        """
        if not self.live[self.moore.initial]:
            raise MachineError(f"the task {unsatisfiable(self.moore.alphabet)}: its acceptance cannot be reached")
        start: _Progress | None = _Progress(self.moore.initial, (0,) * len(self.disjuncts), False)
        rows, states = explored(start, range(self.moore.classes), self._progress, ROUND_LIMITS)
        over = np.array([state is not None and state.over for state in states])
        machine = MooreMachine(self.moore.alphabet, self.moore.letters, rows, over, over.astype(np.float64))
        return with_rewards(minimise(machine), reward)

    def _progress(self, now: _Progress | None, number: int) -> _Progress | None:
        """The state of a round after a letter of some class; None where the task is violated."""
        if now is None or not self.live[target := int(self.moore.columns[now.state, number])]:
            return None
        shown, seen, over = int(self.marks[target]), [], False
        for before, (infinitely, finitely) in zip(now.seen, self.disjuncts, strict=True):
            seen.append(0 if shown & finitely else before | shown & infinitely)
            over |= seen[-1] == infinitely and not shown & finitely
        return _Progress(target, (0,) * len(seen) if over else tuple(seen), over)

    def __repr__(self) -> str:
        return f"InfiniteMachine({counted(self.moore.states, 'state')}, accepts {self.acceptance})"


def disjunctive(condition: BoolArray) -> tuple[Disjunct, ...]:
    """A condition (sets,) in disjunctive form."""
    if condition.all():
        return (Disjunct(0, 0),)
    cubes = shortest_cubes(condition.astype(np.int32), len(condition).bit_length() - 1)
    return tuple(
        Disjunct(*(sum(1 << mark for mark, holds in cube if holds == positive) for positive in (True, False)))
        for cube in cubes
    )


def bits(number: int) -> Iterator[int]:
    """The bits of a number that are set."""
    return (place for place in range(number.bit_length()) if number >> place & 1)


class _Progress(NamedTuple):
    """A state of a round."""

    state: State
    seen: tuple[int, ...]
    """The marks of each disjunct that were shown since the last round."""
    over: bool


def explored(
    start: Node, letters: Sequence[int], after: Callable[[Node, int], Node], limits: Limits
) -> tuple[list[list[int]], list[Node]]:
    """What is reached from a node: the numbers of its successors by letter, and the nodes in breadth-first order."""
    numbers, nodes, rows = {start: 0}, [start], []
    for node in nodes:  # which grow on the way
        targets = [after(node, letter) for letter in letters]
        nodes += (new := [target for target in dict.fromkeys(targets) if target not in numbers])
        numbers.update(zip(new, range(len(numbers), len(nodes)), strict=True))
        limits.check(len(nodes), len(letters))
        rows.append([numbers[target] for target in targets])
    return rows, nodes


@dataclass(frozen=True, eq=False)
class Rounds(TaskSet):
    """Infinite tasks, each by the machine of its rounds."""

    infinite: tuple[InfiniteMachine, ...] = ()

    @classmethod
    def of_task(cls, task: Task) -> Rounds:
        """The rounds of one task."""
        machine = InfiniteMachine.of(task)
        return cls((machine.rounds(task.reward),), (task.title,), (machine,))

    def outcome(self, machine: MooreMachine) -> BoolArray:
        """A round is no outcome: another begins."""
        return machine.dead

    @cached_property
    def seen_as(self) -> IntArray:
        """(states,) where a round is over, the state that the next one goes on as, where there is one; else itself."""
        union, found = self.union, np.arange(self.union.states, dtype=np.int32)
        for state in np.flatnonzero(union.accepting).tolist():
            others = [twin for twin in union.moves.alike(state).tolist() if not union.accepting[twin]]
            found[state] = others[0] if others else state
        return found

    @cached_property
    def view(self) -> FloatArray:
        """Who has finished a round looks at the next one."""
        return task_view(self.union)[self.seen_as]


def compile_infinite(
    formula: InfiniteFormula | Finite | str,
    symbols: Alphabet | Iterable[str] | None = None,
    *,
    propositions: Iterable[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    logic: str = "ltl",
) -> InfiniteMachine:
    """Compile an infinite task to a deterministic machine with an Emerson-Lei condition.

    Args:
        formula: a formula, or its text.
        symbols: exactly one of these is true at each step. Include symbols that the formula does not mention.
        propositions: any number of these is true at a step. Default: those of the formula.
        limits: limits of the work.
        logic: language: ltl, ltlf+ or ppltl+. The text may also start with it, as in `ltlf+: AE(F(a & last))`.

    """
    return InfiniteMachine.of(Task.of(formula, symbols, propositions, inherited_logic(formula, logic)), limits)


# Statements


def _condition(numbers: dict[tuple[InfiniteOp, Finite], int], node: InfiniteFormula, args: list[Finite]) -> Finite:
    """The condition of a formula over the numbers of marks: a mark stands for "infinitely often"."""
    if node.args:
        return Finite(Op[node.op.name], tuple(args))
    op, finite = node.op, parse(node.name)
    negated = op in _DUALS
    leaf = (_DUALS[op], ~finite) if negated else (op, finite)
    mark = atom(str(numbers.setdefault(leaf, len(numbers))))
    return ~mark if negated else mark


_DUALS = {InfiniteOp.ALL: InfiniteOp.SOME, InfiniteOp.LASTING: InfiniteOp.OFTEN}
"""A(φ) is !E(!φ), and EA(φ) is !AE(!φ)."""


def _part(op: InfiniteOp, finite: Finite, mark: int, alphabet: Alphabet, limits: Limits) -> MooreMachine:
    """The machine that shows a mark infinitely often where a statement holds, and finitely often where it does not."""
    dfa = alphabet.lift(_PARTS[op](finite, alphabet.is_exclusive, limits)).minimal()
    return MooreMachine.of_moves(alphabet, dfa.moves, dfa.accepting, dfa.accepting.astype(np.float64) * mark)


def _some(finite: Finite, exclusive: bool, limits: Limits) -> Dfa:
    """Once accepted, always accepted; the empty prefix does not count."""
    begun = Dfa.of_classes((), exclusive, np.zeros(1, dtype=np.int32), np.array([[1], [1]]), np.array([False, True]))
    dfa = translate(finite, exclusive, limits).combined(begun, np.logical_and, limits)
    return Dfa(dfa.atoms, exclusive, dfa.moves.halted(np.flatnonzero(dfa.accepting).astype(np.int32)), dfa.accepting)


def _repeated(finite: Finite, exclusive: bool, limits: Limits) -> Dfa:
    """The automaton of F φ, which begins again where it has accepted."""
    dfa = translate(prefix(Op.EVENTUALLY, finite), exclusive, limits)
    columns = np.where(dfa.accepting[:, None], dfa.columns[0], dfa.columns)
    return _with_moves(dfa, columns, dfa.accepting)


def _each(finite: Finite, exclusive: bool, limits: Limits) -> Dfa:
    """A copy of the automaton of φ begins at every step, and each must accept (a breakpoint construction).

    A state has the copies that are waited for, and those that began since; where the former have all accepted, it
    shows the mark and waits for the latter.
    """
    dfa = translate(finite, exclusive, limits)
    columns, accepting = dfa.columns.tolist(), dfa.accepting

    def after(copies: _Copies, number: int) -> _Copies:
        moved = [{columns[one][number] for one in part} for part in (copies.waiting, copies.later | {0})]
        waiting, later = (frozenset(one for one in part if not accepting[one]) for part in moved)
        return _Copies(waiting, later - waiting, False) if waiting else _Copies(later, frozenset(), True)

    rows, states = explored(_Copies(frozenset(), frozenset(), False), range(len(columns[0])), after, limits)
    return _with_moves(dfa, np.array(rows), np.array([one.mark for one in states]))


class _Copies(NamedTuple):
    waiting: frozenset[State]
    later: frozenset[State]
    mark: bool


def _with_moves(dfa: Dfa, columns: IntArray, accepting: BoolArray) -> Dfa:
    moves = moves_of_classes(dfa.letters, columns.astype(np.int32), None if dfa.exclusive else len(dfa.atoms))
    return Dfa(dfa.atoms, dfa.exclusive, moves, accepting)


_PARTS: dict[InfiniteOp, Callable[[Finite, bool, Limits], Dfa]] = {
    InfiniteOp.SOME: _some,
    InfiniteOp.OFTEN: translate,
    InfiniteOp.REPEATED: _repeated,
    InfiniteOp.EACH: _each,
}
