"""LTLf, and pure-past LTL, in plain English."""

from __future__ import annotations

from nrm.logic.ltlf.formula import Formula, Op

MOST = 2_000
"""Characters past which words help nobody."""


def in_words(formula: Formula) -> str:
    """What a formula asks for, read at the first step."""
    parts = formula.args if formula.op is Op.AND else (formula,)
    return "; and ".join(_top(part) for part in parts)


def past_in_words(formula: Formula) -> str:
    """What a pure-past formula asks for, read at the last step."""
    return "when it ends: " + in_words(formula)


def _top(formula: Formula) -> str:
    texts: dict[tuple[Formula, bool], str] = {}
    # Inside a temporal operator "now" is the step that the operator speaks of, so there are two texts for each part.
    for node in formula.postorder():
        for inside in (False, True):
            texts[node, inside] = _phrase(node, inside, texts)
            if len(texts[node, inside]) > MOST:
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
        case Op.ATOM:
            return node.name
        case Op.END:
            return "nothing is left to come"
        case Op.LAST:
            return "this is the last step"
        case Op.NOT:
            return f"not {_grouped(node.args[0], here[0])}"
        case Op.AND:
            return " and ".join(_grouped(arg, text) for arg, text in zip(node.args, here, strict=True))
        case Op.OR:
            return " or ".join(_grouped(arg, text) for arg, text in zip(node.args, here, strict=True))
        case Op.XOR:
            return f"either {_grouped(node.args[0], here[0])} or {_grouped(node.args[1], here[1])}, and not both"
        case Op.IMPLIES:
            return f"if {_grouped(node.args[0], here[0])}, then {_grouped(node.args[1], here[1])}"
        case Op.IFF:
            return f"{_grouped(node.args[0], here[0])} exactly if {_grouped(node.args[1], here[1])}"
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
    first, second = (_grouped(arg, text) for arg, text in zip(node.args, args, strict=True))
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


def _grouped(arg: Formula, text: str) -> str:
    """A part inside another, in parentheses unless it is a single word."""
    plain = not arg.args or (arg.op is Op.NOT and arg.args[0].op is Op.ATOM)
    return text if plain else f"({text})"
