"""Ready tasks: what to ask for in environments that others wrote."""

from __future__ import annotations

from dataclasses import dataclass

from nrm.aliases import Symbol
from nrm.envs.minigrid.labels import EMPTY, GridLabels
from nrm.errors import WorldError, listing
from nrm.logic import is_paper_task, parse
from nrm.machines import Alphabet, Task

ACTIONS = ("left", "right", "forward", "pickup", "drop", "toggle", "done")
"""MiniGrid's actions, by number."""


@dataclass(frozen=True)
class ReadyTask:
    """A task for the environments whose id begins alike."""

    family: str
    """How their ids begin."""
    formula: str
    alphabet: Alphabet
    actions: tuple[str, ...]
    """The actions that MiniGrid's page of the environment does not call unused."""


READY_TASKS = (
    # Whoever stands on the goal stands on no lava: one symbol at a time.
    ReadyTask(
        "MiniGrid-LavaGap",
        "F goal & G !lava",
        Alphabet.exclusive(("goal", "lava", EMPTY)),
        ("left", "right", "forward"),
    ),
    # The key is still in hand when the door is open. One after the other (X F, not F): were key, door and goal at once
    # enough, every state would be one letter from the end, and the distance would say nothing on the way.
    ReadyTask(
        "MiniGrid-DoorKey",
        "F(key & X F(door & X F goal))",
        Alphabet.propositional(("key", "door", "goal")),
        ("left", "right", "forward", "pickup", "toggle"),
    ),
    # The red door first. MiniGrid ends the episode when the blue one opens, whatever the order.
    ReadyTask(
        "MiniGrid-RedBlueDoors",
        "!blue_door U (red_door & X F blue_door)",
        Alphabet.propositional(("red_door", "blue_door")),
        ("left", "right", "forward", "toggle"),
    ),
)


def ready_task(name: str) -> ReadyTask | None:
    """The ready task for an environment's id."""
    return next((ready for ready in READY_TASKS if name.startswith(ready.family)), None)


def minigrid_alphabet(name: str, atoms: tuple[Symbol, ...] = ()) -> Alphabet:
    """What a task on the environment speaks of: the ready task's alphabet, or else the propositions of a formula."""
    ready = ready_task(name)
    if ready is not None:
        return ready.alphabet
    GridLabels(atoms)
    return Alphabet.propositional(atoms)


def minigrid_task(name: str, formula: str | None = None) -> Task:
    """A task on the environment of that id: a formula over what can hold there, or the ready one."""
    ready = ready_task(name)
    if formula is None:
        if ready is None:
            raise WorldError(
                f"there is no ready task for {name}, only for {listing(r.family + '…' for r in READY_TASKS)}: give a "
                "formula, such as 'F goal' (propositions: goal, lava, door, key, ball, box, red_door, …)"
            )
        formula = ready.formula
    if is_paper_task(formula):
        symbols = (
            listing(ready.alphabet.symbols) if ready is not None else "goal, lava, door, key, ball, box, red_door, …"
        )
        raise WorldError(
            f"'{formula}' is a task of the paper's own worlds, map and image; on {name} give a formula over {symbols}"
            + ("" if ready is None else f", such as the ready one, '{ready.formula}'")
        )
    parsed = parse(formula)
    return Task(parsed, minigrid_alphabet(name, tuple(parsed.atoms())), name=formula)
