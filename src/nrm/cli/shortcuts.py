"""`nrm shortcuts`: what rewards can and cannot teach about the symbols of a task."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice

from rich.table import Table

from nrm.automata import MAX_LISTED
from nrm.cli.arguments import UsageError
from nrm.cli.compile import symbols_of
from nrm.cli.options import CountOption, JsonOption, MachineOptions
from nrm.cli.terminal import plain_console, table
from nrm.errors import LimitError, UnknownSymbolError, listing
from nrm.logic import inherited_logic
from nrm.machines import MooreMachine, RewardScheme, compile_formula
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

DEFAULT_SCHEME = "distance"
"""The scheme of further tasks when the first one's is unknown."""


@dataclass(frozen=True, kw_only=True)
class Shortcuts(MachineOptions, JsonOption, CountOption):
    """Count the groundings that earn the same rewards as the true one, and suggest remedies. --count N lists N of them.

    For a whole distribution of tasks, see 'nrm tasks --family NAME'.

    For example:
      nrm shortcuts "F a & F b" --symbols a,b,c
      nrm shortcuts "F a & F b" --symbols a,b,c --and "F(a & F c)"
      nrm shortcuts 2 --count 10 --json
    """

    and_: tuple[str, ...] = ()
    """Another task over the same symbols, for the same grounder and reward scheme. May be repeated."""

    def run(self) -> int:
        """Analyse, then print."""
        source = self.any_source()
        first, scheme = source.machine, source.scheme
        if self.count and not first.alphabet.is_listable:
            raise UsageError(f"--count is for at most {MAX_LISTED} propositions; drop it")
        found = shortcuts([first, *(self._further(formula, first, scheme) for formula in self.and_)])
        potential = None if found.symmetries == 1 else breaking_potential(found)
        names = (source.title, *self.and_)
        notes = [] if self.and_ else source.notes
        assumed = DEFAULT_SCHEME if self.and_ and scheme is None else None
        # All is worked out before anything is printed: an error leaves nothing behind on standard output.
        maps = list(islice(found.maps(), self.count or 0))
        if self.json:
            more: dict[str, object] = {"notes": notes}
            more |= {} if assumed is None else {"further_reward": assumed}
            more |= {"maps": maps} if self.count else {}
            print(json.dumps({"tasks": list(names), **_as_json(found, potential), **more}, ensure_ascii=False))
            return 0
        body = [*findings(found), _table(found), *remedies(found, potential)]
        console = plain_console()
        for line in [*_head(names, found, assumed), *(f"{'note':<10} {note}" for note in notes), ""]:
            console.print(line, soft_wrap=True)
        console.print(*body, sep="\n")
        if not found.groundable:
            console.print("Try a remedy with --reward SCHEME or --and FORMULA.")
            console.print("To train: nrm train --reward SCHEME. To label: nrm.fit(..., labelled=...).")
        for line in _listed(found, maps) if self.count else ():
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


def _head(names: tuple[str, ...], found: Found, assumed: str | None) -> list[str]:
    """What is analysed."""
    machine, alphabet = found.machine, found.alphabet
    lines = [f"{'task' if number == 0 else 'and':<10} {name}" for number, name in enumerate(names)]
    lines.append(f"{alphabet.heading:<10} {symbols_of(alphabet)}")
    if assumed is not None:
        lines.append(f"{'rewards':<10} as in the machine file; further tasks: {assumed} (choose with --reward)")
    classes = many(machine.classes, "symbol class", "es")
    return [*lines, f"{'machine':<10} {many(machine.states, 'state')}, {classes}"]


def _as_json(found: Found, potential: PotentialRepair | None) -> dict[str, object]:
    classes = _classes(found)
    moved = [[pair for pair in enumerate(one) if pair[0] != pair[1]] for one in found.group.generators]
    data: dict[str, object] = {
        "kind": found.alphabet.kind,
        "states": found.machine.states,
        **_counts(found),
        "generators": [[[classes[number], classes[image]] for number, image in pairs] for pairs in moved],
        "classes": classes,
        "groundable": found.groundable,
        "labels_needed": _labels(found),
        "symbols": {verdict.symbol: _verdict_json(verdict) for verdict in found.verdicts},
    }
    if potential is not None:
        count, left = _counts(potential.left)["count"], _number(potential.left.symmetries)
        data["potential"] = {"reward": potential.scheme, "count": count, "symmetries": left}
    return data | {name: digits(count) for name, count in found.further_counts.items()}


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


def _verdict_json(verdict: SymbolVerdict) -> dict[str, object]:
    most = 200  # symbols that one is confusable with; of more, the first ones and their number
    several = verdict.confusable_count > most
    return {
        "groundable": verdict.groundable,
        "confusable_with": list(islice(verdict.confusions(), most)),
        "by_symmetry": list(islice(chain.from_iterable(verdict.swapped), most)),
        **({"confusable_count": verdict.confusable_count} if several else {}),
        "used": verdict.used,
    }


def _number(value: int) -> int | str:
    """The number, or its digits where a JSON reader would refuse the number."""
    return value if value < 10**4000 else digits(value)


def _table(found: Found) -> Table:
    headings = (found.alphabet.noun, "rewards can teach it", "confusable with")
    symbols, most = found.alphabet.symbols, 40
    if len(symbols) <= most or not found.alphabet.is_listable:
        return table(headings, [(v.symbol, "yes" if v.groundable else "no", confusions(v)) for v in found.verdicts])
    # One row for each class stands for all its letters: their verdicts differ in nothing but the name.
    rows = []
    for letters in found.members[:most]:
        one = replace(found.verdict(symbols[letters[0]]), alike=())
        alike = f"each other ({len(letters):,} treated alike)" if len(letters) > 1 else ""
        others = confusions(one) if one.swapped else ""
        taught = "yes" if one.groundable else "no"
        names = listing([symbols[letter] for letter in letters], 6)
        rows.append((names, taught, "; ".join(filter(None, (alike, others)))))
    if (hidden := len(found.members) - most) > 0:
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
