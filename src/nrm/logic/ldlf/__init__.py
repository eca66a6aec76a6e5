"""LDLf: what holds along paths, which are regular expressions over steps and tests."""

from __future__ import annotations

from nrm.aliases import Trace
from nrm.logic.language import LANGUAGES, Language
from nrm.logic.ldlf.formula import Ldlf, Op, in_words
from nrm.logic.ldlf.parser import READER, from_ltlf, parse
from nrm.logic.ldlf.translation import translate
from nrm.logic.symbols import steps_of
from nrm.logic.term import BOOLEAN, boolean_value, holds_at

__all__ = ["LDLF", "Ldlf", "from_ltlf", "holds", "parse", "translate"]


def holds(formula: Ldlf | str, trace: Trace) -> bool:
    """Whether a non-empty `trace` satisfies the LDLf `formula` at its first step.

    Places are the steps, and one more behind the last step: there `end` holds, and no step can be made.
    """
    return _Meaning(steps_of(trace, "LDLf")).holds(parse(formula), 0)


class _Meaning:
    def __init__(self, steps: list[frozenset[str]]) -> None:
        self.steps = steps

    def holds(self, node: Ldlf, place: int) -> bool:
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
        if path.op.name in BOOLEAN:
            walked = place < len(self.steps) and holds_at(path, self.steps[place])
            return {place + 1} if walked else set()
        if path.op is Op.TEST:
            return {place} if self.holds(path.args[0], place) else set()
        if path.op is Op.CHOICE:
            return set().union(*(self.ends(part, place) for part in path.args))
        reached = {place}
        if path.op is Op.SEQUENCE:
            for part in path.args:
                reached = set().union(*(self.ends(part, there) for there in reached))
            return reached
        frontier = {place}
        while frontier:
            frontier = set().union(*(self.ends(path.args[0], there) for there in frontier)) - reached
            reached |= frontier
        return reached


LDLF: Language[Ldlf] = LANGUAGES.register(
    Language(
        "ldlf",
        "LDLf",
        parse,
        translate,
        holds,
        reader=READER,
        words=in_words,
        marks=r"<(?![-=])|\btt\b|\bff\b|(?<!X)\[",
    )
)
