"""LTLf to a minimal DFA.

Small formulas are translated by progression in one go, and those over few atoms by reading traces from their end
(`by_reversal`). Otherwise Boolean structure at the top of the formula, and next
operators there, are built from the automata of the parts by product and minimisation, and what lies below is
translated by progression. This keeps long conjunctions of small tasks small on the way, and avoids one huge
determinisation.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log2

from nrm.automata import DEFAULT_LIMITS, Dfa, Limits, after_one_step
from nrm.errors import FormulaError, LimitError
from nrm.logic.ltlf.formula import FUTURE, PAST, Formula, Op, both, either, prefix
from nrm.logic.ltlf.parser import parse
from nrm.logic.nodes import FALSE, TRUE, BackwardMachine, Nodes
from nrm.logic.progression import boolean_combination, progress
from nrm.logic.reversal import letters_of, read_backwards, reversed_dfa

SMALL = Limits(states=20, nodes=200)
"""What progression of a whole formula may use before its Boolean structure is taken apart."""
FIRST_TRY = Limits(states=1_500, nodes=20_000)
"""What progression below that structure may use before the arguments are translated one by one."""


def translate(formula: Formula | str, exclusive: bool, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """The minimal DFA of a formula over the atoms that it names (the paper's section on groundability, "DFAs").

    `exclusive` says whether exactly one symbol, or any subset of the atoms, holds at each step. The atoms come in no
    particular order; compiling over an alphabet fixes it. Raises `LimitError` instead of filling the memory.
    """
    root = parse(formula)
    nodes = closure(root, {})
    if (small := _attempt(nodes, exclusive, limits, SMALL)) is not None:
        return small
    if (found := by_reversal(root, exclusive, limits)) is not None:
        return found
    kinds = _Kinds(root, nodes)
    done: dict[Formula, Dfa] = {}
    order = root.atoms()
    pending = [(root, False)]
    while pending:
        node, ready = pending.pop()
        if node in done:
            continue
        if not ready and (whole := _chain(node, kinds, exclusive, limits)) is not None:
            done[node] = whole
            continue
        parts = _parts(node, kinds) if node in kinds.temporal else ()
        if ready or not parts:
            if parts:
                done[node] = _combined(node, [done[part] for part in parts], limits, order)
            else:
                done[node] = _progressed(node, kinds, exclusive, limits)
        else:
            pending.append((node, True))
            pending.extend((part, False) for part in parts)
    return done[root]


class _Kinds:
    """Which subformulas are, or contain, a temporal operator, and which one of the past; and their nodes."""

    def __init__(self, root: Formula, nodes: Nodes) -> None:
        self.temporal: set[Formula] = set()
        self.past: set[Formula] = set()
        self._root = root
        self._nodes = nodes
        for node in root.postorder():
            self.noted(node)

    def noted(self, node: Formula) -> Formula:
        """A formula whose arguments are known here, known as well."""
        if node.op in FUTURE or node.op in PAST or any(arg in self.temporal for arg in node.args):
            self.temporal.add(node)
        if node.op in PAST or any(arg in self.past for arg in node.args):
            self.past.add(node)
        return node

    def closure(self, node: Formula) -> Nodes:
        """The nodes of a subformula; those of the whole are made once."""
        return self._nodes if node is self._root else closure(node, {})

    def of_one_step(self, node: Formula) -> bool:
        """Whether a formula speaks of one step alone."""
        return node not in self.temporal


_SPLIT = {Op.ALWAYS: Op.AND, Op.EVENTUALLY: Op.OR}
"""G of a conjunction is that of its parts, and F of a disjunction likewise."""


def _parts(node: Formula, kinds: _Kinds) -> tuple[Formula, ...]:
    """The parts that a formula's automaton is composed of; none when it is translated by progression."""
    match node.op:
        case Op.AND | Op.OR:
            parts = _grouped(node.op, node.args, kinds)
            return parts if len(parts) > 1 else ()
        case Op.NOT | Op.IMPLIES | Op.IFF | Op.XOR:
            return node.args
        case Op.NEXT | Op.WEAK_NEXT if node not in kinds.past:  # a past operator inside sees the step that is cut off
            return node.args
        case Op.ALWAYS | Op.EVENTUALLY if node.args[0].op is _SPLIT[node.op]:
            split = tuple(kinds.noted(prefix(node.op, part)) for part in node.args[0].args)
            parts = _grouped(node.args[0].op, split, kinds)
            return parts if len(parts) > 1 else ()
        case _:
            return ()


def _grouped(op: Op, args: tuple[Formula, ...], kinds: _Kinds) -> tuple[Formula, ...]:
    """The arguments of a conjunction (disjunction), with those of one step as one, and G (F) of such as one.

    So `a & G !b & G !c & F d` has the parts `a`, `G(!b & !c)` and `F d`.
    """
    ever = Op.ALWAYS if op is Op.AND else Op.EVENTUALLY
    now: list[Formula] = []
    always: list[Formula] = []
    rest: list[Formula] = []
    for arg in args:
        if kinds.of_one_step(arg):
            now.append(arg)
        elif arg.op is ever and kinds.of_one_step(arg.args[0]):
            always.append(arg.args[0])
        else:
            rest.append(arg)
    join = both if op is Op.AND else either
    grouped = [join(*now)] if now else []
    if always:
        grouped.append(kinds.noted(prefix(ever, join(*always))))
    return (*grouped, *rest)


def _progressed(node: Formula, kinds: _Kinds, exclusive: bool, limits: Limits) -> Dfa:
    """Progression of the whole formula if that stays small, else over the automata of the operator's arguments.

    Taking everything apart at once is fastest on what people write. On large nested formulas the intermediate
    functions can explode; minimal automata for the arguments keep them small, at the price of more automata.
    """
    inner = [arg for arg in node.args if arg in kinds.temporal]
    nodes = kinds.closure(node)
    if node in kinds.past or not inner:
        return progress(nodes, exclusive, limits).minimal()
    if (small := _attempt(nodes, exclusive, limits, SMALL)) is not None:
        return small
    if (found := by_reversal(node, exclusive, limits)) is not None:
        return found
    if (whole := _attempt(nodes, exclusive, limits, FIRST_TRY)) is not None:
        return whole
    known = {arg: translate(arg, exclusive, limits) for arg in inner}
    return progress(closure(node, known), exclusive, limits).minimal()


def _chain(node: Formula, kinds: _Kinds, exclusive: bool, limits: Limits) -> Dfa | None:
    """The automaton of a next operator by progression, if that is short: long chains are not built link by link."""
    if node.op not in (Op.NEXT, Op.WEAK_NEXT):
        return None
    return _attempt(kinds.closure(node), exclusive, limits, FIRST_TRY)


def _attempt(nodes: Nodes, exclusive: bool, limits: Limits, budget: Limits) -> Dfa | None:
    """The automaton by progression of the whole formula, unless that takes more than the budget."""
    try:
        return progress(nodes, exclusive, limits.within(budget)).minimal()
    except LimitError:
        return None


def _combined(node: Formula, parts: list[Dfa], limits: Limits, order: tuple[str, ...]) -> Dfa:
    match node.op:
        case Op.ALWAYS:
            return boolean_combination("AND", parts, limits, order)
        case Op.EVENTUALLY:
            return boolean_combination("OR", parts, limits, order)
        case Op.NEXT | Op.WEAK_NEXT:
            return after_one_step(parts[0], weak=node.op is Op.WEAK_NEXT).minimal()
        case _:
            return boolean_combination(node.op.name, parts, limits, order)


def closure(formula: Formula, known: Mapping[Formula, Dfa | BackwardMachine]) -> Nodes:
    """The nodes of a formula; subformulas in `known` are not taken apart."""
    return _Closure(formula, known).nodes


class _Closure:
    """Builds the nodes."""

    def __init__(self, formula: Formula, known: Mapping[Formula, Dfa | BackwardMachine]) -> None:
        self.nodes = Nodes()
        # Each formula gets a pair: the node for it and the node for its negation.
        pairs: dict[Formula, tuple[int, int]] = {}
        for node in formula.postorder(leaves=known):
            if node in known:
                pairs[node] = self.nodes.known(known[node])
            else:
                pairs[node] = self._pair(node, [pairs[arg] for arg in node.args])
        self.nodes.root = pairs[formula][0]

    def _pair(self, node: Formula, args: list[tuple[int, int]]) -> tuple[int, int]:
        """The nodes of a formula and of its negation, given those of its arguments."""
        nodes, op = self.nodes, node.op
        if op in PAST:
            return self._past(node, args)
        match op:
            case Op.END:
                return FALSE, TRUE
            case Op.LAST:
                return nodes.weak_next(FALSE), nodes.next(TRUE)
            case Op.ATOM:
                return nodes.atom(node.name)
            case Op.TRUE | Op.FALSE | Op.NOT | Op.AND | Op.OR | Op.XOR | Op.IMPLIES | Op.IFF:
                return nodes.boolean(op.name, args)
            case Op.NEXT:
                return nodes.next(args[0][0]), nodes.weak_next(args[0][1])
            case Op.WEAK_NEXT:
                return nodes.weak_next(args[0][0]), nodes.next(args[0][1])
            case Op.EVENTUALLY:
                return nodes.until(TRUE, args[0][0]), nodes.release(FALSE, args[0][1])
            case Op.ALWAYS:
                return nodes.release(FALSE, args[0][0]), nodes.until(TRUE, args[0][1])
            case _:
                return self._binary(op, *args)

    def _binary(self, op: Op, left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
        nodes = self.nodes
        (a, not_a), (b, not_b) = left, right
        match op:
            case Op.UNTIL:
                return nodes.until(a, b), nodes.release(not_a, not_b)
            case Op.RELEASE:
                return nodes.release(a, b), nodes.until(not_a, not_b)
            case Op.WEAK_UNTIL:  # a W b = b R (a | b)
                return nodes.release(b, nodes.or_(a, b)), nodes.until(not_b, nodes.and_(not_a, not_b))
            case Op.STRONG_RELEASE:  # a M b = b U (a & b)
                return nodes.until(b, nodes.and_(a, b)), nodes.release(not_b, nodes.or_(not_a, not_b))
            case _:
                raise AssertionError(op)

    def _past(self, node: Formula, args: list[tuple[int, int]]) -> tuple[int, int]:
        if any(part.op in FUTURE for part in node.postorder()):
            raise FormulaError(
                f"not supported: the past operator '{node.op.value}' over a future operator in '{node}'; "
                "past operators may stand inside future ones, but not the other way round"
            )
        nodes = self.nodes
        was, was_not = nodes.bit()
        match node.op:
            case Op.YESTERDAY:
                nodes.tracked.append(args[0])
                return was, was_not
            case Op.ONCE:
                pair = nodes.or_(args[0][0], was), nodes.and_(args[0][1], was_not)
            case Op.HISTORICALLY:
                # The bit starts false, so it remembers the negation, "it failed once".
                pair = nodes.and_(args[0][0], was_not), nodes.or_(args[0][1], was)
                nodes.tracked.append((pair[1], pair[0]))
                return pair
            case _:
                (a, not_a), (b, not_b) = args
                pair = (
                    nodes.or_(b, nodes.and_(a, was)),
                    nodes.and_(not_b, nodes.or_(not_a, was_not)),
                )
        nodes.tracked.append(pair)
        return pair


MAX_BITS = 9
"""Temporal operators, or the bits of machines in their place, up to which a subformula is read in one go."""


def by_reversal(formula: Formula, exclusive: bool, limits: Limits) -> Dfa | None:
    """The minimal automaton; None where letters are many, for past operators, and where a machine becomes large.

    Subformulas of some size are read, minimised and from then on stand as one machine, from the inside out.
    """
    atoms = formula.atoms()
    holds = letters_of(atoms, exclusive)
    if holds is None:
        return None
    known: dict[Formula, BackwardMachine] = {}
    bits: dict[Formula, float] = {}
    try:
        for node in formula.postorder():
            if node.op in PAST:
                return None
            bits[node] = (node.op in FUTURE) + sum(bits[arg] for arg in node.args)
            if bits[node] > MAX_BITS:
                known[node] = read_backwards(closure(node, known), atoms, holds)
                bits[node] = log2(known[node].states)
        whole = known.get(formula) or read_backwards(closure(formula, known), atoms, holds)
        return reversed_dfa(whole, exclusive, limits)
    except LimitError:
        return None
