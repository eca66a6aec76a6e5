"""`nrm shortcuts`: what rewards can and cannot teach about the symbols of a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import tyro

from nrm.cli.options import TaskOptions, UsageError, reward_from_text
from nrm.cli.shortcuts_report import Report, as_json, print_report
from nrm.errors import UnknownSymbolError
from nrm.groundability import breaking_potential, shortcuts
from nrm.machines import MooreMachine, RewardScheme, compile_formula, load_machine, with_rewards

DEFAULT_SCHEME = "distance"
"""The scheme of further tasks when the first one's is unknown."""


@dataclass(frozen=True)
class Shortcuts(TaskOptions):
    """Count and list the groundings that no reward can tell from the true one, and say what to do about them."""

    machine: str | None = None
    """A machine file (JSON, as 'nrm compile' writes it) instead of a formula."""
    also: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(name="and", metavar="FORMULA")] = ()
    """A further task over the same symbols, with the same grounder and reward scheme. Can be given several times."""
    horizon: int | None = None
    """Look at strings up to this length only."""
    listed: Annotated[int, tyro.conf.arg(name="list", metavar="N")] = 0
    """Also list the first N maps."""
    json: bool = False
    """Print JSON instead of a report."""

    def run(self) -> int:
        """Analyse, then print."""
        if self.listed < 0:
            raise UsageError(f"--list takes a number of maps, not {self.listed}")
        if self.horizon is not None and self.horizon < 0:
            raise UsageError(f"--horizon takes a number of steps, not {self.horizon}")
        name, first, scheme = self._first()
        machines = [first, *(self._further(formula, first, scheme) for formula in self.also)]
        whole = shortcuts(machines)
        found = whole if self.horizon is None else whole.within(self.horizon)
        potential = None if self.horizon is not None or found.symmetries == 1 else breaking_potential(found)
        assumed = DEFAULT_SCHEME if self.also and scheme is None else None
        report = Report((name, *self.also), whole.machine, found, self.horizon, potential, self.listed, assumed)
        if self.json:
            print(as_json(report))
        else:
            print_report(report)
        return 0

    def _first(self) -> tuple[str, MooreMachine, RewardScheme | None]:
        """The first task's name, machine and reward scheme (None: a machine file does not tell it)."""
        if self.machine is None:
            task = self.resolve()
            return str(task.formula), task.machine(self.limits), task.reward
        clash = [name for name in ("formula", "task", "file", "symbols", "propositions") if getattr(self, name)]
        if clash:
            raise UsageError(f"a machine file says everything itself; drop {' and '.join(clash)}, or drop --machine")
        machine = load_machine(self.machine)
        if self.reward is None:
            return self.machine, machine, None
        scheme = reward_from_text(self.reward)
        return self.machine, with_rewards(machine, scheme), scheme

    def _further(self, formula: str, first: MooreMachine, scheme: RewardScheme | None) -> MooreMachine:
        """The machine of a task after the first, with the first one's scheme."""
        scheme = DEFAULT_SCHEME if scheme is None else scheme
        if not isinstance(scheme, str):
            raise UsageError("levels given as numbers fit one machine; with --and, name a reward scheme (--reward)")
        try:
            return compile_formula(formula, first.alphabet, reward=scheme, limits=self.limits)
        except UnknownSymbolError as error:
            raise UnknownSymbolError(f"--and '{formula}': {error}; all tasks share the symbols of the first") from None
