"""The words of the domain, as types."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Symbol: TypeAlias = str
"""The name of something that can hold at a step: a symbol or a proposition."""

State: TypeAlias = int
"""A state of a machine; states are numbered from 0."""

Letter: TypeAlias = int
"""The index of one letter of an alphabet: what is read at one step."""

Step: TypeAlias = Symbol | Collection[Symbol]
"""What holds at one step: one symbol, or the collection of the propositions that are true."""

Trace: TypeAlias = Sequence[Step]
"""A finite sequence of steps."""

SymbolMap: TypeAlias = Mapping[Symbol, Symbol]
"""A renaming alpha: P -> P of symbols (the paper's "reasoning shortcut" candidates)."""

Argument: TypeAlias = bool | int | float | str
"""The value of an argument that a command line or a file can give."""

End: TypeAlias = Literal["outcome", "absorbing", "limit", "round"]
"""When a task ends an episode. `outcome`: at an accepting state or a failure (the paper's). `absorbing`: at a state
that no letter leaves. `limit`: only when the environment itself ends, for tasks that can be lost again or hold from
the start, as `G(a -> F b)`. `round`: at an outcome, but after a success our environments go on from where they are; to
train on infinite tasks."""

IntArray: TypeAlias = NDArray[np.int32]
BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
Json: TypeAlias = dict[str, Any]
