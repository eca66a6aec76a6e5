"""Warnings as people see them on the command line, and in the processes of a grid."""

from __future__ import annotations

import sys
from collections.abc import Callable

from nrm.errors import NrmWarning


class ShownWarnings:
    """Shows warnings as errors are shown, ours in one line and others with their place, each of them once."""

    def __init__(self, words: Callable[[str], str] = str) -> None:
        """`words`: what our warnings become before they are shown."""
        self._words = words
        self._shown: set[str] = set()

    def show(self, message: Warning | str, category: type[Warning], filename: str, line: int, *_: object) -> None:
        """What Python calls in place of `warnings.showwarning`."""
        ours = issubclass(category, NrmWarning)
        said = self._words(str(message)) if ours else f"{message} ({category.__name__}, {filename}, line {line})"
        if said not in self._shown:
            self._shown.add(said)
            print(f"nrm: warning: {said}", file=sys.stderr, flush=True)
