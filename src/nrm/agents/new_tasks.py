"""Whether an agent can be given a task that it was never trained on."""

from __future__ import annotations

import warnings

from nrm.agents.training import Trainer
from nrm.errors import ConfigError, LimitError, NrmWarning, listing
from nrm.machines import MooreMachine, TaskSet, not_asked
from nrm.shortcuts import task_set_shortcuts

MAX_STATES = 5000
"""States of a machine past which a belief over them, at every step of many environments, takes too long."""


def check_new_tasks(trainer: Trainer, tasks: TaskSet) -> None:
    """Raise where a task asks for nothing, or for the impossible, or is too large to be followed.

    Warn where a task tells symbols apart that no task in training did, so that a grounder cannot have learned them.
    """
    for name, machine in zip(tasks.names, tasks.machines, strict=True):
        if what := not_asked(machine):
            raise ConfigError(f"the task {name} {what}; there is nothing to execute")
        if machine.states > MAX_STATES:
            raise LimitError(
                f"the machine of the task {name} has {machine.states:,} states, more than the {MAX_STATES:,} that are "
                "followed at every step; ask for less at once"
            )
    if trainer.model is None or trainer.tasks is None:
        return
    known = set(trainer.tasks.machines)
    new = [machine for machine in tasks.machines if machine not in known]
    for names in task_set_shortcuts(trainer.tasks).confusable if new else ():
        told = sum(_tells_apart(machine, names) for machine in new)
        if told:
            which = "the task tells" if len(tasks) == 1 else f"{told} of {len(tasks)} tasks tell"
            warnings.warn(
                f"{which} {listing(names)} apart, which no task in training did: the agent may confuse them",
                NrmWarning,
                stacklevel=3,
            )


def _tells_apart(machine: MooreMachine, names: tuple[str, ...]) -> bool:
    """Whether letters of these names move a machine differently."""
    alphabet = machine.alphabet
    return len({machine.letter_class[alphabet.letter(alphabet.read_step(name))] for name in names}) > 1
