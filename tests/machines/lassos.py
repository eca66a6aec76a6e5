"""Slow, obvious semantics on ultimately periodic words: a stem, and a loop that is repeated for ever."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nrm.aliases import Step
from nrm.logic import Formula, InfiniteFormula, InfiniteOp, Op, holds, parse, translate
from nrm.logic.term import boolean_value


def ltl_holds(formula: Formula, stem: Sequence[Step], loop: Sequence[Step]) -> bool:
    """LTL by fixpoints over the positions of the lasso."""
    steps = [{one} if isinstance(one, str) else set(one) for one in (*stem, *loop)]
    following = [*range(1, len(steps)), len(stem)]
    found: dict[Formula, list[bool]] = {}

    def fixpoint(first: bool, rule: Callable[[int, bool], bool]) -> list[bool]:
        values = [first] * len(steps)
        while True:
            new = [rule(place, values[following[place]]) for place in range(len(steps))]
            if new == values:
                return values
            values = new

    for node in formula.postorder():
        args = [found[arg] for arg in node.args]
        a, b = args[0] if args else [], args[-1] if args else []
        match node.op:
            case Op.ATOM:
                value = [node.name in step for step in steps]
            case Op.NEXT:
                value = [a[place] for place in following]
            case Op.EVENTUALLY:
                value = fixpoint(False, lambda place, later: a[place] or later)  # noqa: B023
            case Op.ALWAYS:
                value = fixpoint(True, lambda place, later: a[place] and later)  # noqa: B023
            case Op.UNTIL | Op.WEAK_UNTIL:
                value = fixpoint(node.op is Op.WEAK_UNTIL, lambda place, later: b[place] or (a[place] and later))  # noqa: B023
            case Op.RELEASE | Op.STRONG_RELEASE:
                value = fixpoint(node.op is Op.RELEASE, lambda place, later: b[place] and (a[place] or later))  # noqa: B023
            case _:
                value = [boolean_value(node.op.name, [arg[place] for arg in args]) for place in range(len(steps))]
        found[node] = value
    return found[formula][0]


def prefixes_hold(formula: InfiniteFormula, stem: Sequence[Step], loop: Sequence[Step]) -> bool:
    """LTLf+ by looking at prefixes: so many that the automaton of each part has begun to repeat itself."""
    if formula.args:
        return bool(boolean_value(formula.op.name, [prefixes_hold(arg, stem, loop) for arg in formula.args]))
    finite = parse(formula.name)
    states = translate(finite, exclusive=False).states
    trace = [*stem, *[step for _ in range(2 * states) for step in loop]]
    accepted = [holds(finite, trace[:length]) for length in range(1, len(trace) + 1)]
    lasting = accepted[len(stem) + len(loop) * states :]
    quantifiers = {
        InfiniteOp.SOME: any(accepted),
        InfiniteOp.ALL: all(accepted),
        InfiniteOp.OFTEN: any(lasting),
        InfiniteOp.LASTING: all(lasting),
    }
    return quantifiers[formula.op]
