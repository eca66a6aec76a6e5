"""`nrm shortcuts`: what rewards can and cannot teach about the symbols of a task."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Annotated

from rich.table import Table

from nrm.automata import MAX_LISTED
from nrm.cli.arguments import Mark, UsageError
from nrm.cli.options import MachineOptions
from nrm.cli.terminal import plain_console, table
from nrm.errors import LimitError, UnknownSymbolError, listing
from nrm.logic import inherited_logic
from nrm.machines import MooreMachine, RewardScheme, amount_of_letters, compile_formula
from nrm.shortcuts import (
    PotentialRepair,
    SymbolVerdict,
    amount,
    breaking_potential,
    confusions,
    digits,
    findings,
    many,
    remedies,
    rough_numbers,
    shortcuts,
)
from nrm.shortcuts import Shortcuts as Found

MAX_ROWS = 40
"""Symbols up to which each gets a row of its own; past that, rows are letter classes."""
MAX_NAMES = 200
"""Symbols up to which JSON lists all that one is confusable with; past that, the first ones and their number."""
DEFAULT_SCHEME = "distance"
"""The scheme of further tasks when the first one's is unknown."""


@dataclass(frozen=True)
class Shortcuts(MachineOptions):
    """Count and list the groundings that no reward can tell from the true one, and say what to do about them.

    What the tasks of a family teach together is said by 'nrm tasks --family NAME'.

    For example:
      nrm shortcuts "F a & F b" --symbols a,b,c
      nrm shortcuts "F a & F b" --symbols a,b,c --and "F(a & F c)"
      nrm shortcuts --task 2 --list 10 --json
    """

    also: Annotated[tuple[str, ...], Mark("FORMULA", name="and", repeated=True)] = ()
    """A further task over the same symbols, with the same grounder and reward scheme. Can be given several times."""
    horizon: int | None = None
    """Look at strings up to this length only."""
    listed: Annotated[int, Mark("N", name="list")] = 0
    """Also list the first N maps."""
    json: bool = False
    """Print JSON instead of a report."""

    def run(self) -> int:
        """Analyse, then print."""
        if self.listed < 0:
            raise UsageError(f"--list takes a number of maps, not {self.listed}")
        source = self.source()
        first, scheme = source.machine, source.scheme
        if self.listed and not first.alphabet.is_listable:
            raise UsageError(
                f"--list: maps between the letters of {len(first.alphabet.symbols)} propositions are too long to be "
                f"listed (the limit is {MAX_LISTED} propositions); drop --list"
            )
        whole = shortcuts([first, *(self._further(formula, first, scheme) for formula in self.also)])
        found = whole if self.horizon is None else whole.within(self.horizon)
        potential = None if self.horizon is not None or found.symmetries == 1 else breaking_potential(found)
        names = (source.title, *self.also)
        assumed = DEFAULT_SCHEME if self.also and scheme is None else None
        # All is worked out before anything is printed: an error leaves nothing behind on standard output.
        maps = list(islice(found.maps(), self.listed))
        if self.json:
            print(json.dumps(self._json(names, whole, found, potential, assumed, maps), ensure_ascii=False))
            return 0
        strings = "every string" if self.horizon is None else f"strings up to length {self.horizon}"
        head = self._head(names, whole.machine, found, assumed)
        body = [*findings(found, strings), _table(found), *remedies(found, potential)]
        console = plain_console()
        for line in [*head, ""]:
            console.print(line, soft_wrap=True)
        console.print(*body, sep="\n")
        if not found.groundable and self.horizon is None:
            console.print("Try it with --reward SCHEME, or --and FORMULA.")
        for line in _listed(found, maps) if self.listed else ():
            console.print(line, soft_wrap=True)
        return 0

    def _further(self, formula: str, first: MooreMachine, scheme: RewardScheme | None) -> MooreMachine:
        """The machine of a task after the first, with the first one's scheme."""
        scheme = DEFAULT_SCHEME if scheme is None else scheme
        if not isinstance(scheme, str):
            raise UsageError("potentials given as numbers fit one machine; with --and, name a reward scheme (--reward)")
        try:
            logic = inherited_logic(formula, self.logic)
            return compile_formula(formula, first.alphabet, reward=scheme, limits=self.limits, logic=logic)
        except UnknownSymbolError as error:
            raise UnknownSymbolError(f"--and '{formula}': {error}; all tasks share the symbols of the first") from None

    def _head(self, names: tuple[str, ...], machine: MooreMachine, found: Found, assumed: str | None) -> list[str]:
        """What is analysed. `machine`: that of all tasks; with a horizon, `found` has one unrolled over time."""
        exclusive = found.alphabet.is_exclusive
        lines = [f"{'task' if number == 0 else 'and':<10} {name}" for number, name in enumerate(names)]
        letters = amount_of_letters(found.alphabet)
        kind = "exactly one holds at each step" if exclusive else f"any may hold at a step: {letters} letters"
        lines.append(f"{'symbols' if exclusive else 'props':<10} {listing(found.alphabet.symbols)}  ({kind})")
        if assumed is not None:
            lines.append(f"{'rewards':<10} as in the machine file; further tasks: {assumed} (choose with --reward)")
        lines.append(f"{'machine':<10} {many(machine.states, 'state')}, {many(machine.classes, 'letter class', 'es')}")
        if self.horizon is not None:
            told = found.machine.classes
            fewer = f", which tell {many(told, 'letter class', 'es')} apart" if told < machine.classes else ""
            lines.append(f"{'horizon':<10} strings up to length {self.horizon}{fewer}")
        return lines

    def _json(
        self,
        names: tuple[str, ...],
        whole: Found,
        found: Found,
        potential: PotentialRepair | None,
        assumed: str | None,
        maps: list[dict[str, str]],
    ) -> dict[str, object]:
        classes = _classes(found)
        moved = [[pair for pair in enumerate(one.classes) if pair[0] != pair[1]] for one in found.generators]
        data: dict[str, object] = {
            "tasks": list(names),
            "kind": found.alphabet.kind,
            "horizon": self.horizon,
            "states": whole.machine.states,
            **_counts(found),
            "generators": [[[classes[number], classes[image]] for number, image in pairs] for pairs in moved],
            "classes": classes,
            "groundable": found.groundable,
            "labels_needed": _labels(found),
        }
        if potential is not None:
            count, left = _counts(potential.left)["count"], _number(potential.left.symmetries)
            data["potential"] = {"reward": potential.scheme, "count": count, "symmetries": left}
        if found.alphabet.is_free:
            data["renamings"] = digits(found.renamings.count)
        data |= {} if assumed is None else {"further_reward": assumed}
        data |= {"maps": maps} if self.listed else {}
        return {**data, "symbols": {verdict.symbol: _verdict_json(verdict, found) for verdict in found.verdicts}}


def _counts(found: Found) -> dict[str, object]:
    """How many shortcuts there are: exactly, or to thirty digits where the number is too long to be worked out."""
    symmetries = _number(found.symmetries)
    try:
        internal, by_symmetry = _number(found.class_internal), _number(found.by_symmetry)
        count = {"count": digits(found.count), "symmetries": symmetries}
        return {**count, "class_internal": internal, "by_symmetry": by_symmetry}
    except LimitError:
        rough = found.rough
        return {
            "count": f"{rough.every:.29e}",
            "symmetries": symmetries,
            "class_internal": f"{rough.class_internal:.29e}",
            "by_symmetry": f"{rough.by_symmetry:.29e}" if found.symmetries > 1 else 0,
            "class_sizes": [_number(size) for size in found.class_sizes],
        }


def _classes(found: Found) -> list[object]:
    """The letters of each class; where they are too many to list, a guard that holds at exactly these."""
    return [list(letters) for letters in found.classes] if found.alphabet.is_listable else list(found.class_texts)


def _labels(found: Found) -> list[str] | None:
    """The symbols to label; None when finding a smallest set takes too long."""
    try:
        return list(found.labels_needed)
    except LimitError:
        return None


def _verdict_json(verdict: SymbolVerdict, found: Found) -> dict[str, object]:
    several = verdict.confusable_count > MAX_NAMES
    return {
        "groundable": verdict.groundable,
        "confusable_with": list(islice(verdict.confusions(), MAX_NAMES)),
        "by_symmetry": list(islice(chain.from_iterable(verdict.swapped), MAX_NAMES)),
        **({"confusable_count": verdict.confusable_count} if several else {}),
        **({"used": verdict.used} if found.alphabet.is_free else {}),
    }


def _number(value: int) -> int | str:
    """The number, or its digits where a JSON reader would refuse the number."""
    return value if value < 10**4000 else digits(value)


def _table(found: Found) -> Table:
    headings = ("symbol", "rewards can teach it", "confusable with")
    symbols = found.alphabet.symbols
    if len(symbols) <= MAX_ROWS or found.alphabet.is_free:
        return table(headings, [(v.symbol, "yes" if v.groundable else "no", confusions(v)) for v in found.verdicts])
    # One row for each class stands for all its letters: their verdicts differ in nothing but the name.
    rows = []
    for letters in found.members[:MAX_ROWS]:
        one = replace(found.verdict(symbols[letters[0]]), alike=())
        alike = f"each other ({len(letters):,} treated alike)" if len(letters) > 1 else ""
        others = confusions(one) if one.swapped else ""
        taught = "yes" if one.groundable else "no"
        names = listing([symbols[letter] for letter in letters], 6)
        rows.append((names, taught, "; ".join(filter(None, (alike, others)))))
    if (hidden := len(found.members) - MAX_ROWS) > 0:
        rows.append((f"… {hidden:,} more classes", "", "see --json"))
    return table(headings, rows)


def _listed(found: Found, maps: list[dict[str, str]]) -> Iterator[str]:
    """A line for each map, and how many more there are."""
    yield ""
    for number, mapping in enumerate(maps, 1):
        moved = [f"{name}→{image}" for name, image in mapping.items() if name != image]
        yield f"{number:>5}  {listing(moved) if moved else 'identity'}"
    with rough_numbers():
        left = found.rough.every - len(maps)
    if left:
        yield f"       … and {amount(left)} more"
