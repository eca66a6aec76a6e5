"""Boolean terms about one step: what all languages say alike of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nrm.logic.term import Term

BOOLEAN = frozenset(("TRUE", "FALSE", "ATOM", "NOT", "AND", "OR", "XOR", "IMPLIES", "IFF"))
"""The names of the operators that speak of one step."""


def boolean_value(op: str, args: Sequence[bool]) -> bool:
    """The value of a Boolean operator, by its name, over values."""
    match op:
        case "TRUE":
            return True
        case "FALSE":
            return False
        case "NOT":
            return not args[0]
        case "AND":
            return all(args)
        case "OR":
            return any(args)
        case "XOR":
            return args[0] != args[1]
        case "IMPLIES":
            return not args[0] or args[1]
        case "IFF":
            return args[0] == args[1]
        case _:
            raise AssertionError(op)


def holds_at(step: Term, true: Collection[str]) -> bool:
    """Whether a Boolean term holds at a step where these symbols do."""
    values: dict[Term, bool] = {}
    for node in step.postorder():
        if node.op.name == "ATOM":
            values[node] = node.name in true
        else:
            values[node] = boolean_value(node.op.name, [values[arg] for arg in node.args])
    return values[step]
