"""The rows of a recorded episode that every world has."""

from __future__ import annotations

import numpy as np

from nrm.agents.evaluation import Played
from nrm.aliases import Json
from nrm.machines import MooreMachine

SEED = 12345
"""Of the episodes, and of the layout where one is drawn; as in `nrm watch`."""
MOST_STATES = 12
"""States whose share of the belief is kept at a step, the likeliest first."""


def step_row(shown: Played, tracks_states: bool) -> Json:
    """Action, letter read, reward, state reached, belief."""
    action = shown.action[0]
    row: Json = {
        "action": int(action) if action.dim() == 0 else ", ".join(f"{part:.3g}" for part in action.tolist()),
        "letter": int(shown.label[0]),
        "reward": round(float(shown.batch.reward[0]), 3),
        "state": int(shown.state[0]),
    }
    if tracks_states:
        belief = shown.memory[0].numpy()
        likely = np.argsort(-belief, kind="stable")[:MOST_STATES]
        row["belief"] = [
            [int(state), round(float(belief[state]), 3)] for state in likely.tolist() if belief[state] >= 5e-4
        ]
    return row


def end_of(shown: Played, machine: MooreMachine) -> str:
    """How an episode ended with a step: success, failure or limit; cut where it goes on."""
    if bool(shown.batch.terminated[0]):
        return "success" if bool(machine.accepting[int(shown.state[0])]) else "failure"
    return "limit" if bool(shown.batch.truncated[0]) else "cut"
