"""Exact sums over a group of symmetries: #URS = sum over h of prod over classes j of m_h(j) ** k_j."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import MAX_EMAX, Decimal, Inexact, localcontext
from math import prod
from typing import Any, TypeVar

from nrm.errors import LimitError
from nrm.shortcuts.symmetry_group import SymmetryGroup

Number = TypeVar("Number", int, Decimal)
DEFAULT_TERMS = 500_000
"""Most different terms of a sum over a group."""
MAX_BITS = 64_000_000
"""Length up to which the number of shortcuts is worked out: 8 megabytes."""
_PLAIN_BITS = 8192
"""Numbers that Python writes by itself, and fast."""


def sum_over(
    group: SymmetryGroup, sizes: Sequence[Number], exponents: Sequence[int], terms: int = DEFAULT_TERMS
) -> Number:
    """Sum over h in the group of prod over points j of sizes[h(j)] ** exponents[j], of the type of the sizes.

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
        elif factor.is_symmetric:
            total *= _permanent(*part, terms)
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


def _permanent(sizes: Sequence[Any], exponents: Sequence[int], terms: int) -> Any:
    """The sum over all permutations: a permanent, point by point over how many of each size are still free."""
    kinds = Counter(sizes)
    values = list(kinds)
    if prod(count + 1 for count in kinds.values()) > terms:
        raise LimitError(
            f"{len(sizes)} letter classes of {len(values)} different sizes ({_short(sizes)}) are interchangeable, and "
            f"the exact sum over their arrangements needs more than {terms:,} terms; raise the limit (terms=…)"
        )
    sums: dict[tuple[int, ...], Any] = {tuple(kinds[value] for value in values): 1}
    for exponent in exponents:
        powers = [value**exponent for value in values]
        following: dict[tuple[int, ...], Any] = {}
        for free, amount in sums.items():
            for index, count in enumerate(free):
                if count:
                    rest = (*free[:index], count - 1, *free[index + 1 :])
                    # Equal sizes are different classes: `count` ways to take one of them.
                    following[rest] = following.get(rest, 0) + amount * count * powers[index]
        sums = following
    return sums[(0,) * len(values)]


def check_length(sizes: Sequence[int], exponents: Sequence[int]) -> None:
    """Raise `LimitError` when the product of powers would be too long a number to be of use."""
    bits = sum(exponent * size.bit_length() for size, exponent in zip(sizes, exponents, strict=True) if size > 1)
    if bits > MAX_BITS:
        raise LimitError(
            f"the number of shortcuts has more than {MAX_BITS:,} bits; the sizes of the letter classes and the "
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
    if number.bit_length() <= _PLAIN_BITS:
        return str(number)
    with localcontext() as context:
        context.prec = number.bit_length() // 3 + 10
        context.Emax, context.traps[Inexact] = MAX_EMAX, True
        return format(_decimal(number, number.bit_length(), {}), "f")


def _decimal(number: int, bits: int, powers: dict[int, Decimal]) -> Decimal:
    """The number as a decimal, halves first."""
    if bits <= _PLAIN_BITS:
        return Decimal(number)
    half = bits // 2
    if half not in powers:
        powers[half] = Decimal(2) ** half
    high, low = number >> half, number & ((1 << half) - 1)
    return _decimal(high, bits - half, powers) * powers[half] + _decimal(low, half, powers)
