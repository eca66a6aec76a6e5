"""Regular expressions over symbols: a trace as a whole matches or not."""

from __future__ import annotations

from nrm.aliases import Trace
from nrm.logic.language import LANGUAGES, Language
from nrm.logic.ltlf.semantics import holds as holds_ltlf
from nrm.logic.regex.formula import Op, Regex, formula_of, in_words
from nrm.logic.regex.parser import READER, parse
from nrm.logic.regex.translation import translate
from nrm.logic.symbols import steps_of
from nrm.logic.term import BOOLEAN, holds_at

__all__ = ["REGEX", "Regex", "holds", "parse", "translate"]


def holds(expression: Regex | str, trace: Trace) -> bool:
    """Whether the whole of a non-empty `trace` matches."""
    steps = steps_of(trace, "regular expressions'")
    return len(steps) in _Matching(steps).ends(parse(expression), 0)


class _Matching:
    def __init__(self, steps: list[frozenset[str]]) -> None:
        self.steps = steps
        self.found: dict[tuple[Regex, int], set[int]] = {}

    def ends(self, node: Regex, start: int) -> set[int]:
        """Where the pieces that begin at `start` and match end."""
        if (node, start) not in self.found:
            self.found[node, start] = self._ends(node, start)
        return self.found[node, start]

    def _ends(self, node: Regex, start: int) -> set[int]:
        everywhere = set(range(start, len(self.steps) + 1))
        if node.op.name in BOOLEAN:
            return {start + 1} if start < len(self.steps) and holds_at(node, self.steps[start]) else set()
        match node.op:
            case Op.CHOICE:
                return set().union(*(self.ends(part, start) for part in node.args))
            case Op.BOTH:
                return everywhere.intersection(*(self.ends(part, start) for part in node.args))
            case Op.COMPLEMENT:
                return everywhere - self.ends(node.args[0], start)
            case Op.PATTERN:
                formula = formula_of(node)
                return {end for end in everywhere if end > start and holds_ltlf(formula, self.steps[start:end])}
            case Op.SEQUENCE:
                reached = {start}
                for part in node.args:
                    reached = self._after(part, reached)
                return reached
            case Op.OPTIONAL:
                return {start} | self.ends(node.args[0], start)
            case _:
                least, most = node.bounds if node.op is Op.REPEAT else (0, None)
                reached = {start}
                for _ in range(least):
                    reached = self._after(node.args[0], reached)
                # More rounds than steps reach nothing new.
                for _ in range(len(self.steps) + 1 if most is None else most - least):
                    reached = reached | self._after(node.args[0], reached)
                return reached

    def _after(self, part: Regex, starts: set[int]) -> set[int]:
        return set().union(*(self.ends(part, start) for start in starts))


REGEX: Language[Regex] = LANGUAGES.register(
    Language("re", "a regular expression", parse, translate, holds, reader=READER, words=in_words, marks=r";|\)\*")
)
