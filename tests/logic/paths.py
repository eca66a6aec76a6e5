"""What LDLf formulas, paths and regular expressions mean on a trace, spelled out: slow, and there to compare with."""

from __future__ import annotations

from nrm.aliases import Trace
from nrm.logic import holds as holds_ltlf
from nrm.logic.ldlf.formula import Ldlf, Op, called_pattern
from nrm.logic.symbols import steps_of
from nrm.logic.term import BOOLEAN, boolean_value, step_value


def satisfies(formula: Ldlf, trace: Trace) -> bool:
    """Whether a trace satisfies an LDLf formula at its first step.

    Places are the steps, and one more behind the last step: there `end` holds, and no step can be made.
    """
    return Meaning(steps_of(trace, "LDLf")).holds(formula, 0)


def matches(expression: Ldlf, trace: Trace) -> bool:
    """Whether the whole of a trace matches a regular expression."""
    steps = steps_of(trace, "regular expressions'")
    return len(steps) in Meaning(steps).ends(expression, 0)


class Meaning:
    """Formulas and paths at the places of one trace."""

    def __init__(self, steps: list[frozenset[str]]) -> None:
        self.steps = steps
        self._found: dict[tuple[Ldlf, int], set[int]] = {}

    def holds(self, node: Ldlf, place: int) -> bool:
        """Whether a formula holds at a place."""
        last = len(self.steps) - 1
        match node.op:
            case Op.TT:
                return True
            case Op.FF:
                return False
            case Op.END:
                return place > last
            case Op.LAST:
                return place == last
            case Op.ATOM:
                return place <= last and node.name in self.steps[place]
            case Op.DIAMOND:
                return any(self.holds(node.args[1], there) for there in self.ends(node.args[0], place))
            case Op.BOX:
                return all(self.holds(node.args[1], there) for there in self.ends(node.args[0], place))
            case _:
                return boolean_value(node.op.name, [self.holds(arg, place) for arg in node.args])

    def ends(self, path: Ldlf, place: int) -> set[int]:
        """The places that a path can lead to."""
        if (path, place) not in self._found:
            self._found[path, place] = self._ends(path, place)
        return self._found[path, place]

    def _ends(self, path: Ldlf, place: int) -> set[int]:
        if path.op.name in BOOLEAN:
            walked = place < len(self.steps) and step_value(path, self.steps[place].__contains__)
            return {place + 1} if walked else set()
        everywhere = set(range(place, len(self.steps) + 1))
        match path.op:
            case Op.BOTH:
                return everywhere.intersection(*(self.ends(part, place) for part in path.args))
            case Op.COMPLEMENT:
                return everywhere - self.ends(path.args[0], place)
            case Op.PATTERN:
                formula = called_pattern(path)
                return {end for end in everywhere if end > place and holds_ltlf(formula, self.steps[place:end])}
            case Op.TEST:
                return {place} if self.holds(path.args[0], place) else set()
            case Op.CHOICE:
                return set().union(*(self.ends(part, place) for part in path.args))
            case Op.SEQUENCE:
                reached = {place}
                for part in path.args:
                    reached = self._after(part, reached)
                return reached
        least, most = path.bounds
        reached = {place}
        for _ in range(least):
            reached = self._after(path.args[0], reached)
        # More rounds than steps reach nothing new.
        for _ in range(len(self.steps) + 1 if most is None else most - least):
            reached = reached | self._after(path.args[0], reached)
        return reached

    def _after(self, part: Ldlf, places: set[int]) -> set[int]:
        return set().union(*(self.ends(part, place) for place in places))
