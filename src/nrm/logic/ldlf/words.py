"""LDLf in plain English."""

from __future__ import annotations

from nrm.logic.boolean_words import boolean_words
from nrm.logic.ldlf.formula import Ldlf, Op
from nrm.logic.ltlf.words import MOST


def in_words(formula: Ldlf) -> str:
    """What a formula asks for, read at the first step."""
    texts: dict[Ldlf, str] = {}
    for node in formula.postorder():
        texts[node] = _phrase(node, [_grouped(arg, texts[arg]) for arg in node.args])
        if len(texts[node]) > MOST:
            return f"({formula.brief(100)}, too long for words)"
    if formula.op is Op.AND:
        return "; and ".join(texts[arg] for arg in formula.args)
    return texts[formula]


def _phrase(node: Ldlf, args: list[str]) -> str:
    match node.op:
        case Op.TT:
            return "anything"
        case Op.FF:
            return "the impossible"
        case Op.END:
            return "the trace is over"
        case Op.LAST:
            return "this is the last step"
        case Op.DIAMOND if node.args[1].op is Op.TT:
            return f"what follows begins with {args[0]}"
        case Op.DIAMOND if node.args[1].op is Op.END:
            return f"what follows, to the end, is {args[0]}"
        case Op.DIAMOND:
            return f"what follows begins with {args[0]}, and then {args[1]}"
        case Op.BOX if node.args[1].op is Op.FF:
            return f"what follows does not begin with {args[0]}"
        case Op.BOX:
            return f"wherever what follows begins with {args[0]}, then {args[1]}"
        case Op.TEST:
            return f"a place where {args[0]}"
        case Op.CHOICE:
            return " or ".join(args)
        case Op.SEQUENCE:
            return ", then ".join(args)
        case Op.STAR:
            return f"any number of times {args[0]}"
        case _:
            return boolean_words(node.op, node.name, args)


def _grouped(arg: Ldlf, text: str) -> str:
    plain = not arg.args or (arg.op is Op.NOT and arg.args[0].op is Op.ATOM)
    return text if plain else f"({text})"
