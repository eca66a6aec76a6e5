"""What the readers of LDLf and of regular expressions have in common: paths over single steps."""

from __future__ import annotations

from typing import Any

from lark import Token, Transformer

from nrm.logic.reading import whole_number

PATH_RULES = r"""
start: choice

?choice: sequence (_PLUS sequence)*
?sequence: equivalence (_THEN equivalence)*
?equivalence: implication (_IFF implication)*
?implication: exclusive_or | exclusive_or _IMPLIES implication
?exclusive_or: disjunction (_XOR disjunction)*
?disjunction: conjunction (_OR conjunction)*
?conjunction: unary (_AND unary)*
?argument: choice | INTEGER -> integer

_PLUS: "+"
_THEN: ";"
"""
"""From the loosest operator to the tightest; a language adds `unary`, `postfix` and `operand`."""


class PathBuild(Transformer[Token, Any]):
    """Callbacks that the parser runs as it reduces, so that no tree is ever walked."""

    def joined(self, op: str, parts: list[Any]) -> Any:
        """Parts joined by a Boolean operator, by its name."""
        raise NotImplementedError

    def equivalence(self, parts: list[Any]) -> Any:
        """From the left."""
        return self._folded("IFF", parts)

    def implication(self, parts: list[Any]) -> Any:
        """Two parts; the grammar groups to the right."""
        return self.joined("IMPLIES", parts)

    def exclusive_or(self, parts: list[Any]) -> Any:
        """From the left."""
        return self._folded("XOR", parts)

    def integer(self, parts: list[Token]) -> int:
        """The number of a pattern."""
        return whole_number(parts[0])

    def _folded(self, op: str, parts: list[Any]) -> Any:
        result = parts[0]
        for part in parts[1:]:
            result = self.joined(op, [result, part])
        return result
