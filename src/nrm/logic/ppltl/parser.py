"""Text to a formula of pure-past LTL: LTLf's grammar, without its future operators."""

from __future__ import annotations

from nrm.errors import FormulaError
from nrm.logic.ltlf.formula import FUTURE, Formula, Op
from nrm.logic.ltlf.parser import GRAMMAR, builder
from nrm.logic.ppltl.patterns import apply_past_pattern
from nrm.logic.reading import Reader

_NEAREST = {
    Op.EVENTUALLY: "O f (f held at some step so far)",
    Op.ALWAYS: "H f (f held at every step so far)",
    Op.NEXT: "Y f (there was a step before, and f held there)",
    Op.WEAK_NEXT: "!Y !f (f held at the step before, if there was one)",
    Op.UNTIL: "f S g (g held at some step, and f at every step since)",
}
_REFUSED = {
    op: f"'{op.value}' looks ahead, and pure-past LTL speaks of the steps so far"
    + (f"; its counterpart is {_NEAREST[op]}" if op in _NEAREST else "")
    for op in FUTURE
}

READER = Reader(
    "ppltl",
    GRAMMAR,
    builder(apply_past_pattern, _REFUSED),
    example="O(b & O a) & H !c",
    operand="true, false, '(' or a prefix operator (!, Y, O, H)",
    operators="&, |, ^, ->, <->, S",
)


def parse(text: str | Formula) -> Formula:
    """Read a formula of pure-past LTL; a `Formula` without future operators is returned as it is."""
    formula = text if isinstance(text, Formula) else READER.read(text)
    assert isinstance(formula, Formula)
    if formula is text and (ahead := next((part for part in formula.postorder() if part.op in FUTURE), None)):
        raise FormulaError(f"{_REFUSED[ahead.op]}: {ahead.brief(60)}")
    return formula
