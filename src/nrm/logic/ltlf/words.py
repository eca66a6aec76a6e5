"""LTLf, and pure-past LTL, in plain English; and what the writer of a formula may not have meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from itertools import chain, product
from typing import TypeVar

from nrm.logic.ltlf.formula import FUTURE, PAST, Formula, Op
from nrm.logic.ltlf.semantics import holds
from nrm.logic.term import BOOLEAN, Term

Node = TypeVar("Node", bound=Term)


def boolean_words(op: Enum, name: str, args: list[str]) -> str:
    """An operator in words, from the words of its arguments; operators of all languages have the same names."""
    match op.name:
        case "TRUE":
            return "any step"
        case "FALSE":
            return "no step"
        case "ATOM":
            return name
        case "NOT":
            return f"not {args[0]}"
        case "AND":
            return " and ".join(args)
        case "OR":
            return " or ".join(args)
        case "XOR":
            return f"either {args[0]} or {args[1]}, and not both"
        case "IMPLIES":
            return f"if {args[0]}, then {args[1]}"
        case "IFF":
            return f"{args[0]} exactly if {args[1]}"
    raise ValueError(f"no words for {op.name}")


MAX_WORDS = 2_000
"""Characters past which words help nobody."""


def in_words(formula: Formula) -> str:
    """What a formula asks for, read at the first step."""
    parts = formula.args if formula.op is Op.AND else (formula,)
    return "; and ".join(_top(part) for part in parts)


def words_of(
    formula: Node, phrase: Callable[[Node, list[str]], str], whole: Callable[[Mapping[Node, str]], str]
) -> str:
    """The `whole` of the words of all parts, each a `phrase` of those of its arguments; or that it is too long."""
    texts: dict[Node, str] = {}
    for node in formula.postorder():
        texts[node] = phrase(node, [grouped(arg, texts[arg]) for arg in node.args])
        if len(texts[node]) > MAX_WORDS:
            return f"({formula.brief(100)}, too long for words)"
    return whole(texts)


def past_in_words(formula: Formula) -> str:
    """What a pure-past formula asks for, read at the last step."""
    return "when it ends: " + in_words(formula)


def _top(formula: Formula) -> str:
    texts: dict[tuple[Formula, bool], str] = {}
    # Inside a temporal operator "now" is the step that the operator speaks of, so there are two texts for each part.
    for node in formula.postorder():
        for inside in (False, True):
            texts[node, inside] = _phrase(node, inside, texts)
            if len(texts[node, inside]) > MAX_WORDS:
                return f"({formula.brief(100)}, too long for words)"
    return texts[formula, False]


def _phrase(node: Formula, inside: bool, texts: dict[tuple[Formula, bool], str]) -> str:
    here = [texts[arg, inside] for arg in node.args]
    there = [texts[arg, True] for arg in node.args]
    match node.op:
        case Op.TRUE:
            return "anything"
        case Op.FALSE:
            return "the impossible"
        case Op.END:
            return "nothing is left to come"
        case Op.LAST:
            return "this is the last step"
        case _ if node.op.name in BOOLEAN:
            return boolean_words(node.op, node.name, [grouped(*pair) for pair in zip(node.args, here, strict=True)])
        case _:
            return _temporal(node, inside, there)


def _temporal(node: Formula, inside: bool, args: list[str]) -> str:
    first = args[0]  # what holds a temporal phrase puts it in parentheses
    match node.op:
        case Op.NEXT:
            return f"there is a next step, with {first}"
        case Op.WEAK_NEXT:
            return f"at the next step, if there is one, {first}"
        case Op.EVENTUALLY:
            return f"then or later {first}" if inside else f"at some step {first}"
        case Op.ALWAYS if node.args[0].op is Op.NOT:
            avoided = args[0].removeprefix("not ")
            return f"from then on never {avoided}" if inside else f"never {avoided}"
        case Op.ALWAYS:
            return f"from then on at every step {first}" if inside else f"at every step {first}"
        case Op.YESTERDAY:
            return f"at the step before, which there is, {first}"
        case Op.ONCE:
            return f"by then, at some step, {first}" if inside else f"at some step so far {first}"
        case Op.HISTORICALLY if node.args[0].op is Op.NOT:
            avoided = args[0].removeprefix("not ")
            return f"until then never {avoided}" if inside else f"never so far {avoided}"
        case Op.HISTORICALLY:
            return f"at every step until then {first}" if inside else f"at every step so far {first}"
    first, second = (grouped(arg, text) for arg, text in zip(node.args, args, strict=True))
    since = "from then on, " if inside else ""
    match node.op:
        case Op.UNTIL:
            return f"{since}{second} comes, and {first} at every step before it"
        case Op.WEAK_UNTIL:
            return f"{since}{first} at every step before {second}, which need not come"
        case Op.RELEASE:
            return f"{since}{second} up to and with the first step with {first}, or to the end if there is none"
        case Op.STRONG_RELEASE:
            return f"{since}{first} comes, and {second} at every step up to and with it"
        case _:
            return f"{second} has come, and {first} at every step since"


def grouped(arg: Term, text: str) -> str:
    """A part inside another, in parentheses unless it is a single word."""
    plain = not arg.args or (arg.op.name == "NOT" and arg.args[0].op.name == "ATOM")
    return text if plain else f"({text})"


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
