"""Values of settings as they are typed on the command line."""

from __future__ import annotations

import ast
from typing import Any, get_args, get_origin

import msgspec


class Words(tuple[str, ...]):
    """What stands behind an option; the type of its setting says what it means."""

    def meant(self, hint: Any) -> Any:
        """What the words mean for a setting of this type, or the first of them where they mean nothing.

        No words are a flag.
        """
        if self == ("none",) and type(None) in get_args(hint):
            return None
        if dict in (hint, get_origin(hint)):
            return dict(zip(self[::2], map(literal, self[1::2]), strict=False))
        tries: list[Any] = [*self, [*self]] if len(self) == 1 else [[*self]] if self else [True, []]
        fitting = (one for one in tries if _fits(one, hint))
        for one in fitting:
            return msgspec.to_builtins(msgspec.convert(one, hint, strict=False))
        return tries[0]


def _fits(value: Any, hint: Any) -> bool:
    try:
        msgspec.convert(value, hint, strict=False)
    except msgspec.ValidationError:
        return False
    return True


def literal(text: str) -> Any:
    """A number, truth value or text, as it is written."""
    try:
        return ast.literal_eval(text.capitalize() if text in ("true", "false") else text)
    except (ValueError, SyntaxError):
        return text
