"""Tables as text: Markdown for people, CSV for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """A Markdown table; the first `left` columns are aligned to the left, the others to the right."""
    marks = [" --- "] * left + [" ---: "] * (len(headings) - left)
    lines = [_line(headings), "|" + "|".join(marks) + "|", *map(_line, rows)]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    """One line; a bar or a line break inside a cell would end it."""
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |"
