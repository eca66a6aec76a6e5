"""`nrm check`: whether a trace satisfies a task."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from nrm.cli.options import MachineOptions, UsageError
from nrm.cli.terminal import plain_console, table
from nrm.errors import TraceError
from nrm.machines import MooreMachine, Run


@dataclass(frozen=True)
class Check(MachineOptions):
    """Follow a task's machine along a trace. Exit status 0: satisfied, 1: not satisfied."""

    trace: str | None = None
    """The steps, separated by commas: a,c,b. For propositions: a&b,-,c or {a,b},{},{c}; - means that nothing holds."""
    json: bool = False
    """Print JSON instead of a table."""

    def run(self) -> int:
        """Print the states and rewards along the trace."""
        if self.trace is None:
            raise UsageError("no trace is given; add --trace with steps separated by commas, such as --trace a,c,b")
        source = self.source()
        machine = source.machine
        steps = machine.alphabet.read_trace(self.trace)
        if not steps:
            raise TraceError("the trace is empty; tasks speak of traces with at least one step")
        run = machine.run(steps)
        rewards = run.outputs[1:] if source.paid else run.rewards
        letters = machine.alphabet.encode(steps)
        if self.json:
            found = {
                "satisfied": run.accepted,
                "trace": [machine.alphabet.letter_name(letter) for letter in letters],
                "states": run.states,
                "outputs": run.outputs,
                "rewards": rewards,
            }
            print(json.dumps(found))
        else:
            _print_table(machine, letters, run, rewards)
        return 0 if run.accepted else 1


def _print_table(machine: MooreMachine, letters: list[int], run: Run, rewards: Sequence[float]) -> None:
    rows = [("0", "", str(run.states[0]), f"{run.outputs[0]:g}", "")]
    steps = zip(letters, run.states[1:], run.outputs[1:], rewards, strict=True)
    for number, (letter, state, level, reward) in enumerate(steps, 1):
        note = " (failed)" if machine.dead[state] else " (accepting)" if machine.accepting[state] else ""
        name = machine.alphabet.letter_name(letter)
        rows.append((str(number), name, f"{state}{note}", f"{level:g}", f"{reward:+g}"))
    headings = ("step", "reads", "state", "level", "reward")
    plain_console().print(table(headings, rows, numbers=("step", "state", "level", "reward")))
    print(f"{'satisfied' if run.accepted else 'not satisfied'}; sum of rewards {sum(rewards):g}")
