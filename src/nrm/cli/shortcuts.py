"""`nrm shortcuts`: what rewards can and cannot teach about the symbols of a task."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Annotated

import tyro

from nrm.automata import MAX_LISTED
from nrm.cli.arguments import HiddenSettings, check_family, chosen_family
from nrm.cli.options import MachineOptions, UsageError
from nrm.cli.shortcuts_report import Findings, as_json, print_report
from nrm.cli.tasks import TRY_PROPOSITIONS, alone_note, draw_family, family_json, verdict
from nrm.errors import UnknownSymbolError, listing
from nrm.logic import inherited_logic
from nrm.machines import MooreMachine, RewardScheme, compile_formula
from nrm.shortcuts import breaking_potential, digits, shortcuts, task_set_shortcuts

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
