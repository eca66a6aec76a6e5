"""What a message names, whatever the words around it."""

from __future__ import annotations

import re


def names(message: str, values: str) -> bool:
    """Whether a message holds these values, one after the other: `'nmr' … 'nrm'`. A line break counts as a space."""
    pattern = ".*".join(re.escape(value) for value in values.split(" … "))
    return re.search(pattern, " ".join(message.split())) is not None
