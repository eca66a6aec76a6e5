"""LTLf, and pure-past LTL, in plain English; and what the writer of a formula may not have meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, combinations

from nrm.logic.ltlf.formula import FUTURE, PAST, Formula, Op
from nrm.logic.ltlf.meaning import holds
from nrm.logic.term import BOOLEAN, Term

Steps = tuple[tuple[str, ...], ...] | None
"""What may hold together; None if any set of propositions may."""


MAX_WORDS = 2_000
"""Characters past which words help nobody."""
_BOOLEAN = {
    "TRUE": "any step",
    "FALSE": "no step",
    "NOT": "not {0}",
    "XOR": "either {0} or {1}, and not both",
    "IMPLIES": "if {0}, then {1}",
    "IFF": "{0} exactly if {1}",
}
_JOINED = {"AND": " and ", "OR": " or "}


def phrase(node: Term, args: list[str], words: Mapping[str, str]) -> str:
    """A part in words, from those of its arguments; `words`: of the language's own operators, by name."""
    op = node.op.name
    if op == "ATOM":
        return node.name
    return _JOINED[op].join(args) if op in _JOINED else (words.get(op) or _BOOLEAN[op]).format(*args)


def _grouped(arg: Term, text: str) -> str:
    """A part inside another, in parentheses unless it is a single word."""
    plain = not arg.args or (arg.op.name == "NOT" and arg.args[0].op.name == "ATOM")
    return text if plain else f"({text})"


_TEMPORAL = {
    "TRUE": "anything",
    "FALSE": "the impossible",
    "END": "the trace is over",
    "LAST": "this is the last step",
    "NEXT": "there is a next step, with {0}",
    "WEAK_NEXT": "at the next step, if there is one, {0}",
    "EVENTUALLY": "at some step {0}",
    "ALWAYS": "at every step {0}",
    "ALWAYS NOT": "never {0}",
    "YESTERDAY": "there was a step before, with {0}",
    "ONCE": "at some step so far {0}",
    "HISTORICALLY": "at every step so far {0}",
    "HISTORICALLY NOT": "never so far {0}",
    "UNTIL": "{0} at every step until {1}, which must come",
    "WEAK_UNTIL": "{0} at every step until {1}, which need not come",
    "RELEASE": "{1} up to and including the first step with {0}, or to the end if there is none",
    "STRONG_RELEASE": "{1} up to and including the first step with {0}, which must come",
    "SINCE": "{1} at some step so far, and {0} at every step since",
}
_INSIDE = {
    "EVENTUALLY": "then or later {0}",
    "ALWAYS": "from then on at every step {0}",
    "ALWAYS NOT": "from then on never {0}",
    "ONCE": "by then, at some step, {0}",
    "HISTORICALLY": "at every step until then {0}",
    "HISTORICALLY NOT": "until then never {0}",
    **{op: f"from then on, {_TEMPORAL[op]}" for op in ("UNTIL", "WEAK_UNTIL", "RELEASE", "STRONG_RELEASE")},
}
"""Inside a temporal operator, where "now" is the step that the operator speaks of."""


def in_words(formula: Formula) -> str:
    """What a formula asks for, read at the first step."""
    parts = formula.args if formula.op is Op.AND else (formula,)
    return "; and ".join(map(_words_of, parts))


def past_in_words(formula: Formula) -> str:
    """What a pure-past formula asks for, read at the last step."""
    return "when it ends: " + in_words(formula)


def _words_of(formula: Formula) -> str:
    """The words of a part; or that it is too long for them."""
    texts: dict[tuple[Formula, bool], str] = {}
    for node in formula.postorder():
        for inside in (False, True):
            texts[node, inside] = _phrase(node, inside, texts)
            if len(texts[node, inside]) > MAX_WORDS:
                return f"({formula.brief(100)}, too long for words)"
    return texts[formula, False]


def _phrase(node: Formula, inside: bool, texts: Mapping[tuple[Formula, bool], str]) -> str:
    """A part in words, given whether it stands inside a temporal operator, and the words of other parts."""
    op = node.op.name
    args = [texts[arg, inside or op not in BOOLEAN] for arg in node.args]
    if op in BOOLEAN or len(args) > 1:  # what holds one temporal phrase puts it in parentheses
        args = [_grouped(*pair) for pair in zip(node.args, args, strict=True)]
    words = _TEMPORAL | _INSIDE if inside else _TEMPORAL
    if node.args and f"{op} {node.args[0].op.name}" in words:
        return words[f"{op} NOT"].format(args[0].removeprefix("not "))
    return phrase(node, args, words)


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


def hint(formula: Formula, steps: Iterable[tuple[str, ...]] | None = None) -> str:
    """What to say of infinite tasks, and of formulas that one step can satisfy where several propositions may hold.

    `steps`: what may hold together, if not everything.
    """
    known = None if steps is None else tuple(steps)
    return _hint_of_infinite(formula) or _hint_of_sequences(formula, known) or _hint_of_visits(formula, known)


_REPEATED = ((Op.ALWAYS, Op.EVENTUALLY), (Op.EVENTUALLY, Op.ALWAYS))


def _hint_of_infinite(formula: Formula) -> str:
    for part in formula.postorder():
        if part.args and (part.op, part.args[0].op) in _REPEATED:
            last = part.args[0].args[0].brief()
            return (
                f"on finite traces, {part.brief()} says only that {last} holds at the last step; for an infinite task, "
                "add --logic ltl"
            )
    return ""


def _hint_of_sequences(formula: Formula, steps: Steps) -> str:
    found: list[Formula] = []

    def changed(part: Formula, args: list[Formula]) -> Formula:
        renewed = Formula(part.op, tuple(args), part.name)
        if not (_is_sequence(part) and _one_step_satisfies(part, part.atoms(), steps)):
            return renewed
        found.append(part)
        return _one_after_the_other(renewed)

    better = formula.folded(changed)
    if not found:
        return ""
    return (
        f"one step can satisfy all of {found[-1].brief()}, because its propositions may be true together; then no "
        f"reward is paid in between. If one must come after the other, write {better.brief()}"
    )


def _hint_of_visits(formula: Formula, steps: Steps) -> str:
    """Of F a & F b, in any order: there is no other way to write it, so what else helps."""
    visits = [part for part in _conjuncts(formula) if part.op is Op.EVENTUALLY and _can_be_open(part)]
    visited = tuple(chain(*(visit.atoms() for visit in visits)))
    if len(visits) < 2 or not _one_step_satisfies(formula, visited, steps):
        return ""
    return (
        f"one step can satisfy all of {formula.brief()}, because its propositions may be true together; the reward "
        "scheme 'distance' then pays nothing in between. If only one is true at a time, list them as --symbols; "
        "otherwise give a potential per state (--reward 0,50,50,100 for two visits)"
    )


def _conjuncts(formula: Formula) -> tuple[Formula, ...]:
    return tuple(chain(*map(_conjuncts, formula.args))) if formula.op is Op.AND else (formula,)


def _can_be_open(visit: Formula) -> bool:
    """Whether a first step may leave it open: F(a | !a) never is."""
    return not holds(visit, [[]]) or not holds(visit, [list(visit.atoms())])


def _one_step_satisfies(formula: Formula, visited: tuple[str, ...], steps: Steps) -> bool:
    """Whether some step is enough; of many atoms, only the step where all holds that is visited is tried."""
    if steps is not None:
        return any(holds(formula, [step]) for step in steps)
    atoms = formula.atoms()
    if len(atoms) > 8:
        return holds(formula, [visited])
    subsets = chain.from_iterable(combinations(atoms, size) for size in range(len(atoms) + 1))
    return any(holds(formula, [step]) for step in subsets)


def _is_sequence(part: Formula) -> bool:
    """Whether it has the form F(a & F b)."""
    if part.op is not Op.EVENTUALLY or part.args[0].op is not Op.AND:
        return False
    later = [arg.op is Op.EVENTUALLY for arg in part.args[0].args]
    return any(later) and not all(later)


def _one_after_the_other(part: Formula) -> Formula:
    """F(a & X F b) of F(a & F b)."""
    conjunction = part.args[0]
    args = (Formula(Op.NEXT, (arg,)) if arg.op is Op.EVENTUALLY else arg for arg in conjunction.args)
    return Formula(Op.EVENTUALLY, (Formula(Op.AND, tuple(args)),))
