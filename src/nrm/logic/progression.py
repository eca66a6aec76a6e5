"""A formula without Boolean structure at its top, to an automaton, by progression.

A state is what is still owed: a Boolean function over *obligations* "this subformula must hold at the next step",
strong (and the step must exist) or weak (if the step exists). As a decision diagram the function is canonical, so
there are finitely many states. Reading a letter replaces each obligation by its expansion at that letter.

For an exclusive alphabet every letter is tried in turn. For propositions one diagram holds all 2^n letters: they
stand above the obligations, and below the last proposition each node is a successor state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from nrm.automata import FALSE, TRUE, Bdd, Dfa, Limits, combined_all, moves_of_nodes
from nrm.errors import LimitError
from nrm.logic.nodes import NodeKind, Nodes, eventualities, invariants

Bits = tuple[bool, ...]


def progress(nodes: Nodes, exclusive: bool, limits: Limits) -> Dfa:
    """The automaton of a formula over the atoms that it names; not yet minimal.

    Where a node is an automaton, what is owed for it is to reach acceptance there.
    """
    try:
        return (_ByLetter if exclusive else _Symbolic)(nodes, limits).explore()
    except RecursionError:
        raise LimitError(
            f"the formula owes too many obligations at once to be translated ({len(nodes.kinds)} parts); "
            "split it into several tasks"
        ) from None


class Obligation(NamedTuple):
    """What must hold from the next step on: a subformula, or acceptance from a state of an automaton."""

    source: int
    """The subformula's node, or the automaton's index."""
    state: int
    """The automaton's state; -1 for a subformula."""
    met_at_end: bool
    """Whether it counts as met when there is no next step: weak subformulas, accepting states."""


class _Progression:
    """What both alphabets share: obligations as variables, expansion, and the end of a trace."""

    def __init__(self, nodes: Nodes, limits: Limits) -> None:
        self.nodes = nodes
        self.limits = limits
        self.bdd = Bdd(limits.nodes)
        self.letters = len(nodes.atoms)
        # Order of variables: propositions, memory bits, obligations from the outside in.
        self.first_bit = self.letters
        self.first_obligation = self.first_bit + len(nodes.tracked)
        self.obligations: list[Obligation] = []
        self.variables: dict[Obligation, int] = {}
        for node in range(len(nodes.kinds) - 1, -1, -1):
            if nodes.put_off(node) is not None:
                self._declare(self.obligation(node))
        self._declare(Obligation(nodes.root, -1, False))
        self._implied = self._implications()
        self._owed: dict[Obligation, int] = {}
        # For each automaton: our numbers of its atoms.
        self.places = [[nodes.atoms.index(name) for name in automaton.atoms] for automaton in nodes.automata]
        self.reaching = [self._automaton_states(index) for index in range(len(nodes.automata))]
        self._moves: dict[tuple[int, int, int | None], int] = {}
        self._along: list[dict[int, int]] = [{} for _ in nodes.automata]
        self._accepts: dict[int, bool] = {FALSE: False, TRUE: True}

    def obligation(self, node: int) -> Obligation:
        """What a temporal node puts off to the next step."""
        put_off = self.nodes.put_off(node)
        assert put_off is not None
        return Obligation(put_off[0], -1, put_off[1])

    def _declare(self, obligation: Obligation) -> None:
        if obligation not in self.variables:
            self.variables[obligation] = self.first_obligation + len(self.obligations)
            self.obligations.append(obligation)

    def _automaton_states(self, index: int) -> list[int]:
        """For each state of an automaton, the function "acceptance is owed from here"."""
        automaton = self.nodes.automata[index]
        settled, accepting = automaton.absorbing.tolist(), automaton.accepting.tolist()
        open_states = [state for state, closed in enumerate(settled) if not closed]
        owed = {state: Obligation(index, state, accepting[state]) for state in open_states}
        for obligation in owed.values():
            self._declare(obligation)
        within = automaton.moves.included(automaton.accepting)
        if within is not None:
            for state in open_states:
                self._implied[owed[state]] = [owed[other] for other in open_states if within[state, other]]
        return [
            (TRUE if accepting[state] else FALSE) if closed else self.owed(owed[state])
            for state, closed in enumerate(settled)
        ]

    def _implications(self) -> dict[Obligation, list[Obligation]]:
        """For each obligation those that are met whenever it is, as far as that is plain."""
        nodes = self.nodes
        sooner, always = eventualities(nodes), invariants(nodes)
        implied: dict[Obligation, list[Obligation]] = {}
        for obligation in self.obligations:
            if not obligation.met_at_end:
                implied[obligation] = [Obligation(other, -1, False) for other in sooner[obligation.source]]
        for obligation in self.obligations:
            if obligation.met_at_end:
                for other in always[obligation.source]:
                    implied.setdefault(Obligation(other, -1, True), []).append(obligation)
        # What holds makes `f U` it hold; and what `f R g` promises, g, holds while it does.
        for node, kind in enumerate(nodes.kinds):
            for lasting, weak in ((NodeKind.UNTIL, False), (NodeKind.RELEASE, True)):
                whole, part = Obligation(node, -1, weak), Obligation(nodes.seconds[node], -1, weak)
                if kind is lasting and part in self.variables:
                    source, target = (whole, part) if weak else (part, whole)
                    implied.setdefault(source, []).append(target)
        return {obligation: _reachable(obligation, implied) for obligation in implied}

    def owed(self, obligation: Obligation) -> int:
        """The function that is this obligation, and with it those that it implies.

        These make one function of what comes to the same: where F implies G, "F or G" is then G.
        """
        function = self._owed.get(obligation)
        if function is None:
            self._declare(obligation)
            together = {self.variables[other] for other in self._implied.get(obligation, ())}
            function = TRUE
            for variable in sorted(together | {self.variables[obligation]}, reverse=True):
                function = self.bdd.node(variable, FALSE, function)
            self._owed[obligation] = function
        return function

    def initial(self) -> int:
        """Everything is owed and nothing is remembered."""
        state = self.owed(Obligation(self.nodes.root, -1, False))
        for bit in reversed(range(len(self.nodes.tracked))):
            state = self.bdd.node(self.first_bit + bit, state, FALSE)
        return state

    def split(self, state: int) -> tuple[Bits, int]:
        """A state's memory bits, and the function over obligations below them."""
        bits = []
        bdd = self.bdd
        while self.first_bit <= bdd.var[state] < self.first_obligation:
            bits.append(bdd.low[state] == FALSE)
            state = bdd.high[state] if bits[-1] else bdd.low[state]
        return tuple(bits), state

    def settled(self, state: int) -> int:
        """The state without its memory where nothing is owed any more."""
        return TRUE if self.nodes.tracked and self.split(state)[1] == TRUE else state

    def accepts(self, state: int) -> bool:
        """Whether the trace may end here: strong obligations fail, weak ones are met."""
        path = []
        current = self.split(state)[1]
        while current not in self._accepts:
            path.append(current)
            met = self.obligations[self.bdd.var[current] - self.first_obligation].met_at_end
            current = self.bdd.high[current] if met else self.bdd.low[current]
        for seen in path:
            self._accepts[seen] = self._accepts[current]
        return self._accepts[current]

    def atom(self, index: int, positive: bool, letter: int | None) -> int:
        """An atom at a letter, or as a variable when all letters are treated at once."""
        if letter is None:
            return self.bdd.literal(index, positive)
        return TRUE if (index == letter) == positive else FALSE

    def move(self, index: int, state: int, letter: int | None) -> int:
        """What a known automaton owes after it reads a letter, or all letters at once, in a state."""
        key = (index, state, letter)
        if key not in self._moves:
            moves, places, reaching = self.nodes.automata[index].moves, self.places[index], self.reaching[index]
            if letter is None:
                after = moves.into(self.bdd, state, places, reaching.__getitem__, self._along[index])
            else:
                own = places.index(letter) if letter in places else len(places)
                after = reaching[moves.next_state(state, own)]
            self._moves[key] = after
        return self._moves[key]


def _reachable(start: Obligation, implied: Mapping[Obligation, list[Obligation]]) -> list[Obligation]:
    """What follows from an obligation, directly and through others."""
    found = {start: None}
    pending = [start]
    while pending:
        for other in implied.get(pending.pop(), ()):
            if other not in found:
                found[other] = None
                pending.append(other)
    return list(found)[1:]


class _Expander:
    """The expansion of subformulas and states at one letter (or all) under one memory."""

    def __init__(self, owner: _Progression, letter: int | None, bits: Bits) -> None:
        self.owner = owner
        self.letter = letter
        self.bits = bits
        self.values: list[int] = []
        self.states: dict[int, int] = {FALSE: FALSE, TRUE: TRUE}
        nodes, bdd = owner.nodes, owner.bdd
        for node, kind in enumerate(nodes.kinds):
            first, second = nodes.firsts[node], nodes.seconds[node]
            match kind:
                case NodeKind.TRUE:
                    value = TRUE
                case NodeKind.FALSE:
                    value = FALSE
                case NodeKind.ATOM:
                    value = owner.atom(first, bool(second), letter)
                case NodeKind.BIT:
                    value = TRUE if bits and bits[first] == bool(second) else FALSE
                case NodeKind.AND:
                    value = TRUE
                    for part in nodes.parts[node]:
                        value = bdd.conjunction(value, self.values[part])
                case NodeKind.OR:
                    value = FALSE
                    for part in nodes.parts[node]:
                        value = bdd.disjunction(value, self.values[part])
                case NodeKind.NEXT | NodeKind.WEAK_NEXT:
                    value = owner.owed(owner.obligation(node))
                case NodeKind.AUTOMATON:
                    value = owner.move(first, 0, letter)
                case NodeKind.UNTIL:
                    later = owner.owed(owner.obligation(node))
                    value = bdd.disjunction(self.values[second], bdd.conjunction(self.values[first], later))
                case NodeKind.RELEASE:
                    later = owner.owed(owner.obligation(node))
                    value = bdd.conjunction(self.values[second], bdd.disjunction(self.values[first], later))
            self.values.append(value)

    def after(self, state: int) -> int:
        """The state (without memory) that follows `state`."""
        result = self.states.get(state)
        if result is None:
            bdd = self.owner.bdd
            source, place, _ = self.owner.obligations[bdd.var[state] - self.owner.first_obligation]
            now = self.values[source] if place < 0 else self.owner.move(source, place, self.letter)
            # The function is monotone in obligations, so "if v then high else low" is "v and high, or low".
            met = bdd.conjunction(now, self.after(bdd.high[state]))
            result = self.states[state] = bdd.disjunction(met, self.after(bdd.low[state]))
        return result

    def remembered(self, state: int) -> int:
        """`state` with the memory as it is after this step."""
        owner, bdd = self.owner, self.owner.bdd
        if state in (FALSE, TRUE):
            return state
        for bit, (now, now_not) in reversed(list(enumerate(owner.nodes.tracked))):
            variable = owner.first_bit + bit
            yes = bdd.conjunction(self.values[now], bdd.literal(variable, True))
            no = bdd.conjunction(self.values[now_not], bdd.literal(variable, False))
            state = bdd.conjunction(state, bdd.disjunction(yes, no))
        return state


class _ByLetter(_Progression):
    """Exactly one atom, or none of them, holds at each step."""

    def explore(self) -> Dfa:
        expanders: dict[tuple[int, Bits], _Expander] = {}
        numbers = {self.initial(): 0}
        states = list(numbers)
        rows: list[list[int]] = []
        for state in states:
            bits, owed = self.split(state)
            row = []
            for letter in range(self.letters + 1):
                expander = expanders.get((letter, bits))
                if expander is None:
                    expander = expanders[letter, bits] = _Expander(self, letter, bits)
                target = self.settled(expander.remembered(expander.after(owed)))
                if target not in numbers:
                    numbers[target] = len(states)
                    states.append(target)
                    self.limits.check(len(states), self.letters + 1)
                row.append(numbers[target])
            rows.append(row)
        accepting = np.array([self.accepts(state) for state in states])
        letter_class = np.arange(self.letters + 1, dtype=np.int32)
        return Dfa.of_classes(tuple(self.nodes.atoms), True, letter_class, np.array(rows, dtype=np.int32), accepting)


class _Symbolic(_Progression):
    """Any subset of the atoms holds at each step."""

    def explore(self) -> Dfa:
        expanders: dict[Bits, _Expander] = {}
        numbers = {self.initial(): 0}
        states = list(numbers)
        roots: list[int] = []
        for state in states:
            bits, owed = self.split(state)
            if bits not in expanders:
                expanders[bits] = _Expander(self, None, bits)
            root = expanders[bits].remembered(expanders[bits].after(owed))
            roots.append(root)
            for target in self._below_letters(root):
                if target not in numbers:
                    numbers[target] = len(states)
                    states.append(target)
                    self.limits.check(len(states), 1)
        accepting = np.array([self.accepts(state) for state in states])
        moves = moves_of_nodes(self.bdd, roots, lambda node: numbers[self.settled(node)], self.letters, self.limits)
        return Dfa(tuple(self.nodes.atoms), False, moves, accepting)

    def _below_letters(self, root: int) -> list[int]:
        """The successor states in a diagram, in a fixed order."""
        bdd, found, seen, pending = self.bdd, dict[int, None](), {root}, [root]
        while pending:
            node = pending.pop()
            if bdd.var[node] >= self.letters:
                found[self.settled(node)] = None
                continue
            for child in (bdd.high[node], bdd.low[node]):
                if child not in seen:
                    seen.add(child)
                    pending.append(child)
        return list(found)


BOOLEAN_OPERATORS = frozenset(("NOT", "AND", "OR", "XOR", "IMPLIES", "IFF"))


def boolean_combination(op: str, parts: Sequence[Dfa], limits: Limits, order: Sequence[str] = ()) -> Dfa:
    """The minimal automaton of a Boolean operator, by its name, over those of its arguments.

    `order`: of the atoms, which is best that of the formula: it is the order of the decision diagrams.
    """
    match op:
        case "NOT":
            return parts[0].complement().minimal()
        case "AND":
            return combined_all(parts, np.logical_and, limits, order)
        case "OR":
            return combined_all(parts, np.logical_or, limits, order)
        case "IMPLIES":
            return parts[0].complement().combined(parts[1], np.logical_or, limits, order).minimal()
        case _:
            differ = parts[0].combined(parts[1], np.logical_xor, limits, order)
            return (differ.complement() if op == "IFF" else differ).minimal()
