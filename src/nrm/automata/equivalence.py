"""Whether two automata say the same on every string, with a shortest string where they do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from nrm.aliases import Letter, State

Pair = tuple[State, State]


def distinguishing_string(
    rows: tuple[Sequence[Sequence[State]], Sequence[Sequence[State]]],
    start: Pair,
    letters: Mapping[tuple[int, int], Letter],
    differ: Callable[[State, State], bool],
    horizon: int | None = None,
) -> tuple[list[Letter], Pair] | None:
    """A shortest string after which the states of two automata `differ`, and these states; None if there is none.

    `rows`: the next state by state and letter class, of both. `letters`: for each pair of letter classes a letter that
    is in both, in the order in which they are tried. `horizon`: look at strings up to this length only.
    """
    left, right = rows
    parents: dict[Pair, tuple[Pair, Letter] | None] = {start: None}
    frontier, length = [start], 0
    if differ(*start):
        return [], start
    while frontier and length != horizon:
        length += 1
        following = []
        for pair in frontier:
            row, twin = left[pair[0]], right[pair[1]]
            for (own, other), letter in letters.items():
                target = row[own], twin[other]
                if target not in parents:
                    parents[target] = pair, letter
                    if differ(*target):
                        return path_to(target, parents), target
                    following.append(target)
        frontier = following
    return None


def path_to(pair: Pair, parents: Mapping[Pair, tuple[Pair, Letter] | None]) -> list[Letter]:
    """The letters that led to a pair of states, from what each was reached by."""
    string: list[Letter] = []
    link = parents[pair]
    while link is not None:
        pair, letter = link
        string.append(letter)
        link = parents[pair]
    return string[::-1]
