"""LTLf in LDLf: each operator as a path, exactly and without growth."""

from __future__ import annotations

from collections.abc import Mapping

from nrm.errors import FormulaError
from nrm.logic.ldlf import formula as ldlf
from nrm.logic.ldlf.formula import ANY, END, FF, TT, Ldlf, box, diamond, flat, negated, symbol
from nrm.logic.ltlf.formula import Formula, Op

_ANYWHERE = Ldlf(ldlf.Op.STAR, (ANY,))


def from_ltlf(formula: Formula, atoms: Mapping[str, Ldlf] | None = None) -> Ldlf:
    """The LDLf formula that holds on the same traces; `atoms`: formulas in the place of some symbols.

    Operators that look back have no counterpart in LDLf and raise `FormulaError`.
    """
    done: dict[Formula, Ldlf] = {}
    for node in formula.postorder():
        done[node] = _translated(node, [done[arg] for arg in node.args], atoms or {})
    return done[formula]


def _translated(node: Formula, args: list[Ldlf], atoms: Mapping[str, Ldlf]) -> Ldlf:
    # LTLf formulas are evaluated at steps only, LDLf formulas also behind the last step: hence all the `here`.
    match node.op:
        case Op.TRUE:
            return TT
        case Op.FALSE | Op.END:
            return FF
        case Op.LAST:
            return Ldlf(ldlf.Op.LAST)
        case Op.ATOM:
            return atoms[node.name] if node.name in atoms else symbol(node.name)
        case Op.NOT | Op.AND | Op.OR | Op.XOR | Op.IMPLIES | Op.IFF:
            return Ldlf(ldlf.Op[node.op.name], tuple(args))
        case Op.NEXT:
            return diamond(ANY, _here(args[0]))
        case Op.WEAK_NEXT:
            return box(ANY, _unless_over(args[0]))
        case Op.EVENTUALLY:
            return diamond(_ANYWHERE, _here(args[0]))
        case Op.ALWAYS:
            return box(_ANYWHERE, _unless_over(args[0]))
        case Op.UNTIL:
            return _until(*args)
        case Op.RELEASE:
            return _release(*args)
        case Op.WEAK_UNTIL:  # a W b = b R (a | b)
            return _release(args[1], flat(ldlf.Op.OR, *args))
        case Op.STRONG_RELEASE:  # a M b = b U (a & b)
            return _until(args[1], flat(ldlf.Op.AND, *args))
        case _:
            raise FormulaError(
                f"'{node.op.value}' looks back, and LDLf has no operators for that; write the path that leads here, or "
                "use --logic ppltl"
            )


def _here(part: Ldlf) -> Ldlf:
    return flat(ldlf.Op.AND, part, negated(END))


def _unless_over(part: Ldlf) -> Ldlf:
    return flat(ldlf.Op.OR, part, END)


def _until(left: Ldlf, right: Ldlf) -> Ldlf:
    return diamond(_while(left), _here(right))


def _release(left: Ldlf, right: Ldlf) -> Ldlf:
    return box(_while(negated(left)), _unless_over(right))


def _while(part: Ldlf) -> Ldlf:
    """The path along which a formula holds at every step but perhaps the last place."""
    return Ldlf(ldlf.Op.STAR, (Ldlf(ldlf.Op.SEQUENCE, (Ldlf(ldlf.Op.TEST, (part,)), ANY)),))
