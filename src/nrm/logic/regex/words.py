"""Regular expressions in plain English."""

from __future__ import annotations

from nrm.logic.boolean_words import boolean_words
from nrm.logic.ltlf.words import MOST
from nrm.logic.ltlf.words import in_words as ltlf_in_words
from nrm.logic.regex.formula import Op, Regex
from nrm.logic.regex.patterns import formula_of


def in_words(expression: Regex) -> str:
    """What the whole of a trace must be."""
    texts: dict[Regex, str] = {}
    for node in expression.postorder():
        texts[node] = _phrase(node, [_grouped(arg, texts[arg]) for arg in node.args])
        if len(texts[node]) > MOST:
            return f"({expression.brief(100)}, too long for words)"
    return f"the whole trace is {texts[expression]}"


def _phrase(node: Regex, args: list[str]) -> str:
    match node.op:
        case Op.CHOICE:
            return " or ".join(args)
        case Op.SEQUENCE:
            return ", then ".join(args)
        case Op.STAR:
            return f"any number of times {args[0]}"
        case Op.OPTIONAL:
            return f"perhaps {args[0]}"
        case Op.REPEAT:
            least, most = node.bounds
            often = f"at least {least}" if most is None else f"{least}" if most == least else f"{least} to {most}"
            return f"{often} times {args[0]}"
        case Op.BOTH:
            return " and at once ".join(args)
        case Op.COMPLEMENT:
            return f"anything but {args[0]}"
        case Op.PATTERN:
            return f"steps with: {ltlf_in_words(formula_of(node))}"
        case _:
            return boolean_words(node.op, node.name, args)


def _grouped(arg: Regex, text: str) -> str:
    plain = not arg.args or (arg.op is Op.NOT and arg.args[0].op is Op.ATOM)
    return text if plain else f"({text})"
