"""A formula without Boolean structure at its top, to an automaton, by progression.

A state is what is still owed: a Boolean function over *obligations* "this subformula must hold at the next step",
strong (and the step must exist) or weak (if the step exists). As a decision diagram the function is canonical, so
there are finitely many states. Reading a letter replaces each obligation by its expansion at that letter.

For an exclusive alphabet every letter is tried in turn. For propositions one diagram holds all 2^n letters: they
stand above the obligations, and below the last proposition each node is a successor state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

import numpy as np

from nrm.aliases import BoolArray
from nrm.automata import FALSE, TRUE, Bdd, Dfa, Limits, combined_all, moves_of_nodes, spend
from nrm.errors import LimitError
from nrm.logic.nodes import NodeKind, Nodes, eventualities, invariants
from nrm.logic.reversal import by_reversal
from nrm.logic.term import Term

Node = TypeVar("Node", bound=Term)
Bits = tuple[bool, ...]


def progress(nodes: Nodes, exclusive: bool, limits: Limits) -> Dfa:
    """The automaton of a formula over the atoms that it names; not yet minimal."""
    try:
        return (_ByLetter if exclusive else _Symbolic)(nodes, limits).explore()
    except RecursionError:
        raise LimitError(
            f"the formula owes too many obligations at once to be translated ({len(nodes.kinds)} parts); "
            "split it into several tasks"
        ) from None


class Obligation(NamedTuple):
    """What must hold from the next step on."""

    source: int
    """The subformula's node."""
    met_at_end: bool
    """Whether it counts as met when there is no next step: weak subformulas."""


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
        self._declare(Obligation(nodes.root, False))
        self._implied = self._implications()
        self._owed: dict[Obligation, int] = {}
        self._accepts: dict[int, bool] = {FALSE: False, TRUE: True}
        self._expanders: dict[tuple[int | None, Bits], _Expander] = {}
        self.atoms = tuple(nodes.atoms)
        self.states = [self.initial()]
        self.numbers = {self.states[0]: 0}

    def found(self, state: int, classes: int) -> None:
        """A state that some letter leads to, known from now on; so many classes of letters there are."""
        if state not in self.numbers:
            self.numbers[state] = len(self.states)
            self.states.append(state)
            self.limits.check(len(self.states), classes)

    def expanded(self, state: int, letter: int | None) -> int:
        """What follows a state by a letter, or by all letters at once."""
        bits, owed = self.split(state)
        spend(2_000)
        if (letter, bits) not in self._expanders:
            spend(400 * (len(self.nodes.kinds) + 4 * len(bits)))
            self._expanders[letter, bits] = _Expander(self, letter, bits)
        expander = self._expanders[letter, bits]
        return expander.remembered(expander.after(owed))

    def accepting(self) -> BoolArray:
        """(states,) whether a trace may end there."""
        return np.array([self.accepts(state) for state in self.states])

    def obligation(self, node: int) -> Obligation:
        """What a temporal node puts off to the next step."""
        put_off = self.nodes.put_off(node)
        assert put_off is not None
        return Obligation(*put_off)

    def _declare(self, obligation: Obligation) -> None:
        if obligation not in self.variables:
            self.variables[obligation] = self.first_obligation + len(self.obligations)
            self.obligations.append(obligation)

    def _implications(self) -> dict[Obligation, list[Obligation]]:
        """For each obligation those that are met whenever it is, as far as that is plain."""
        nodes = self.nodes
        sooner, always = eventualities(nodes), invariants(nodes)
        implied: dict[Obligation, list[Obligation]] = {}
        for obligation in self.obligations:
            if not obligation.met_at_end:
                implied[obligation] = [Obligation(other, False) for other in sooner[obligation.source]]
        for obligation in self.obligations:
            if obligation.met_at_end:
                for other in always[obligation.source]:
                    implied.setdefault(Obligation(other, True), []).append(obligation)
        # What holds makes `f U` it hold; and what `f R g` promises, g, holds while it does.
        for node, kind in enumerate(nodes.kinds):
            for lasting, weak in ((NodeKind.UNTIL, False), (NodeKind.RELEASE, True)):
                whole, part = Obligation(node, weak), Obligation(nodes.seconds[node], weak)
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
        state = self.owed(Obligation(self.nodes.root, False))
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


def _reachable(start: Obligation, implied: Mapping[Obligation, list[Obligation]]) -> list[Obligation]:
    """What follows from an obligation, directly and through others."""
    found = {start: None}
    pending = [start]
    while pending:
        others = implied.get(pending.pop(), ())
        spend(150 * len(others))
        for other in others:
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
                case NodeKind.TRUE | NodeKind.FALSE:
                    value = TRUE if kind is NodeKind.TRUE else FALSE
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
            now = self.values[self.owner.obligations[bdd.var[state] - self.owner.first_obligation].source]
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
        letters = range(self.letters + 1)
        rows = [[self.after(state, letter) for letter in letters] for state in self.states]  # which grow on the way
        columns = np.array([[self.numbers[target] for target in row] for row in rows], dtype=np.int32)
        return Dfa.of_classes(self.atoms, True, np.array(letters, dtype=np.int32), columns, self.accepting())

    def after(self, state: int, letter: int) -> int:
        target = self.settled(self.expanded(state, letter))
        self.found(target, self.letters + 1)
        return target


class _Symbolic(_Progression):
    """Any subset of the atoms holds at each step."""

    def explore(self) -> Dfa:
        roots = [self.after(state) for state in self.states]  # which grow on the way
        moves = moves_of_nodes(
            self.bdd, roots, lambda node: self.numbers[self.settled(node)], self.letters, self.limits
        )
        return Dfa(self.atoms, False, moves, self.accepting())

    def after(self, state: int) -> int:
        """The diagram of what follows a state, by all letters; below the letters stand states, in a fixed order."""
        root = self.expanded(state, None)
        for node in self.bdd.below([root], self.letters):
            if self.bdd.var[node] >= self.letters:
                self.found(self.settled(node), 1)
        return root


SMALL = Limits(states=50, nodes=1_000)
"""What progression of a whole formula may use before other ways are tried."""


def translated(root: Node, closure: Callable[[Node], Nodes], exclusive: bool, limits: Limits) -> Dfa:
    """The minimal automaton of a formula in any language, of which `closure` gives the nodes.

    By progression in one go where that is small, by reading traces from their end where letters are few, else by
    products of the automata of Boolean parts. The latter keeps long conjunctions of small tasks small on the way, and
    avoids one huge determinisation.
    """
    try:
        with limits.working():
            return _translated(root, closure, exclusive, limits)
    except RecursionError:
        raise LimitError(
            "the formula is too long or nested too deep to be translated; split it into several tasks"
        ) from None


def _translated(root: Node, closure: Callable[[Node], Nodes], exclusive: bool, limits: Limits) -> Dfa:
    nodes = closure(root)
    try:
        return progress(nodes, exclusive, limits.within(SMALL)).minimal()
    except LimitError:
        if (found := by_reversal(nodes, root.atoms(), exclusive, limits)) is not None:
            return found
    combine = _COMBINED.get(root.op.name)
    if combine is None:
        return progress(nodes, exclusive, limits).minimal()
    first, *others = [_translated(part, closure, exclusive, limits) for part in root.args]
    if root.op.name in ("NOT", "IMPLIES"):
        first = first.complement()
    whole = combined_all((first, *others), combine, limits, root.atoms())
    return (whole.complement() if root.op.name == "IFF" else whole).minimal()


_COMBINED = {
    "NOT": np.logical_or,
    "AND": np.logical_and,
    "OR": np.logical_or,
    "IMPLIES": np.logical_or,
    "XOR": np.logical_xor,
    "IFF": np.logical_xor,
}
