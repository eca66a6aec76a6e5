"""Groups of symmetries, known by few generators: order, orbits, elements, and exact sums over them.

#URS = sum over h of prod over classes j of m_h(j) ** k_j, without listing what need not be listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import MAX_EMAX, Decimal, localcontext
from functools import cached_property, reduce
from itertools import product
from math import factorial, prod
from typing import Any, TypeVar

from nrm.errors import LimitError
from nrm.shortcuts.symmetry_search import Permutation, SymmetrySearch

Number = TypeVar("Number", int, Decimal)
DEFAULT_TERMS = 500_000
"""Most different terms of a sum over a group."""


def compose(outer: Sequence[int], inner: Sequence[int]) -> Permutation:
    """First `inner`, then `outer`."""
    return tuple([outer[image] for image in inner])


Orbit = Mapping[int, tuple[Permutation, int] | None]
"""For each point of the orbit of the first one: a generator, and the point from which it led there (first: None)."""


@dataclass(frozen=True)
class SymmetryGroup:
    """A permutation group of the points 0 to `degree` - 1 with a chain of stabilisers (Schreier and Sims)."""

    degree: int
    generators: tuple[Permutation, ...]
    chain: tuple[Orbit, ...] = field(repr=False, compare=False)
    """Of each base point, where the elements that fix all earlier ones send it."""

    @cached_property
    def order(self) -> int:
        """How many elements the group has, the identity included (orbit-stabiliser theorem)."""
        return prod(map(len, self.chain))

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

    @property
    def trivial(self) -> SymmetryGroup:
        """The group of the identity alone."""
        return SymmetryGroup(self.degree, (), ())

    def elements(self) -> Iterator[Permutation]:
        """Every element once, the identity first, as they are asked for."""
        for points in product(*self.chain):
            chosen = (self._leading(orbit, point) for orbit, point in zip(self.chain, points, strict=True))
            yield reduce(compose, chosen, self.identity)

    def _leading(self, orbit: Orbit, point: int) -> Permutation:
        """An element that keeps the base points before that of an orbit of the chain, and sends that one to `point`."""
        element = self.identity
        while (link := orbit[point]) is not None:
            element, point = compose(element, link[0]), link[1]
        return element

    def __contains__(self, images: object) -> bool:
        """Whether a permutation is an element: strip it by one element of each link of the chain."""
        rest = list(images) if isinstance(images, Sequence) else []
        for orbit in self.chain:
            image = rest[next(iter(orbit))]
            if image not in orbit:
                return False
            back = self._leading(orbit, image)
            inverse = {image: point for point, image in enumerate(back)}
            rest = [inverse[image] for image in rest]
        return rest == list(range(self.degree))

    @cached_property
    def factors(self) -> tuple[SymmetryGroup, ...]:
        """Groups on disjoint sets of points whose direct product is this group."""
        moves = {one: {point for point, image in enumerate(one) if point != image} for one in self.generators}
        parts: list[set[int]] = []
        for moved in moves.values():
            touched = [part for part in parts if part & moved]
            parts = [*(part for part in parts if not part & moved), moved.union(*touched)]
        return tuple(
            SymmetryGroup(
                self.degree,
                tuple(generator for generator, moved in moves.items() if moved <= part),
                tuple(orbit for orbit in self.chain if next(iter(orbit)) in part),
            )
            for part in sorted(parts, key=min)
        )

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
    chain: list[Orbit] = []
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
            chain.append(tree)
    return SymmetryGroup(degree, tuple(generators.elements), tuple(reversed(chain)))


class _Generators:
    """Generators, and for each point those that move it."""

    def __init__(self, degree: int, elements: Iterable[Permutation] = ()) -> None:
        self.elements: list[Permutation] = []
        self.movers: list[list[Permutation]] = [[] for _ in range(degree)]
        for element in elements:
            self.add(element)

    def add(self, element: Permutation) -> None:
        for point, image in enumerate(element):
            if point != image:
                self.movers[point].append(element)
        self.elements.append(element)

    def tree(self, start: int) -> Orbit:
        """The orbit of a point, each new point with the generator and the point that led to it."""
        tree: dict[int, tuple[Permutation, int] | None] = {start: None}
        for point in (pending := [start]):
            for generator in self.movers[point]:
                image = generator[point]
                if image not in tree:
                    tree[image] = (generator, point)
                    pending.append(image)
        return tree


def sum_over(
    group: SymmetryGroup, sizes: Sequence[Number], exponents: Sequence[int], terms: int = DEFAULT_TERMS
) -> Number:
    """Sum over h in the group of prod over points j of sizes[h(j)] ** exponents[j]; of decimals, roughly.

    Where sizes are constant on orbits all terms are equal. Otherwise the group is a direct product of factors on
    disjoint points, and the sum is the product of the factors' sums. Raises `LimitError` past `terms` terms.
    """
    if all(sizes[orbit[0]] == sizes[point] for orbit in group.orbits if len(orbit) > 1 for point in orbit):
        equal: Number = group.order * _term(sizes, exponents)
        return equal
    total: Any = 1
    unmoved = set(range(group.degree))
    for factor in group.factors:
        unmoved.difference_update(factor.moved)
        points = factor.moved
        part = [sizes[point] for point in points], [exponents[point] for point in points]
        if len({sizes[point] for point in points}) == 1:
            total *= factor.order * _term(*part)
        else:
            total *= _orbit_sum(factor, sizes, exponents, terms)
    rest = sorted(unmoved)
    result: Number = total * _term([sizes[point] for point in rest], [exponents[point] for point in rest])
    return result


@contextmanager
def rough_numbers() -> Iterator[None]:
    """Decimals are worked out to thirty digits, with exponents as long as need be."""
    with localcontext() as context:
        context.prec, context.Emax = 40, MAX_EMAX
        yield


def _orbit_sum(group: SymmetryGroup, sizes: Sequence[Any], exponents: Sequence[int], terms: int) -> Any:
    """One term for each arrangement j -> sizes[h(j)], instead of one for each symmetry h."""
    points = group.moved
    place = {point: index for index, point in enumerate(points)}
    moves = [[place[generator[point]] for point in points] for generator in group.generators]
    start = tuple(sizes[point] for point in points)
    powers = [exponents[point] for point in points]
    seen = {start}
    total: Any = 0
    for arrangement in (pending := [start]):
        total += _term(arrangement, powers)
        for move in moves:
            following = tuple([arrangement[image] for image in move])
            if following not in seen:
                seen.add(following)
                pending.append(following)
        if len(seen) > terms:
            raise LimitError(
                f"letter classes of different sizes ({_short(start)}) are mixed by {group.order:,} symmetries in more "
                f"than {terms:,} ways, and the exact sum over them was given up; raise the limit (terms=…)"
            )
    return total * (group.order // len(seen))


def check_length(sizes: Sequence[int], exponents: Sequence[int]) -> None:
    """Raise `LimitError` when the product of powers would be too long a number to be of use."""
    bits = sum(exponent * size.bit_length() for size, exponent in zip(sizes, exponents, strict=True) if size > 1)
    most = 1_000_000  # 300,000 digits
    if bits > most:
        raise LimitError(
            f"the number of shortcuts has more than {most:,} bits; the sizes of the letter classes and the "
            "symmetries say it all (Shortcuts.class_sizes, Shortcuts.group)"
        )


def _term(sizes: Sequence[Any], exponents: Sequence[int]) -> Any:
    if all(isinstance(size, int) for size in sizes):
        check_length(sizes, exponents)
    return prod(map(pow, sizes, exponents))


def _short(sizes: Sequence[Any]) -> str:
    distinct = sorted(set(sizes))
    return ", ".join(str(size) for size in distinct[:6]) + (", …" if len(distinct) > 6 else "")


def digits(number: int) -> str:
    """A whole number in decimal, of any length: Python refuses to write integers past 4,300 digits."""
    return str(Decimal(number))
