"""What every language says of single steps and of Boolean operators."""

from __future__ import annotations

from enum import Enum


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
