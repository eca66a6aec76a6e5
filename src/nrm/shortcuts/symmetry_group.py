"""Groups of symmetries, known by few generators: order, orbits and elements without listing what need not be listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import factorial, prod

from nrm.shortcuts.symmetry_search import Permutation, SymmetrySearch


def compose(outer: Sequence[int], inner: Sequence[int]) -> Permutation:
    """First `inner`, then `outer`."""
    return tuple([outer[image] for image in inner])


@dataclass(frozen=True)
class Stabiliser:
    """One link of a chain of stabilisers: where the elements that fix all earlier base points send this one."""

    base: int
    tree: Mapping[int, tuple[int, int] | None]
    """For each point of the orbit of `base`: a generator's number and the point it was reached from (None: base)."""


@dataclass(frozen=True)
class SymmetryGroup:
    """A permutation group of the points 0 to `degree` - 1 with a chain of stabilisers (Schreier and Sims)."""

    degree: int
    generators: tuple[Permutation, ...]
    chain: tuple[Stabiliser, ...] = field(repr=False, compare=False)

    @cached_property
    def order(self) -> int:
        """How many elements the group has, the identity included (orbit-stabiliser theorem)."""
        return prod(len(level.tree) for level in self.chain)

    @cached_property
    def orbits(self) -> tuple[tuple[int, ...], ...]:
        """The points in groups that the symmetries mix, in order of their first points."""
        generators = _Generators(self.degree, self.generators)
        done: dict[int, tuple[int, ...]] = {}
        for point in range(self.degree):
            if point not in done:
                orbit = tuple(sorted(generators.tree(point)))
                done.update(dict.fromkeys(orbit, orbit))
        return tuple(dict.fromkeys(done[point] for point in range(self.degree)))

    @cached_property
    def orbit_of(self) -> tuple[tuple[int, ...], ...]:
        """For each point its orbit."""
        table = {point: orbit for orbit in self.orbits for point in orbit}
        return tuple(table[point] for point in range(self.degree))

    @property
    def identity(self) -> Permutation:
        """The element that moves nothing."""
        return tuple(range(self.degree))

    def elements(self) -> Iterator[Permutation]:
        """Every element once, the identity first, as they are asked for."""
        points = [tuple(level.tree) for level in self.chain]
        chosen = [0] * len(points)
        # Entry d composes the representatives chosen on the first d links; the first point of each has the identity.
        products = [self.identity] * (len(points) + 1)
        while True:
            yield products[-1]
            depth = len(points) - 1
            while depth >= 0 and chosen[depth] == len(points[depth]) - 1:
                chosen[depth] = 0
                depth -= 1
            if depth < 0:
                return
            chosen[depth] += 1
            element = compose(products[depth], self.representative(depth, points[depth][chosen[depth]]))
            products[depth + 1 :] = [element] * (len(points) - depth)

    def representative(self, depth: int, point: int) -> Permutation:
        """An element that fixes the base points before `depth` and sends the one at `depth` to `point`."""
        element = self.identity
        link = self.chain[depth].tree[point]
        while link is not None:
            generator, point = link
            element = compose(element, self.generators[generator])
            link = self.chain[depth].tree[point]
        return element

    def __contains__(self, images: object) -> bool:
        """Whether a permutation is an element: strip it by one element of each link of the chain."""
        rest = list(images) if isinstance(images, Sequence) else []
        for depth, stabiliser in enumerate(self.chain):
            if rest[stabiliser.base] not in stabiliser.tree:
                return False
            back = self.representative(depth, rest[stabiliser.base])
            inverse = {image: point for point, image in enumerate(back)}
            rest = [inverse[image] for image in rest]
        return rest == list(range(self.degree))

    @cached_property
    def factors(self) -> tuple[SymmetryGroup, ...]:
        """Groups on disjoint sets of points whose direct product is this group."""
        parts: list[tuple[set[int], list[int]]] = []
        for number, generator in enumerate(self.generators):
            moved = {point for point, image in enumerate(generator) if point != image}
            numbers = [number]
            for part in [part for part in parts if part[0] & moved]:
                moved |= part[0]
                numbers += part[1]
                parts.remove(part)
            parts.append((moved, numbers))
        return tuple(self._factor(moved, sorted(numbers)) for moved, numbers in sorted(parts, key=lambda p: min(p[0])))

    def _factor(self, moved: set[int], numbers: list[int]) -> SymmetryGroup:
        place = {number: index for index, number in enumerate(numbers)}
        chain = tuple(
            Stabiliser(level.base, {p: (place[link[0]], link[1]) if link else None for p, link in level.tree.items()})
            for level in self.chain
            if level.base in moved
        )
        return SymmetryGroup(self.degree, tuple(self.generators[number] for number in numbers), chain)

    @cached_property
    def moved(self) -> tuple[int, ...]:
        """The points that some element moves."""
        return tuple(point for orbit in self.orbits if len(orbit) > 1 for point in orbit)

    @property
    def is_symmetric(self) -> bool:
        """Whether the group is all permutations of the points that it moves."""
        return self.order == factorial(len(self.moved))


def symmetry_group(search: SymmetrySearch, fixed: Iterable[int] = ()) -> SymmetryGroup:
    """The symmetries of a machine that leave the classes in `fixed` in their places."""
    kept = [(number, number) for number in fixed]

    def complete(choices: list[tuple[int, int]]) -> Permutation | None:
        return search.complete([*kept, *choices])

    return group_of(search.classes, search.base(number for number, _ in kept), complete)


def group_of(
    degree: int,
    base: Sequence[tuple[int, Sequence[int]]],
    complete: Callable[[list[tuple[int, int]]], Permutation | None],
) -> SymmetryGroup:
    """The group whose elements `complete` finds, one for given images of some points, if there is one.

    `base`: points that no element but the identity keeps, each with its possible images. From the end of the base to
    its beginning: what is known of the stabiliser so far says which images of a base point need not be tried, because a
    known element leads to them, or leads from them to one that was refuted. All permutations of ten points so need nine
    completions.
    """
    generators = _Generators(degree)
    chain: list[Stabiliser] = []
    for depth in range(len(base) - 1, -1, -1):
        point, candidates = base[depth]
        stay = [(earlier, earlier) for earlier, _ in base[:depth]]
        tree = generators.tree(point)
        refuted: set[int] = set()
        for candidate in candidates:
            if candidate in tree or candidate in refuted:
                continue
            found = complete([*stay, (point, candidate)])
            if found is None:
                refuted.update(generators.tree(candidate))
            else:
                generators.add(found)
                tree = generators.tree(point)
        if len(tree) > 1:
            chain.append(Stabiliser(point, tree))
    return SymmetryGroup(degree, tuple(generators.elements), tuple(reversed(chain)))


class _Generators:
    """Generators, and for each point those that move it."""

    def __init__(self, degree: int, elements: Iterable[Permutation] = ()) -> None:
        self.elements: list[Permutation] = []
        self.movers: list[list[int]] = [[] for _ in range(degree)]
        for element in elements:
            self.add(element)

    def add(self, element: Permutation) -> None:
        for point, image in enumerate(element):
            if point != image:
                self.movers[point].append(len(self.elements))
        self.elements.append(element)

    def tree(self, start: int) -> dict[int, tuple[int, int] | None]:
        """The orbit of a point, each new point with the generator and the point that led to it."""
        tree: dict[int, tuple[int, int] | None] = {start: None}
        for point in (pending := [start]):
            for number in self.movers[point]:
                image = self.elements[number][point]
                if image not in tree:
                    tree[image] = (number, point)
                    pending.append(image)
        return tree
