"""What a pure-past formula means on a trace, spelled out by looking back from the last step."""

from __future__ import annotations

from nrm.aliases import Trace
from nrm.logic.ltlf.formula import Formula, Op
from nrm.logic.ppltl.parser import parse
from nrm.logic.traces import steps_of


def holds(formula: Formula | str, trace: Trace) -> bool:
    """Whether `formula` holds at the last step of a non-empty `trace`."""
    root = parse(formula)
    steps = steps_of(trace, "pure-past LTL")
    values: dict[Formula, list[bool]] = {}
    for node in root.postorder():
        arguments = [values[arg] for arg in node.args]
        values[node] = [_at(node, arguments, steps, now) for now in range(len(steps))]
    return values[root][-1]


def _at(node: Formula, args: list[list[bool]], steps: list[frozenset[str]], now: int) -> bool:
    """The truth of `node` at step `now`, given the truth of its arguments at every step."""
    match node.op:
        case Op.TRUE:
            return True
        case Op.FALSE:
            return False
        case Op.ATOM:
            return node.name in steps[now]
        case Op.NOT:
            return not args[0][now]
        case Op.AND:
            return all(arg[now] for arg in args)
        case Op.OR:
            return any(arg[now] for arg in args)
        case Op.XOR:
            return args[0][now] != args[1][now]
        case Op.IMPLIES:
            return not args[0][now] or args[1][now]
        case Op.IFF:
            return args[0][now] == args[1][now]
        case Op.YESTERDAY:
            return now > 0 and args[0][now - 1]
        case Op.ONCE:
            return any(args[0][: now + 1])
        case Op.HISTORICALLY:
            return all(args[0][: now + 1])
        case Op.SINCE:
            held, came = args
            return any(came[then] and all(held[then + 1 : now + 1]) for then in range(now + 1))
        case _:
            raise AssertionError(node.op)
