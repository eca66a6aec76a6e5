"""What LDLf formulas and paths, and regular expressions, mean: as a minimal DFA.

Where a path asks for two paths at once, or for all but one, its automaton is one of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nrm.aliases import Trace
from nrm.automata import DEFAULT_LIMITS, FALSE, TRUE, Cube, Dfa, Limits, spend
from nrm.logic.ldlf.formula import END, PATHS, Ldlf, Op, box, called_pattern, diamond
from nrm.logic.ldlf.parser import parse
from nrm.logic.ltlf.meaning import translate as translate_ltlf
from nrm.logic.nodes import NodeKind, Nodes
from nrm.logic.progression import translated
from nrm.logic.symbols import steps_of
from nrm.logic.term import BOOLEAN, boolean_value


def holds(formula: Ldlf | str, trace: Trace) -> bool:
    """Whether a non-empty `trace` satisfies the LDLf `formula` at its first step."""
    return translate(formula, exclusive=False).accepts(steps_of(trace, "LDLf"))


def translate(formula: Ldlf | str, exclusive: bool, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """The minimal DFA of a formula over the atoms that it names, of non-empty traces; see `nrm.logic.Language`."""

    def of_path(path: Ldlf) -> Dfa:
        if path.op is Op.PATTERN:
            return translate_ltlf(called_pattern(path), exclusive, limits)
        return translate(matched(path), exclusive, limits)

    return translated(parse(formula), lambda part: _Closure(part, of_path).nodes, exclusive, limits)


def matched(path: Ldlf) -> Ldlf:
    """The formula that a path leads from the first step to the end of a trace."""
    combined = {Op.BOTH: Op.AND, Op.CHOICE: Op.OR, Op.COMPLEMENT: Op.NOT}.get(path.op)
    return Ldlf(combined, tuple(map(matched, path.args))) if combined else diamond(path, END)


Pair = tuple[int, int]
"""The nodes of a formula and of its negation."""


class _Closure:
    """Builds the nodes; `automaton`: that of a path which is not walked part by part."""

    def __init__(self, formula: Ldlf, automaton: Callable[[Ldlf], Dfa]) -> None:
        self.nodes = Nodes()
        self._automaton = automaton
        self._automata: dict[Ldlf, Dfa] = {}
        self._pairs: dict[Ldlf, Pair] = {}
        self._over: dict[Ldlf, bool] = {}
        self._walks: dict[tuple[Ldlf, Ldlf, bool, int, bool], int] = {}
        self._later: dict[tuple[Ldlf, bool], int] = {}
        """What is put off to the next place, by its number in order of arrival."""
        self._queue: list[tuple[Ldlf, bool]] = []
        for name in formula.atoms():  # in their order
            self.nodes.atom(name)
        self.nodes.root = self._pair(formula)[0]
        targets = [self._pair(term)[0 if positive else 1] for term, positive in self._queue]  # which grows on the way
        for node, kind in enumerate(self.nodes.kinds):
            first = self.nodes.firsts[node]
            if kind in (NodeKind.NEXT, NodeKind.WEAK_NEXT) and first < 0:
                self.nodes.firsts[node] = targets[-1 - first]

    def _pair(self, formula: Ldlf) -> Pair:
        """The nodes of a formula at a place where there is a step."""
        for node in formula.postorder(lambda node: node in self._pairs or node.op in PATHS):
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
        spend(3_000 + 200 * (len(path.args) + sum(len(part.args) for part in after.args)))  # to compare keys
        if key not in self._walks:
            self._walks[key] = self._walked(path, after, exists, now, positive)
        return self._walks[key]

    def _walked(self, path: Ldlf, after: Ldlf, exists: bool, now: int, positive: bool) -> int:
        nodes = self.nodes
        some, every = (nodes.or_, nodes.and_) if exists else (nodes.and_, nodes.or_)
        nothing = FALSE if exists else TRUE
        if path.op.name in BOOLEAN:
            step = self._step(path)[0 if exists else 1]
            return every(step, self._put_off(after, positive))
        match path.op:
            case Op.TEST:
                return every(self._pair(path.args[0])[0 if exists else 1], now)
            case Op.CHOICE:
                return some(*(self._walk(part, after, exists, now, positive) for part in path.args))
            case Op.SEQUENCE:
                parts = path.args
                # Behind a part that takes a step nothing ends at this place.
                steps = (place for place, part in enumerate(parts) if not self._empty(part, over=False))
                final = next(steps, len(parts) - 1)
                now = now if self._empty(parts[final], over=False) else nothing
                for place in range(final, -1, -1):
                    behind = after
                    if rest := parts[place + 1 :]:
                        behind = self._modal(Ldlf.flat(Op.SEQUENCE, *rest), after, exists, positive)
                    now = self._walk(parts[place], behind, exists, now, positive)
                return now
            case Op.STAR | Op.OPTIONAL | Op.REPEAT:
                least, most = path.bounds
                if most == 0:
                    return now
                # A round that takes no step can be left out, so none of those below ends at this place.
                optional = not least or self._empty(path.args[0], over=False)
                behind = after if most == 1 else self._modal(_one_round_less(path), after, exists, positive)
                first = self._walk(path.args[0], behind, exists, nothing, positive)
                return some(now, first) if optional else first
            case _:
                return some(*([now] if self._empty(path) else []), *self._moves(path, after, exists, positive))

    def _moves(self, path: Ldlf, after: Ldlf, exists: bool, positive: bool) -> list[int]:
        """A step of an automaton that stands for a path, by each state that it can lead to."""
        nodes = self.nodes
        start, automaton, state = self._run(path)
        found = []
        for target, cubes in automaton.moves.guards(state, None, automaton.cubes):
            guard, guard_not = self._guard(automaton.atoms, cubes)
            if automaton.absorbing[target] and not automaton.accepting[target]:
                continue
            on = self._modal(Ldlf(Op.RUN, (start,), str(target)), after, exists, positive)
            later = self._put_off(on, positive)
            found.append(nodes.and_(guard, later) if exists else nodes.or_(guard_not, later))
        return found

    def _run(self, path: Ldlf) -> tuple[Ldlf, Dfa, int]:
        """The path that an automaton stands for, the automaton, and how far it has come."""
        start, state = (path.args[0], int(path.name)) if path.op is Op.RUN else (path, 0)
        if start not in self._automata:
            self._automata[start] = self._automaton(start)
        return start, self._automata[start], state

    def _guard(self, atoms: Sequence[str], cubes: Sequence[Cube]) -> Pair:
        nodes = self.nodes
        made = []
        for cube in cubes:
            pairs = [(nodes.atom(atoms[place]), true) for place, true in cube]
            literals = [(yes, no) if true else (no, yes) for (yes, no), true in pairs]
            made.append(nodes.boolean("AND", literals))
        return nodes.boolean("OR", made)

    def _modal(self, path: Ldlf, after: Ldlf, exists: bool, positive: bool) -> Ldlf:
        """The formula whose truth (when `positive`) or falsity is meant by walking a path."""
        return diamond(path, after) if exists == positive else box(path, after)

    def _put_off(self, formula: Ldlf, positive: bool) -> int:
        """A formula, or its negation, at the next place, be it a step or the end."""
        if formula.op in (Op.TT, Op.FF):
            return TRUE if (formula.op is Op.TT) == positive else FALSE
        number = self._later.setdefault((formula, positive), len(self._queue))
        if number == len(self._queue):
            self._queue.append((formula, positive))
        weak = self._when_over(formula) == positive
        return self.nodes.weak_next(-1 - number) if weak else self.nodes.next(-1 - number)

    def _step(self, step: Ldlf) -> Pair:
        def pair(node: Ldlf, args: list[Pair]) -> Pair:
            return self.nodes.atom(node.name) if node.op is Op.ATOM else self.nodes.boolean(node.op.name, args)

        return step.folded(pair)

    def _when_over(self, formula: Ldlf) -> bool:
        """Whether a formula holds behind the last step."""
        for node in formula.postorder(lambda node: node in self._over or node.op in PATHS):
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

    def _empty(self, path: Ldlf, over: bool = True) -> bool:
        """Whether a path can end where it begins: behind the last step (when `over`), or maybe at some place."""
        if path.op.name in BOOLEAN or path.op is Op.PATTERN:
            return False
        match path.op:
            case Op.TEST:
                return not over or self._when_over(path.args[0])
            case Op.RUN:
                _, automaton, state = self._run(path)
                return bool(automaton.accepting[state])
            case Op.COMPLEMENT:
                return not self._empty(path.args[0], over)
            case Op.CHOICE:
                return any(self._empty(part, over) for part in path.args)
            case Op.SEQUENCE | Op.BOTH:
                return all(self._empty(part, over) for part in path.args)
            case _:
                return not path.bounds[0] or self._empty(path.args[0], over)


def _one_round_less(path: Ldlf) -> Ldlf:
    least, most = path.bounds
    if path.op is not Op.REPEAT or not (least or most):
        return path
    return Ldlf(Op.REPEAT, path.args, f"{max(0, least - 1)},{'' if most is None else most - 1}")
