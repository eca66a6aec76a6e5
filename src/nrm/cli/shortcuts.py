"""`nrm shortcuts`: what rewards can and cannot teach about the symbols of a task."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from typing import Annotated

import tyro
from rich.table import Table

from nrm.automata import MAX_LISTED
from nrm.cli.arguments import HiddenSettings, check_family, chosen_family
from nrm.cli.options import MachineOptions, UsageError
from nrm.cli.tasks import TRY_PROPOSITIONS, alone_note, draw_family, family_json, verdict
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
    task_set_shortcuts,
)
from nrm.shortcuts import Shortcuts as Found

MAX_ROWS = 40
"""Symbols up to which each gets a row of its own; past that, rows are letter classes."""
MAX_NAMES = 200
"""Symbols up to which JSON lists all that one is confusable with; past that, the first ones and their number."""
MAX_DIGITS = 4000
"""Digits up to which a JSON number is written as a number: many readers refuse longer ones."""


@dataclass(frozen=True)
class Findings:
    """What is to be said."""

    names: tuple[str, ...]
    """The tasks, as they were given."""
    machine: MooreMachine
    """The minimal machine of all tasks together; with a horizon, `found` has another one, unrolled over time."""
    found: Found
    horizon: int | None
    potential: PotentialRepair | None
    """What a potential that breaks symmetries leaves; None when there is nothing to break."""
    listed: int
    """How many maps to list."""
    assumed: str | None = None
    """The reward scheme of the further tasks, where the first one's is unknown."""

    @cached_property
    def maps(self) -> list[dict[str, str]]:
        """The maps to list."""
        return list(islice(self.found.maps(), self.listed))


def as_json(report: Findings) -> str:
    """The report as JSON, a line per key and per symbol."""
    found = report.found
    data: dict[str, object] = {
        "tasks": list(report.names),
        "kind": found.alphabet.kind,
        "horizon": report.horizon,
        "states": report.machine.states,
        **_counts(found),
        "generators": [_moved(found, symmetry.classes) for symmetry in found.generators],
        "classes": _classes(found),
        "groundable": found.groundable,
        "labels_needed": _labels(found),
    }
    if report.potential is not None:
        left = report.potential.left
        data["potential"] = {
            "reward": report.potential.scheme,
            "count": _counts(left)["count"],
            "symmetries": _number(left.symmetries),
        }
    if found.alphabet.is_free:
        data["renamings"] = digits(found.renamings.count)
    if report.assumed is not None:
        data["further_reward"] = report.assumed
    if report.listed:
        data["maps"] = report.maps
    lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in data.items()]
    rows = [f"    {json.dumps(v.symbol, ensure_ascii=False)}: {_verdict_json(v, found)}" for v in found.verdicts]
    lines.append('  "symbols": {\n' + ",\n".join(rows) + "\n  }")
    return "{\n" + ",\n".join(lines) + "\n}"


def _counts(found: Found) -> dict[str, object]:
    """How many shortcuts there are: exactly, or to thirty digits where the number is too long to be worked out."""
    try:
        return {
            "count": digits(found.count),
            "symmetries": _number(found.symmetries),
            "class_internal": _number(found.class_internal),
            "by_symmetry": _number(found.by_symmetry),
        }
    except LimitError:
        internal = found.rough.class_internal
        return {
            "count": f"{found.rough.every:.29e}",
            "symmetries": _number(found.symmetries),
            "class_internal": f"{internal:.29e}",
            "by_symmetry": f"{found.rough.by_symmetry:.29e}" if found.symmetries > 1 else 0,
            "class_sizes": [_number(size) for size in found.class_sizes],
        }


def _classes(found: Found) -> list[object]:
    """The letters of each class; where they are too many to list, a guard that holds at exactly these."""
    return [list(letters) for letters in found.classes] if found.alphabet.is_listable else list(found.class_texts)


def print_report(report: Findings) -> None:
    """The report for people; it stays short for a thousand symbols."""
    console = plain_console()
    found, horizon = report.found, report.horizon
    strings = "every string" if horizon is None else f"strings up to length {horizon}"
    # All is worked out before anything is printed: an error leaves nothing behind on standard output.
    head, maps = _head(report), report.maps
    body = [*findings(found, strings), _table(found), *remedies(found, report.potential)]
    for line in [*head, ""]:
        console.print(line, soft_wrap=True)
    console.print(*body, sep="\n")
    if not found.groundable and horizon is None:
        console.print("Try it with --reward SCHEME, or --and FORMULA.")
    if report.listed:
        console.print()
        for number, mapping in enumerate(maps, 1):
            console.print(f"{number:>5}  {_map_text(mapping)}", soft_wrap=True)
        with rough_numbers():
            left = found.rough.every - len(maps)
        if left:
            console.print(f"       … and {amount(left)} more", soft_wrap=True)


def _head(report: Findings) -> list[str]:
    found = report.found
    exclusive = found.alphabet.is_exclusive
    lines = [f"{'task' if number == 0 else 'and':<10} {name}" for number, name in enumerate(report.names)]
    letters = amount_of_letters(found.alphabet)
    kind = "exactly one holds at each step" if exclusive else f"any may hold at a step: {letters} letters"
    lines.append(f"{'symbols' if exclusive else 'props':<10} {listing(found.alphabet.symbols)}  ({kind})")
    if report.assumed is not None:
        lines.append(f"{'rewards':<10} as in the machine file; further tasks: {report.assumed} (choose with --reward)")
    machine = report.machine
    lines.append(f"{'machine':<10} {many(machine.states, 'state')}, {many(machine.classes, 'letter class', 'es')}")
    if report.horizon is not None:
        told = found.machine.classes
        fewer = f", which tell {many(told, 'letter class', 'es')} apart" if told < machine.classes else ""
        lines.append(f"{'horizon':<10} strings up to length {report.horizon}{fewer}")
    return lines


def _table(found: Found) -> Table:
    headings = ("symbol", "rewards can teach it", "confusable with")
    symbols = found.alphabet.symbols
    if len(symbols) <= MAX_ROWS or found.alphabet.is_free:
        return table(headings, [(v.symbol, "yes" if v.groundable else "no", confusions(v)) for v in found.verdicts])
    # One row for each class stands for all its letters: their verdicts differ in nothing but the name.
    rows = []
    for letters in found.members[:MAX_ROWS]:
        verdict = found.verdict(symbols[letters[0]])
        names = [symbols[letter] for letter in letters]
        one = replace(verdict, alike=())
        alike = f"each other ({len(names):,} treated alike)" if len(names) > 1 else ""
        others = confusions(one) if one.swapped else ""
        taught = "yes" if verdict.groundable else "no"
        rows.append((listing(names, 6), taught, "; ".join(filter(None, (alike, others)))))
    hidden = len(found.members) - MAX_ROWS
    if hidden > 0:
        rows.append((f"… {hidden:,} more classes", "", "see --json"))
    return table(headings, rows)


def _labels(found: Found) -> list[str] | None:
    """The symbols to label; None when finding a smallest set takes too long."""
    try:
        return list(found.labels_needed)
    except LimitError:
        return None


def _map_text(mapping: dict[str, str]) -> str:
    moved = [f"{name}→{image}" for name, image in mapping.items() if name != image]
    return listing(moved) if moved else "identity"


def _moved(found: Found, images: Sequence[int]) -> list[list[object]]:
    """The classes that a symmetry moves, each with its image."""
    pairs = [(number, image) for number, image in enumerate(images) if number != image]
    classes = _classes(found)
    return [[classes[number], classes[image]] for number, image in pairs]


def _verdict_json(verdict: SymbolVerdict, found: Found) -> str:
    data: dict[str, object] = {
        "groundable": verdict.groundable,
        "confusable_with": list(islice(verdict.confusions(), MAX_NAMES)),
        "by_symmetry": list(islice(chain.from_iterable(verdict.swapped), MAX_NAMES)),
    }
    if verdict.confusable_count > MAX_NAMES:
        data["confusable_count"] = verdict.confusable_count
    if found.alphabet.is_free:
        data["used"] = verdict.used
    return json.dumps(data, ensure_ascii=False)


def _number(value: int) -> int | str:
    """The number, or its digits where a JSON reader would refuse the number."""
    return value if value < 10**MAX_DIGITS else digits(value)


DEFAULT_SCHEME = "distance"
"""The scheme of further tasks when the first one's is unknown."""


@dataclass(frozen=True)
class Shortcuts(MachineOptions):
    """Count and list the groundings that no reward can tell from the true one, and say what to do about them."""

    also: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(name="and", metavar="FORMULA")] = ()
    """A further task over the same symbols, with the same grounder and reward scheme. Can be given several times."""
    family: str | None = None
    """What the tasks of a family can teach together, instead of one task: a name, file:PATH, or module:name. Its
    settings are options: --family reach --family.max-steps 5."""
    count: int = 200
    """How many tasks of the family to look at."""
    seed: int = 0
    """The seed from which these are drawn."""
    horizon: int | None = None
    """Look at strings up to this length only."""
    listed: Annotated[int, tyro.conf.arg(name="list", metavar="N")] = 0
    """Also list the first N maps."""
    json: bool = False
    """Print JSON instead of a report."""
    settings: HiddenSettings = field(default_factory=dict)

    def run(self) -> int:
        """Analyse, then print."""
        if self.listed < 0:
            raise UsageError(f"--list takes a number of maps, not {self.listed}")
        check_family(self.family, self.settings)
        if self.family is not None:
            return self._of_family(self.family)
        source = self.source()
        first, scheme = source.machine, source.scheme
        if self.listed and not first.alphabet.is_listable:
            raise UsageError(
                f"--list: maps between the letters of {len(first.alphabet.symbols)} propositions are too long to be "
                f"listed (the limit is {MAX_LISTED} propositions); drop --list"
            )
        machines = [first, *(self._further(formula, first, scheme) for formula in self.also)]
        whole = shortcuts(machines)
        found = whole if self.horizon is None else whole.within(self.horizon)
        potential = None if self.horizon is not None or found.symmetries == 1 else breaking_potential(found)
        assumed = DEFAULT_SCHEME if self.also and scheme is None else None
        report = Findings(
            (source.title, *self.also), whole.machine, found, self.horizon, potential, self.listed, assumed
        )
        if self.json:
            print(as_json(report))
        else:
            print_report(report)
        return 0

    def _of_family(self, family: str) -> int:
        """What many tasks teach together."""
        allowed = type(self)(
            family=family,
            count=self.count,
            seed=self.seed,
            symbols=self.symbols,
            propositions=self.propositions,
            json=self.json,
            settings=self.settings,
        )
        if self != allowed:
            raise UsageError("--family goes with --count, --seed, --symbols or --propositions and --json only")
        chosen = chosen_family(family, self.settings)
        pool = draw_family(chosen, self.count, self.seed, self.symbols, self.propositions)
        found = task_set_shortcuts(pool)
        if self.json:
            data = {"family": family, "tasks": len(pool), "count": digits(found.count), **family_json(found)}
            print(json.dumps(data, indent=2))
            return 0
        tasks = "1 task" if len(pool) == 1 else f"{len(pool):,} tasks"
        print(f"{tasks} of the family {family} over {listing(pool.alphabet.symbols)}")
        print(verdict(found))
        if note := alone_note(chosen, pool.alphabet):
            print(f"{note}. {TRY_PROPOSITIONS}")
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
