"""Ready tasks: what to ask for in environments that others wrote."""

from __future__ import annotations

from dataclasses import dataclass

from nrm.aliases import Symbol
from nrm.envs.minigrid.labels import EMPTY, GridLabels
from nrm.errors import EnvError, listing
from nrm.logic import is_paper_task, read_formula
from nrm.machines import Alphabet, Task

ACTIONS = ("left", "right", "forward", "pickup", "drop", "toggle", "done")
"""MiniGrid's actions, by number."""
MOVES = ACTIONS[:3]
HANDS = ACTIONS[:6]


@dataclass(frozen=True)
class ReadyTask:
    """A task for the environments whose id begins alike."""

    family: str
    """How their ids begin."""
    formula: str
    alphabet: Alphabet
    actions: tuple[str, ...]
    """The actions that matter."""


READY_TASKS = (
    # Whoever stands on the goal stands on no lava: one symbol at a time.
    ReadyTask(
        "MiniGrid-LavaGap",
        "F goal & G !lava",
        Alphabet.exclusive(("goal", "lava", EMPTY)),
        MOVES,
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
    # What was seen at the start tells which end of the hallway is right; MiniGrid ends the episode at either.
    ReadyTask("MiniGrid-Memory", "F match & G !mismatch", Alphabet.exclusive(("match", "mismatch", EMPTY)), MOVES),
    # One thing is carried at a time: the key has to be dropped for the ball.
    ReadyTask("MiniGrid-KeyCorridor", "F(key & F ball)", Alphabet.exclusive(("key", "ball", EMPTY)), HANDS),
    ReadyTask(
        "MiniGrid-ObstructedMaze", "F(key & F blue_ball)", Alphabet.exclusive(("key", "blue_ball", EMPTY)), HANDS
    ),
    *(
        ReadyTask(
            f"MiniGrid-{name}", "F(key & X F(door & X F box))", Alphabet.propositional(("key", "door", "box")), HANDS
        )
        for name in ("UnlockPickup", "BlockedUnlockPickup")
    ),
    ReadyTask(
        "MiniGrid-Unlock-",
        "F(key & X F door)",
        Alphabet.propositional(("key", "door")),
        ("left", "right", "forward", "pickup", "toggle"),
    ),
    *(
        ReadyTask(f"MiniGrid-{name}", "F goal", Alphabet.exclusive(("goal", EMPTY)), MOVES)
        for name in ("FourRooms", "Empty", "SimpleCrossing")
    ),
    ReadyTask("MiniGrid-LavaCrossing", "F goal & G !lava", Alphabet.exclusive(("goal", "lava", EMPTY)), MOVES),
)

PROPOSITIONS_IN_SHORT = "goal, lava (stood on), door (open), key, ball, box (carried), red_door, …"


def ready_task(name: str) -> ReadyTask | None:
    """The ready task for an environment's id."""
    return next((ready for ready in READY_TASKS if name.startswith(ready.family)), None)


def minigrid_alphabet(name: str, atoms: tuple[Symbol, ...] = ()) -> Alphabet:
    """What a task on the environment speaks of: the ready task's alphabet if it will do, else a formula's own."""
    ready = ready_task(name)
    if ready is not None and set(atoms) <= set(ready.alphabet.symbols):
        return ready.alphabet
    GridLabels(atoms)
    return Alphabet.propositional(atoms)


def minigrid_task(name: str, formula: str | None = None) -> Task:
    """A task on the environment of that id: a formula over what can hold there, or the ready one."""
    ready = ready_task(name)
    if formula is None:
        if ready is None:
            raise EnvError(
                f"there is no ready task for {name}, only for {listing(r.family + '…' for r in READY_TASKS)}: give a "
                f"formula, such as 'F goal' (propositions: {PROPOSITIONS_IN_SHORT})"
            )
        formula = ready.formula
    if is_paper_task(formula):
        symbols = listing(ready.alphabet.symbols) if ready is not None else PROPOSITIONS_IN_SHORT
        raise EnvError(
            f"'{formula}' is a task of the paper's map and image; on {name} give a formula over {symbols}"
            + ("" if ready is None else f", such as the ready one, '{ready.formula}'")
        )
    parsed, logic = read_formula(formula)
    return Task(parsed, minigrid_alphabet(name, tuple(parsed.atoms())), name=formula, logic=logic)
