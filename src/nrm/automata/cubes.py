"""Boolean functions of many propositions as few readable cubes, from their decision diagrams."""

from __future__ import annotations

from collections.abc import Collection

from nrm.automata.letter_diagram import LetterDiagram
from nrm.automata.mtbdd import Mtbdd
from nrm.errors import LimitError

Cube = tuple[tuple[int, bool], ...]
"""Pairs (proposition, truth), by proposition."""
MAX_NODES = 500_000
MAX_CUBES = 2_000
"""Cubes of a guard up to which it is written out."""


def cubes_of(letters: LetterDiagram, classes: Collection[int]) -> list[Cube]:
    """Cubes that cover exactly the letters of some classes, none superfluous (Minato, Morreale); short ones first."""
    work = _Irredundant()
    made: list[int] = []
    wanted = set(classes)

    def below(child: int) -> int:
        return made[child] if child >= 0 else work.diagrams.leaf(-1 - child in wanted)

    for level, low, high in zip(letters.levels.tolist(), letters.low.tolist(), letters.high.tolist(), strict=True):
        made.append(work.diagrams.node(level, below(low), below(high)))
    root = below(letters.root)
    try:
        found, _ = work.cover(root, root)
    except LimitError:
        raise LimitError(
            f"a guard of this machine is too large to be written out (more than {MAX_CUBES:,} alternatives); JSON "
            "files do without guards"
        ) from None
    named = [tuple(sorted((letters.order[level], true) for level, true in cube)) for cube in found]
    return sorted(named, key=lambda cube: (len(cube), cube))


class _Irredundant:
    def __init__(self) -> None:
        self.diagrams: Mtbdd[bool] = Mtbdd(MAX_NODES)
        self.false, self.true = self.diagrams.leaf(False), self.diagrams.leaf(True)
        self._and_not: dict[tuple[int, int], int] = {}
        self._and: dict[tuple[int, int], int] = {}
        self._or: dict[tuple[int, int], int] = {}
        self._covers: dict[tuple[int, int], tuple[list[Cube], int]] = {}

    def without(self, f: int, g: int) -> int:
        return self.diagrams.apply(f, g, lambda a, b: a and not b, self._and_not)

    def either(self, f: int, g: int) -> int:
        return self.diagrams.apply(f, g, lambda a, b: a or b, self._or)

    def both(self, f: int, g: int) -> int:
        return self.diagrams.apply(f, g, lambda a, b: a and b, self._and)

    def cover(self, lower: int, upper: int) -> tuple[list[Cube], int]:
        """Cubes over levels that cover `lower` and stay inside `upper`, and the function that they cover."""
        if lower == self.false:
            return [], self.false
        if upper == self.true:
            return [()], self.true
        key = (lower, upper)
        if key not in self._covers:
            self._covers[key] = self._cover(lower, upper)
        return self._covers[key]

    def _cover(self, lower: int, upper: int) -> tuple[list[Cube], int]:
        diagrams = self.diagrams
        top = min(diagrams.var[lower], diagrams.var[upper])
        (low_0, low_1), (up_0, up_1) = (
            (diagrams.low[node], diagrams.high[node]) if diagrams.var[node] == top else (node, node)
            for node in (lower, upper)
        )
        cubes_0, covered_0 = self.cover(self.without(low_0, up_1), up_0)
        cubes_1, covered_1 = self.cover(self.without(low_1, up_0), up_1)
        rest = self.either(self.without(low_0, covered_0), self.without(low_1, covered_1))
        cubes, covered = self.cover(rest, self.both(up_0, up_1))
        if len(cubes) + len(cubes_0) + len(cubes_1) > MAX_CUBES:
            raise LimitError("too many cubes")
        found = [*cubes, *(((top, False), *cube) for cube in cubes_0), *(((top, True), *cube) for cube in cubes_1)]
        return found, diagrams.node(top, self.either(covered_0, covered), self.either(covered_1, covered))
