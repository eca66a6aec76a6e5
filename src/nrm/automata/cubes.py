"""Boolean functions of many propositions as few readable cubes, from their decision diagrams."""

from __future__ import annotations

from collections.abc import Collection

from nrm.automata.diagram import Diagram
from nrm.automata.mtbdd import FALSE, TRUE, Bdd
from nrm.errors import LimitError

Cube = tuple[tuple[int, bool], ...]
"""Pairs (proposition, truth), by proposition."""
MAX_CUBES = 2_000
"""Cubes of a guard up to which it is written out."""


def cubes_of(diagram: Diagram, root: int, numbers: Collection[int]) -> list[Cube]:
    """Cubes of exactly the letters that lead to some numbers, none superfluous (Minato, Morreale); short ones first."""
    work = _Irredundant(500_000)
    made: dict[int, int] = {}
    levels, low, high, roots = diagram.lists
    wanted = set(numbers)

    def below(child: int) -> int:
        return made[child] if child >= 0 else TRUE if -1 - child in wanted else FALSE

    for node in sorted(node for node in diagram.below(root, set()) if node >= 0):
        made[node] = work.node(levels[node], below(low[node]), below(high[node]))
    top = below(roots[root])
    try:
        found, _ = work.cover(top, top)
    except LimitError:
        raise LimitError(
            f"a guard of this machine is too large to be written out (more than {MAX_CUBES:,} alternatives); JSON "
            "files do without guards"
        ) from None
    named = [tuple(sorted((diagram.order[level], true) for level, true in cube)) for cube in found]
    return sorted(named, key=lambda cube: (len(cube), cube))


class _Irredundant(Bdd):
    def __init__(self, max_nodes: int) -> None:
        super().__init__(max_nodes)
        self._negations: dict[int, int] = {}
        self._covers: dict[tuple[int, int], tuple[list[Cube], int]] = {}

    def without(self, f: int, g: int) -> int:
        return self.conjunction(f, self.map(g, lambda value: not value, self._negations))

    def cover(self, lower: int, upper: int) -> tuple[list[Cube], int]:
        """Cubes over levels that cover `lower` and stay inside `upper`, and the function that they cover."""
        if lower == FALSE:
            return [], FALSE
        if upper == TRUE:
            return [()], TRUE
        key = (lower, upper)
        if key not in self._covers:
            self._covers[key] = self._cover(lower, upper)
        return self._covers[key]

    def _cover(self, lower: int, upper: int) -> tuple[list[Cube], int]:
        top = min(self.var[lower], self.var[upper])
        (low_0, low_1), (up_0, up_1) = (
            (self.low[node], self.high[node]) if self.var[node] == top else (node, node) for node in (lower, upper)
        )
        cubes_0, covered_0 = self.cover(self.without(low_0, up_1), up_0)
        cubes_1, covered_1 = self.cover(self.without(low_1, up_0), up_1)
        rest = self.disjunction(self.without(low_0, covered_0), self.without(low_1, covered_1))
        cubes, covered = self.cover(rest, self.conjunction(up_0, up_1))
        if len(cubes) + len(cubes_0) + len(cubes_1) > MAX_CUBES:
            raise LimitError("too many cubes")
        found = [*cubes, *(((top, False), *cube) for cube in cubes_0), *(((top, True), *cube) for cube in cubes_1)]
        return found, self.node(top, self.disjunction(covered_0, covered), self.disjunction(covered_1, covered))
