"""What letter diagrams say of propositions: where they hold, whether they can be exchanged, what is seen without them.

All of it walks the nodes of a diagram; nothing is of the size of the alphabet.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from itertools import product

from nrm.automata.letter_diagram import MAX_NODES, LetterDiagram
from nrm.automata.mtbdd import Mtbdd

Truths = tuple[int, int]
"""Two sets of propositions, as bits: those that hold at some letter, and those that fail at some letter."""


def truths_by_class(letters: LetterDiagram) -> dict[int, Truths]:
    """For each class which propositions hold at some of its letters, and which do not at some."""
    levels, low, high = letters.levels.tolist(), letters.low.tolist(), letters.high.tolist()
    order, every = letters.order, (1 << letters.propositions) - 1
    # Below each node, by class: the propositions asked for on every way, and what they were on some way.
    found: list[dict[int, tuple[int, int, int]]] = []

    def below(child: int) -> dict[int, tuple[int, int, int]]:
        return found[child] if child >= 0 else {-1 - child: (0, 0, 0)}

    for level, one, two in zip(levels, low, high, strict=True):
        bit = 1 << order[level]
        merged = {number: (asked | bit, true, false | bit) for number, (asked, true, false) in below(one).items()}
        for number, (asked, true, false) in below(two).items():
            old = merged.get(number)
            here = (asked | bit, true | bit, false)
            merged[number] = here if old is None else (old[0] & here[0], old[1] | here[1], old[2] | here[2])
        found.append(merged)
    # What some way does not ask for may hold or not.
    return {
        number: (true | (every & ~asked), false | (every & ~asked))
        for number, (asked, true, false) in below(letters.root).items()
    }


def shares_where(letters: LetterDiagram, true: Collection[int]) -> dict[int, int]:
    """Of the letters at which some propositions hold, the share of each class; all shares add up to 2^levels."""
    levels, low, high, order = letters.levels.tolist(), letters.low.tolist(), letters.high.tolist(), letters.order
    whole = 1 << len(order)
    shares: dict[int, int] = {}
    mass = [0] * letters.nodes
    if letters.root < 0:
        return {-1 - letters.root: whole}
    mass[letters.root] = whole
    for node in range(letters.nodes - 1, -1, -1):  # parents come after their children
        here = mass[node]
        # A way asks for each level once, so halves stay whole numbers.
        sides = (
            ((high[node], here),) if order[levels[node]] in true else ((low[node], here >> 1), (high[node], here >> 1))
        )
        for child, part in sides:
            if child >= 0:
                mass[child] += part
            else:
                shares[-1 - child] = shares.get(-1 - child, 0) + part
    return shares


def exchanged_classes(letters: LetterDiagram, images: Mapping[int, int]) -> dict[int, int] | None:
    """How classes are permuted where propositions are exchanged, p for `images[p]`; None where they are torn apart.

    With pi(x) = {images[p] : p in x} the class of pi(x) must follow from that of x, and back.
    """
    back = {image: proposition for proposition, image in images.items()}
    bits = [back.get(number, number) for number in range(letters.propositions)]
    other = letters.placed(bits, letters.propositions).reordered(letters.order)
    if other.nodes != letters.nodes or other.order != letters.order:
        return None
    ours, theirs = ((d.levels.tolist(), d.low.tolist(), d.high.tolist()) for d in (letters, other))
    matched: dict[int, int] = {}
    pending = [(letters.root, other.root)]
    while pending:
        one, two = pending.pop()
        if matched.setdefault(one, two) != two:
            return None
        if (one < 0) != (two < 0):
            return None
        if one >= 0:
            if ours[0][one] != theirs[0][two]:
                return None
            for side in (1, 2):
                pair = ours[side][one], theirs[side][two]
                if matched.get(pair[0], pair[1]) != pair[1]:
                    return None
                if pair[0] not in matched:
                    pending.append(pair)
    classes = {-1 - one: -1 - two for one, two in matched.items() if one < 0}
    return classes if len(set(classes.values())) == len(classes) else None


def seen_without(letters: LetterDiagram, hidden: Sequence[int]) -> list[int] | None:
    """For each class a number, equal where classes look alike to who does not see some propositions.

    None where two letters of one class look alike.
    """
    if any(proposition not in letters.order for proposition in hidden):
        return None
    work: Mtbdd[tuple[int, ...]] = Mtbdd(MAX_NODES)
    sides = [
        _restricted(letters, dict(zip(hidden, truth, strict=True)), work)
        for truth in product((0, 1), repeat=len(hidden))
    ]
    done: dict[tuple[int, int], int] = {}
    # At each leaf: the classes of the letters that look alike there.
    root = reduce(lambda f, g: work.apply(f, g, lambda a, b: (*a, *b), done), sides)
    shown = [work.value(node) for node in work.below([root]) if work.is_leaf(node)]
    if any(len(set(classes)) < len(classes) for classes in shown):
        return None
    places: dict[int, int] = {}
    classes = 1 + max(map(max, shown))
    return [places.setdefault(_where(work, root, number), len(places)) for number in range(classes)]


def _restricted(letters: LetterDiagram, truth: Mapping[int, int], work: Mtbdd[tuple[int, ...]]) -> int:
    """The diagram where some propositions are as `truth` says, with one class at each leaf."""
    made: list[int] = []

    def below(child: int) -> int:
        return made[child] if child >= 0 else work.leaf((-1 - child,))

    for level, low, high in zip(letters.levels.tolist(), letters.low.tolist(), letters.high.tolist(), strict=True):
        asked = truth.get(letters.order[level])
        if asked is None:
            made.append(work.node(level, below(low), below(high)))
        else:
            made.append(below(high if asked else low))
    return below(letters.root)


def _where(work: Mtbdd[tuple[int, ...]], root: int, number: int) -> int:
    """The function that says where a class is among those of a leaf."""
    return work.map(root, lambda classes: (-1 - (number in classes),), {})
