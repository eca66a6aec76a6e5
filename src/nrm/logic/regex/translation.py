"""Regular expressions to a minimal DFA: the states are derivatives."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from nrm.automata import DEFAULT_LIMITS, Dfa, Limits, Mtbdd, moves_of_nodes
from nrm.errors import LimitError
from nrm.logic.ltlf.translation import translate as translate_ltlf
from nrm.logic.progression import boolean_combination
from nrm.logic.regex.formula import Op, Regex, formula_of
from nrm.logic.regex.parser import parse
from nrm.logic.term import BOOLEAN, Term, boolean_function

SMALL = Limits(states=500, nodes=20_000)
"""What derivatives of a Boolean combination may use before it is taken apart."""


def translate(formula: Regex | str, exclusive: bool, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """The minimal DFA of the non-empty traces that match, over the atoms of the expression."""
    root = parse(formula)
    patterns = [node for node in root.postorder() if node.op is Op.PATTERN]
    runs = {node: translate_ltlf(formula_of(node), exclusive, limits) for node in patterns}
    try:
        return _translated(root, runs, exclusive, limits)
    except RecursionError:
        raise LimitError(
            f"the expression is nested too deep to be translated (depth {root.depth}); split it into several tasks"
        ) from None


_COMBINED = {Op.BOTH: "AND", Op.CHOICE: "OR", Op.COMPLEMENT: "NOT"}


def _translated(node: Regex, runs: dict[Regex, Dfa], exclusive: bool, limits: Limits) -> Dfa:
    """By derivatives where that is short, else by products of the parts of a Boolean combination."""
    if node.op not in _COMBINED:
        return _explored(node, runs, exclusive, limits).minimal()
    try:
        return _explored(node, runs, exclusive, limits.within(SMALL)).minimal()
    except LimitError:
        parts = [_translated(arg, runs, exclusive, limits) for arg in node.args]
        return boolean_combination(_COMBINED[node.op], parts, limits, node.atoms())


def _explored(root: Regex, runs: dict[Regex, Dfa], exclusive: bool, limits: Limits) -> Dfa:
    atoms = root.atoms()
    found = Derivatives(atoms, limits)
    diagrams = found.diagrams
    numbers = {expression(found, root, runs): 0}
    states, roots = list(numbers), []
    for state in states:
        top = found.derivative(state)
        roots.append(top)
        leaves = [diagrams.value(node) for node in diagrams.below([top]) if diagrams.is_leaf(node)]
        for target in leaves:
            if target not in numbers:
                numbers[target] = len(states)
                states.append(target)
                limits.check(len(states), 1)
    accepting = np.array([found.nullable[state] for state in states])
    if exclusive:
        letters = [*((index,) for index in range(len(atoms))), ()]
        rows = [[numbers[diagrams.at(top, letter)] for letter in letters] for top in roots]
        columns = np.array(rows, dtype=np.int32)
        # Some states may be reached only where several symbols hold at once.
        return Dfa.of_classes(atoms, True, np.arange(len(letters), dtype=np.int32), columns, accepting).trimmed()
    moves = moves_of_nodes(diagrams, roots, lambda node: numbers[diagrams.value(node)], len(atoms), limits)
    return Dfa(atoms, False, moves, accepting)


class Kind(IntEnum):
    """What an expression is; the meaning of its arguments follows it."""

    NONE = 0  # no trace
    EMPTY = 1  # the empty trace
    ALL = 2  # every trace
    STEP = 3  # the diagram of the letters
    THEN = 4  # first, second
    CHOICE = 5  # any of these, ascending
    BOTH = 6  # all of these, ascending
    OTHER = 7  # every trace that this one does not match
    STAR = 8  # any number of times
    RUN = 9  # an automaton and its state, -1 before the first step: what it accepts from there


NONE, EMPTY, ALL = 0, 1, 2
MAX_WORK = 12_000_000
"""Parts of expressions that are put together before an expression counts as too large: some seconds of work."""
MAX_STEPS = 4_000
"""Steps of an expression once its repetitions are written out."""


class Derivatives:
    """The expressions that reading leads to, over atoms as variables in order."""

    def __init__(self, atoms: tuple[str, ...], limits: Limits) -> None:
        self.diagrams: Mtbdd[int] = Mtbdd(limits.nodes)
        """Leaves are numbers of expressions."""
        self._place = {name: index for index, name in enumerate(atoms)}
        self._made: dict[tuple[Any, ...], int] = {}
        self._entries: list[tuple[Any, ...]] = []
        self.nullable: list[bool] = []
        """Whether an expression matches the empty trace."""
        self._automata: list[Dfa] = []
        self._steps: dict[Term, int] = {}
        self._work = 0
        self._others: dict[int, int] = {}
        self._derived: dict[int, int] = {}
        self._walked: list[dict[int, int]] = []
        self._joins: dict[Kind, dict[tuple[int, int], int]] = {Kind.CHOICE: {}, Kind.BOTH: {}}
        self._maps: dict[tuple[Kind, int], dict[int, int]] = {}
        for kind, empty in ((Kind.NONE, False), (Kind.EMPTY, True), (Kind.ALL, True)):
            self._new((kind,), empty)

    def _new(self, entry: tuple[Any, ...], nullable: bool) -> int:
        number = self._made.get(entry)
        if number is None:
            number = self._made[entry] = len(self._entries)
            self._entries.append(entry)
            self.nullable.append(nullable)
        return number

    def _spend(self, parts: int) -> None:
        self._work += parts
        if self._work > MAX_WORK:
            raise LimitError(
                "the expression is too large once its repetitions are written out (more than "
                f"{MAX_WORK:,} parts on the way); use smaller numbers in {{…}}, * where any number of times will do, "
                "or several tasks"
            )

    def step(self, term: Regex) -> int:
        """The expression of one step."""
        found = boolean_function(term, self.diagrams, self._place, self._steps)  # NONE is 0, and EMPTY is 1
        return NONE if found == self.diagrams.leaf(NONE) else self._new((Kind.STEP, found), False)

    def then(self, first: int, second: int) -> int:
        """One after the other; chains lean to the right."""
        self._spend(1)
        if NONE in (first, second):
            return NONE
        if first == EMPTY or (first == ALL and self.nullable[second]):
            return second if first == EMPTY else ALL
        if second == EMPTY:
            return first
        if self._entries[first][0] is Kind.THEN:
            _, head, tail = self._entries[first]
            return self.then(head, self.then(tail, second))
        return self._new((Kind.THEN, first, second), self.nullable[first] and self.nullable[second])

    def choice(self, *parts: int) -> int:
        """Any of these."""
        return self._set(Kind.CHOICE, parts, NONE, ALL)

    def both(self, *parts: int) -> int:
        """All of these at once."""
        return self._set(Kind.BOTH, parts, ALL, NONE)

    def _set(self, kind: Kind, parts: tuple[int, ...], neutral: int, absorbing: int) -> int:
        found: set[int] = set()
        for part in parts:
            entry = self._entries[part]
            found.update(entry[1] if entry[0] is kind else (part,))
        found.discard(neutral)
        self._spend(len(found))
        if absorbing in found or (self._others and any(self._others.get(part) in found for part in found)):
            return absorbing
        if len(found) <= 1:
            return found.pop() if found else neutral
        nullable = (any if kind is Kind.CHOICE else all)(self.nullable[part] for part in found)
        return self._new((kind, tuple(sorted(found))), nullable)

    def other(self, part: int) -> int:
        """Every other trace."""
        if part in (NONE, ALL):
            return ALL if part == NONE else NONE
        if self._entries[part][0] is Kind.OTHER:
            return int(self._entries[part][1])
        self._others[part] = self._new((Kind.OTHER, part), not self.nullable[part])
        return self._others[part]

    def star(self, part: int) -> int:
        """Any number of times."""
        if part in (NONE, EMPTY):
            return EMPTY
        if part == ALL or self._entries[part] == (Kind.STEP, self.diagrams.leaf(EMPTY)):
            return ALL
        return part if self._entries[part][0] is Kind.STAR else self._new((Kind.STAR, part), True)

    def run(self, automaton: Dfa) -> int:
        """The non-empty traces that an automaton accepts."""
        self._automata.append(automaton)
        self._walked.append({})
        return self._run(len(self._automata) - 1, -1)

    def _run(self, automaton: int, state: int) -> int:
        accepting = state >= 0 and bool(self._automata[automaton].accepting[state])
        if state >= 0 and self._automata[automaton].absorbing[state]:
            return ALL if accepting else NONE
        return self._new((Kind.RUN, automaton, state), accepting)

    def derivative(self, number: int) -> int:
        """The diagram of what must follow, by the letter that is read."""
        if number not in self._derived:
            self._derived[number] = self._derive(*self._entries[number], number=number)
        return self._derived[number]

    def _derive(self, kind: Kind, *args: Any, number: int) -> int:
        diagrams = self.diagrams
        match kind:
            case Kind.NONE | Kind.EMPTY:
                return diagrams.leaf(NONE)
            case Kind.ALL:
                return diagrams.leaf(ALL)
            case Kind.STEP:
                return int(args[0])
            case Kind.THEN:
                first, second = args
                left = self._mapped(kind, second, self.derivative(first))
                return self._joined(Kind.CHOICE, [left, self.derivative(second)]) if self.nullable[first] else left
            case Kind.CHOICE | Kind.BOTH:
                return self._joined(kind, [self.derivative(part) for part in args[0]])
            case Kind.OTHER:
                return self._mapped(kind, 0, self.derivative(args[0]))
            case Kind.STAR:
                return self._mapped(Kind.THEN, number, self.derivative(args[0]))
            case Kind.RUN:
                return self._moves(*args)

    def _mapped(self, kind: Kind, second: int, diagram: int) -> int:
        """A diagram with something put behind each leaf, or each leaf negated."""
        change = self.other if kind is Kind.OTHER else lambda first: self.then(first, second)
        return self.diagrams.map(diagram, change, self._maps.setdefault((kind, second), {}))

    def _joined(self, kind: Kind, diagrams: list[int]) -> int:
        join = self.choice if kind is Kind.CHOICE else self.both
        result = diagrams[0]
        for diagram in diagrams[1:]:
            result = self.diagrams.apply(result, diagram, join, self._joins[kind])
        return result

    def _moves(self, index: int, state: int) -> int:
        """The diagram of an automaton's moves from a state."""
        automaton, diagrams = self._automata[index], self.diagrams
        places = [self._place[name] for name in automaton.atoms]

        def leaf(target: int) -> int:
            return diagrams.leaf(self._run(index, target))

        if not automaton.exclusive:
            return automaton.moves.into(diagrams, max(state, 0), places, leaf, self._walked[index])
        after = [leaf(automaton.moves.next_state(max(state, 0), letter)) for letter in range(len(places) + 1)]
        result = after[-1]
        for atom in sorted(range(len(places)), key=places.__getitem__, reverse=True):
            result = diagrams.node(places[atom], result, after[atom])  # at most one holds: the first that does decides
        return result


def expression(derivatives: Derivatives, root: Regex, runs: dict[Regex, Dfa]) -> int:
    """The number of a regular expression; `runs`: the automata of the patterns in it."""
    _check_size(root, runs)
    done: dict[Regex, int] = {}
    for node in root.postorder(leaves=runs):
        if node.op.name in BOOLEAN:
            done[node] = derivatives.step(node)
            continue
        if node.op is Op.PATTERN:
            done[node] = derivatives.run(runs[node])
            continue
        args = [done[arg] for arg in node.args]
        match node.op:
            case Op.CHOICE:
                done[node] = derivatives.choice(*args)
            case Op.BOTH:
                done[node] = derivatives.both(*args)
            case Op.COMPLEMENT:
                done[node] = derivatives.other(args[0])
            case Op.STAR:
                done[node] = derivatives.star(args[0])
            case Op.OPTIONAL:
                done[node] = derivatives.choice(EMPTY, args[0])
            case Op.REPEAT:
                done[node] = _repeated(derivatives, args[0], *node.bounds)
            case _:
                done[node] = args[-1]
                for arg in reversed(args[:-1]):
                    done[node] = derivatives.then(arg, done[node])
    return done[root]


def _check_size(root: Regex, runs: dict[Regex, Dfa]) -> None:
    """`LimitError` where repetitions of repetitions are too many to be written out."""
    steps: dict[Regex, int] = {}
    for node in root.postorder(leaves=runs):
        below = sum(steps[arg] for arg in node.args) if node not in runs else 1
        if node.op is Op.REPEAT:
            least, most = node.bounds
            below *= max(least, most or 0, 1)
        steps[node] = 1 if node.op.name in BOOLEAN else below
    if steps[root] > MAX_STEPS:
        raise LimitError(
            f"with its repetitions written out the expression has {steps[root]:,} steps (the limit is {MAX_STEPS:,}); "
            "use smaller numbers in {…}, * where any number of times will do, or several tasks"
        )


def _repeated(derivatives: Derivatives, part: int, least: int, most: int | None) -> int:
    result = derivatives.star(part) if most is None else EMPTY
    for _ in range(0 if most is None else most - least):
        result = derivatives.choice(EMPTY, derivatives.then(part, result))
    for _ in range(least):
        result = derivatives.then(part, result)
    return result
