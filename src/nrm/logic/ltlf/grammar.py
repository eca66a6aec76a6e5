"""The grammar of formulas.

Loosest to tightest: `<->`, `->`, `^`, `|`, `&`, then `U R W M S`, then the prefix operators. `->` and the binary
temporal operators group to the right, as in Spot; for the others grouping makes no difference.
"""

from __future__ import annotations

GRAMMAR = r"""
?start: equivalence

?equivalence: implication (_IFF implication)*
?implication: exclusive_or | exclusive_or _IMPLIES implication
?exclusive_or: disjunction (_XOR disjunction)*
?disjunction: conjunction (_OR conjunction)*
?conjunction: temporal (_AND temporal)*
?temporal: unary | unary (UNTIL | RELEASE | WEAK_UNTIL | STRONG_RELEASE | SINCE) temporal -> infix
?unary: operand
    | (NOT | NEXT | WEAK_NEXT | EVENTUALLY | ALWAYS | YESTERDAY | ONCE | HISTORICALLY) unary -> prefix
?operand: _OPEN equivalence _CLOSE
    | (TRUE | FALSE | LAST | END) -> constant
    | NAME -> atom
    | QUOTED -> quoted
    | NAME _OPEN argument (_COMMA argument)* _CLOSE -> call
?argument: equivalence | INTEGER -> integer

_IFF.2: /<->|<=>|↔|iff(?!\w)/
_IMPLIES.2: /->|=>|→|implies(?!\w)/
_XOR.2: /\^|⊕|xor(?!\w)/
_OR.2: /\|\||\||\\\/|∨|or(?!\w)/
_AND.2: /&&|&|\/\\|∧|and(?!\w)/
NOT.2: /!|~|¬|not(?!\w)/
NEXT.2: /X\[!\]|X(?!\w)/
WEAK_NEXT.2: /WX(?!\w)/
EVENTUALLY.2: /F(?!\w)/
ALWAYS.2: /G(?!\w)/
UNTIL.2: /U(?!\w)/
RELEASE.2: /R(?!\w)/
WEAK_UNTIL.2: /W(?!\w)/
STRONG_RELEASE.2: /M(?!\w)/
YESTERDAY.2: /Y(?!\w)/
ONCE.2: /O(?!\w)/
HISTORICALLY.2: /H(?!\w)/
SINCE.2: /S(?!\w)/
TRUE.2: /(true|True|TRUE)(?!\w)|⊤/
FALSE.2: /(false|False|FALSE)(?!\w)|⊥/
LAST.2: /last(?!\w)/
END.2: /end(?!\w)/
_OPEN: "("
_CLOSE: ")"
_COMMA: ","
NAME: /[A-Za-z_][A-Za-z0-9_]*/
QUOTED: /"[^"\n]*"/
INTEGER: /[0-9]+/
%ignore /\s+/
"""
