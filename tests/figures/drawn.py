"""What figures say, for tests."""

from __future__ import annotations

from typing import Any


def texts(figure: Any) -> list[str]:
    """Everything that a figure says."""
    from matplotlib.text import Text

    return [text for item in figure.findobj(Text) if (text := item.get_text())]
