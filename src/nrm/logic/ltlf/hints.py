"""What the writer of a formula may not have meant."""

from __future__ import annotations

from itertools import chain, product

from nrm.logic.ltlf.formula import FUTURE, PAST, Formula, Op
from nrm.logic.ltlf.semantics import holds

MAX_ATOMS = 8
"""Atoms up to which all single steps are tried."""


LOOKS_BACK = (
    "Past operators look back from the first step, before which there is nothing; if the formula is to hold at the "
    "last step, add --logic ppltl"
)


def looks_back(formula: object) -> bool:
    """Whether a formula speaks of the past and not of the future: pure-past LTL may have been meant."""
    if not isinstance(formula, Formula):
        return False
    operators = {part.op for part in formula.postorder()}
    return bool(operators & PAST) and not operators & FUTURE


def hint(formula: Formula) -> str:
    """What to say of formulas that one step can satisfy whole, where several propositions may hold at a step."""
    return _hint_of_sequences(formula) or _hint_of_visits(formula)


def _hint_of_sequences(formula: Formula) -> str:
    changed: dict[Formula, Formula] = {}
    found: Formula | None = None
    for part in formula.postorder():
        renewed = Formula(part.op, tuple(changed[arg] for arg in part.args), part.name)
        if _is_sequence(part) and _one_step_is_enough(part):
            found = part
            renewed = _one_after_the_other(renewed)
        changed[part] = renewed
    if found is None:
        return ""
    return (
        f"one step can satisfy {found.brief()} whole, since all of it may hold at once; so nothing is paid on the way. "
        f"If one is to come after the other, write {changed[formula].brief()}"
    )


def _hint_of_visits(formula: Formula) -> str:
    """Of F a & F b, in any order: there is no other way to write it, so what else helps."""
    visits = [part for part in _conjuncts(formula) if part.op is Op.EVENTUALLY and _can_be_open(part)]
    if len(visits) < 2 or not _one_step_satisfies(formula, visits):
        return ""
    return (
        f"one step can satisfy {formula.brief()} whole, since all of it may hold at once; the reward scheme 'distance' "
        "counts steps, so nothing is paid on the way. Where only one holds at a time, name them as --symbols; else "
        " give levels of your own, one a state (--reward 0,50,50,100 for two visits)"
    )


def _conjuncts(formula: Formula) -> tuple[Formula, ...]:
    return tuple(chain(*map(_conjuncts, formula.args))) if formula.op is Op.AND else (formula,)


def _can_be_open(visit: Formula) -> bool:
    """Whether a first step may leave it open: F(a | !a) never is."""
    return not holds(visit, [[]]) or not holds(visit, [list(visit.atoms())])


def _one_step_satisfies(formula: Formula, visits: list[Formula]) -> bool:
    """Whether some step is enough; of many atoms, only the step where all holds that is visited is tried."""
    if len(formula.atoms()) <= MAX_ATOMS:
        return _one_step_is_enough(formula)
    return holds(formula, [list(dict.fromkeys(chain(*(visit.atoms() for visit in visits))))])


def _is_sequence(part: Formula) -> bool:
    """Whether it has the form F(a & F b)."""
    if part.op is not Op.EVENTUALLY or part.args[0].op is not Op.AND:
        return False
    later = [arg.op is Op.EVENTUALLY for arg in part.args[0].args]
    return any(later) and not all(later)


def _one_step_is_enough(part: Formula) -> bool:
    atoms = part.atoms()
    if len(atoms) > MAX_ATOMS:
        return True  # in all likelihood
    steps = product((False, True), repeat=len(atoms))
    return any(holds(part, [[atom for atom, true in zip(atoms, step, strict=True) if true]]) for step in steps)


def _one_after_the_other(part: Formula) -> Formula:
    """F(a & X F b) of F(a & F b)."""
    conjunction = part.args[0]
    args = (Formula(Op.NEXT, (arg,)) if arg.op is Op.EVENTUALLY else arg for arg in conjunction.args)
    return Formula(Op.EVENTUALLY, (Formula(Op.AND, tuple(args)),))
