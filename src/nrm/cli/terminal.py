"""How commands print tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table


def plain_console() -> Console:
    """Standard output for text that is shown as it is."""
    return Console(highlight=False, markup=False, emoji=False)


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[str] = (), title: str = ""
) -> Table:
    """A table; the columns that `numbers` names are flush right. Without any heading it has no head."""
    made = Table(box=SIMPLE_HEAD, show_header=any(headings), title=title or None, title_justify="left")
    for heading in headings:
        made.add_column(heading, justify="right" if heading in numbers else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made
