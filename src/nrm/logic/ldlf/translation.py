"""LDLf to a minimal DFA.

By progression in one go where that is small, by reading traces from their end where letters are few, else by products
of the Boolean parts.
"""

from __future__ import annotations

from nrm.automata import DEFAULT_LIMITS, Dfa, Limits
from nrm.errors import LimitError
from nrm.logic.ldlf.formula import PATHS, Ldlf, Op, box, diamond
from nrm.logic.ldlf.parser import parse
from nrm.logic.nodes import FALSE, TRUE, NodeKind, Nodes
from nrm.logic.progression import BOOLEAN_OPERATORS, boolean_combination, progress
from nrm.logic.reversal import by_reversal
from nrm.logic.term import BOOLEAN, boolean_value

SMALL = Limits(states=200, nodes=20_000)
"""What progression of a whole formula may use before its Boolean structure is taken apart."""


def translate(formula: Ldlf | str, exclusive: bool, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """The minimal DFA of a formula over the atoms that it names, of non-empty traces; see `nrm.logic.Language`."""
    root = parse(formula)
    try:
        return _translated(root, exclusive, limits)
    except RecursionError:
        raise LimitError(
            f"the formula's paths are nested too deep to be translated (depth {root.depth}); "
            "split it into several tasks"
        ) from None


def _translated(node: Ldlf, exclusive: bool, limits: Limits) -> Dfa:
    nodes = closure(node)
    try:
        return progress(nodes, exclusive, limits.within(SMALL)).minimal()
    except LimitError:
        if (found := by_reversal(nodes, node.atoms(), exclusive, limits)) is not None:
            return found
    if node.op.name not in BOOLEAN_OPERATORS:
        return progress(nodes, exclusive, limits).minimal()
    parts = [_translated(arg, exclusive, limits) for arg in node.args]
    return boolean_combination(node.op.name, parts, limits, node.atoms())


Pair = tuple[int, int]
"""The nodes of a formula and of its negation."""


def closure(formula: Ldlf) -> Nodes:
    """The nodes of a formula."""
    return _Closure(formula).nodes


class _Closure:
    def __init__(self, formula: Ldlf) -> None:
        self.nodes = Nodes()
        self._pairs: dict[Ldlf, Pair] = {}
        self._over: dict[Ldlf, bool] = {}
        self._walks: dict[tuple[Ldlf, Ldlf, bool, int, bool], int] = {}
        self._later: dict[tuple[Ldlf, bool], int] = {}
        """What is put off to the next place, by its number in order of arrival."""
        self.nodes.root = self._pair(formula)[0]
        targets: list[int] = []
        while len(targets) < len(self._later):
            term, positive = list(self._later)[len(targets)]
            targets.append(self._pair(term)[0 if positive else 1])
        for node, kind in enumerate(self.nodes.kinds):
            first = self.nodes.firsts[node]
            if kind in (NodeKind.NEXT, NodeKind.WEAK_NEXT) and first < 0:
                self.nodes.firsts[node] = targets[-1 - first]

    def _pair(self, formula: Ldlf) -> Pair:
        """The nodes of a formula at a place where there is a step."""
        for node in formula.postorder(leaves=self._pairs):
            if node.op not in PATHS and node not in self._pairs:
                self._pairs[node] = self._made(node)
        return self._pairs[formula]

    def _made(self, node: Ldlf) -> Pair:
        nodes = self.nodes
        match node.op:
            case Op.TT:
                return TRUE, FALSE
            case Op.FF | Op.END:
                return FALSE, TRUE
            case Op.LAST:
                return nodes.weak_next(FALSE), nodes.next(TRUE)
            case Op.ATOM:
                return nodes.atom(node.name)
            case Op.DIAMOND | Op.BOX:
                path, after = node.args
                yes, no = self._pairs[after]
                exists = node.op is Op.DIAMOND
                return self._walk(path, after, exists, yes, True), self._walk(path, after, not exists, no, False)
            case _:
                return nodes.boolean(node.op.name, [self._pairs[arg] for arg in node.args])

    def _walk(self, path: Ldlf, after: Ldlf, exists: bool, now: int, positive: bool) -> int:
        """`<path>` (when `exists`) or `[path]` of `after`, or of its negation (not `positive`).

        `now`: the node of what is to hold if the path ends at this very place.
        """
        key = (path, after, exists, now, positive)
        if key not in self._walks:
            self._walks[key] = self._walked(path, after, exists, now, positive)
        return self._walks[key]

    def _walked(self, path: Ldlf, after: Ldlf, exists: bool, now: int, positive: bool) -> int:
        nodes = self.nodes
        some, every = (nodes.or_, nodes.and_) if exists else (nodes.and_, nodes.or_)
        if path.op.name in BOOLEAN:
            step = self._step(path)[0 if exists else 1]
            return every(step, self._put_off(after, positive))
        match path.op:
            case Op.TEST:
                return every(self._pair(path.args[0])[0 if exists else 1], now)
            case Op.CHOICE:
                return some(*(self._walk(part, after, exists, now, positive) for part in path.args))
            case Op.SEQUENCE:
                *parts, final = path.args
                now = self._walk(final, after, exists, now, positive)
                for part in reversed(parts):
                    after, final = self._modal(final, after, exists, positive), part
                    now = self._walk(final, after, exists, now, positive)
                return now
            case _:
                again = self._modal(path, after, exists, positive)
                nothing = FALSE if exists else TRUE
                return some(now, self._walk(path.args[0], again, exists, nothing, positive))

    def _modal(self, path: Ldlf, after: Ldlf, exists: bool, positive: bool) -> Ldlf:
        """The formula whose truth (when `positive`) or falsity is meant by walking a path."""
        return diamond(path, after) if exists == positive else box(path, after)

    def _put_off(self, formula: Ldlf, positive: bool) -> int:
        """A formula, or its negation, at the next place, be it a step or the end."""
        if formula.op in (Op.TT, Op.FF):
            return TRUE if (formula.op is Op.TT) == positive else FALSE
        number = self._later.setdefault((formula, positive), len(self._later))
        weak = self._when_over(formula) == positive
        return self.nodes.weak_next(-1 - number) if weak else self.nodes.next(-1 - number)

    def _step(self, step: Ldlf) -> Pair:
        pairs: dict[Ldlf, Pair] = {}
        for node in step.postorder():
            args = [pairs[arg] for arg in node.args]
            is_atom = node.op is Op.ATOM
            pairs[node] = self.nodes.atom(node.name) if is_atom else self.nodes.boolean(node.op.name, args)
        return pairs[step]

    def _when_over(self, formula: Ldlf) -> bool:
        """Whether a formula holds behind the last step."""
        for node in formula.postorder(leaves=self._over):
            if node.op not in PATHS and node not in self._over:
                self._over[node] = self._made_over(node)
        return self._over[formula]

    def _made_over(self, node: Ldlf) -> bool:
        match node.op:
            case Op.TT | Op.END:
                return True
            case Op.FF | Op.LAST | Op.ATOM:
                return False
            case Op.DIAMOND:
                return self._empty(node.args[0]) and self._over[node.args[1]]
            case Op.BOX:
                return not self._empty(node.args[0]) or self._over[node.args[1]]
            case _:
                return boolean_value(node.op.name, [self._over[arg] for arg in node.args])

    def _empty(self, path: Ldlf) -> bool:
        """Whether a path can be walked behind the last step, where no step can be made."""
        if path.op.name in BOOLEAN:
            return False
        match path.op:
            case Op.STAR:
                return True
            case Op.TEST:
                return self._over[path.args[0]]
            case Op.CHOICE:
                return any(map(self._empty, path.args))
            case _:
                return all(map(self._empty, path.args))
