"""Task sets: so many different tasks of a sampler."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from nrm.automata import Limits
from nrm.errors import ConfigError, LimitError, NrmError, NrmWarning
from nrm.logic import Formula, atom, named_formula
from nrm.machines import (
    Alphabet,
    MachineLike,
    MooreMachine,
    RewardScheme,
    Task,
    TaskSet,
    as_machine,
    not_asked,
)
from nrm.samplers.registry import Listed, Sampler, sampler_of
from nrm.settings import Count, StatesSetting
from nrm.shortcuts import Copies

IDLE = "empty"
"""The symbol that, in exclusive alphabets, says that nothing holds: nobody is sent there."""
MAX_STATES = 64
"""States of a machine past which a drawn task is left out: it is longer than an episode."""
HeldOut = Callable[[Task, MooreMachine], bool]
"""Whether a task, with its machine, is kept for a test."""


@dataclass(frozen=True)
class TaskSetConfig(StatesSetting):
    """The training tasks."""

    section = "tasks."
    usual: ClassVar = {"max_states": 30}

    count: Count = 3000
    """Number of different tasks; fewer if the sampler has fewer."""
    held_out: tuple[str, ...] = ()
    """Formulas, or numbers of paper tasks, that are kept for testing. No training task is equivalent to one."""
    up_to_renaming: bool = False
    """Also hold out tasks that become equivalent to one when symbols are exchanged."""
    training_horizon: Count | None = None
    """Steps after which training truncates an episode. Tests use the limit of the environment, which is the default."""


def events_of(alphabet: Alphabet) -> tuple[Formula, ...]:
    """What tasks over an alphabet may speak of: each symbol by itself, but for the one that says `empty`."""
    return tuple(atom(symbol) for symbol in alphabet.symbols if symbol not in alphabet.nothing(IDLE))


def sample_tasks(
    family: Sampler | str,
    alphabet: Alphabet,
    count: int,
    seed: int,
    *,
    events: Sequence[Formula] | None = None,
    reward: RewardScheme = "distance",
    max_states: int = MAX_STATES,
    without: Sequence[MachineLike] = (),
    up_to_renaming: bool = False,
    progress: Callable[[int], None] | None = None,
) -> TaskSet:
    """So many different tasks of a sampler over an alphabet; one that has fewer gives all it has.

    `events`: what tasks speak of; `events_of(alphabet)` when absent. Tasks that ask for nothing or for the impossible
    are left out, and so are those `without`; `up_to_renaming`: and copies of these with permuted symbols.
    """
    chosen = sampler_of(family) if isinstance(family, str) else family
    if count < 1:
        raise ConfigError(f"a pool has at least one task, not {count}")
    known = events_of(alphabet) if events is None else tuple(events)
    if len(known) < chosen.events:
        raise ConfigError(
            f"the sampler '{chosen.name}' speaks of {chosen.events} different events at least; there are {len(known)}"
        )
    held_out = _held_out(without, alphabet, known, up_to_renaming)
    if isinstance(chosen, Listed):
        return _all_listed(chosen, alphabet, reward, held_out)
    generator = np.random.default_rng(seed)
    found: dict[MooreMachine, str] = {}
    idle = 0
    while len(found) < count and idle < 50 + len(found) // 2:  # then it has no more
        idle += 1
        task = Task(chosen.draw(known, generator), alphabet, reward)
        machine = _compiled(task, max_states)
        if machine is None:
            continue
        usual = machine.states <= max_states and machine.distance_to_acceptance[machine.initial] > 0
        if not usual or machine in found or held_out(task, machine):
            continue
        found[machine] = task.formula.brief()
        idle = 0
        if progress is not None:
            progress(len(found))
    if not found:
        raise ConfigError(
            f"the sampler '{chosen.name}' gave no task in {idle} draws that asks for something possible and has at "
            f"most {max_states} states; change its settings, or allow more states"
        )
    return TaskSet(tuple(found), tuple(found.values()))


def _compiled(task: Task, max_states: int) -> MooreMachine | None:
    """The machine of a drawn task; None where it is far too large. What a person might not have meant, we did."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NrmWarning)
        try:
            return task.machine(Limits(states=8 * max_states))
        except LimitError:
            return None


def _held_out(
    tasks: Sequence[MachineLike], alphabet: Alphabet, events: Sequence[Formula], up_to_renaming: bool
) -> HeldOut:
    """The tasks that a test keeps for itself, `up_to_renaming` with their copies."""
    equal = {as_machine(task, alphabet) for task in tasks}
    if not equal or not up_to_renaming:
        return lambda _, machine: machine in equal
    spoken = {name for event in events for name in event.atoms()}
    fixed = [name for name in alphabet.symbols if name not in spoken]
    copies = Copies((_over_all_sets(task, as_machine(task, alphabet)) for task in tasks), fixed)
    return lambda task, machine: machine in equal or _over_all_sets(task, machine) in copies


def _over_all_sets(task: MachineLike, machine: MooreMachine) -> MooreMachine:
    """The machine of a task; where few sets of propositions occur, over all sets: names may be permuted there."""
    if machine.alphabet.occurring is None or isinstance(task, MooreMachine):
        return machine
    every = Alphabet.propositional(machine.alphabet.symbols)
    with warnings.catch_warnings():  # what is odd over all sets may be quite usual over those that occur
        warnings.simplefilter("ignore", NrmWarning)
        return as_machine(replace(task, alphabet=every) if isinstance(task, Task) else task, every)


def _all_listed(listed: Listed, alphabet: Alphabet, reward: RewardScheme, held_out: HeldOut) -> TaskSet:
    """All tasks of a file but those that are kept for a test: nothing is drawn, and nothing is left out silently."""
    tasks = []
    for formula, logic in listed.formulas:
        try:
            task = Task(formula, alphabet, reward, logic=logic)
            machine = task.machine()
        except NrmError as error:
            raise type(error)(f"{listed.path}: the task {named_formula(formula.brief(), logic)}: {error}") from None
        if why := not_asked(machine):
            raise ConfigError(f"{listed.path}: the task {task.title} {why}; take it out")
        if not held_out(task, machine):
            tasks.append(task)
    if not tasks:
        raise ConfigError(f"{listed.path}: all of its tasks are held out, so there is none to learn from")
    return TaskSet.of(tasks)


def alone_note(family: Sampler, alphabet: Alphabet) -> str:
    """That a sampler has lost its meaning over such an alphabet; empty if it has not."""
    lost: str = getattr(family, "alone", "")
    return f"note: where {alphabet.caveat}, {lost}" if lost and alphabet.caveat else ""
