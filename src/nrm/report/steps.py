"""The rows of a recorded episode that every environment has."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from nrm.agents import Played
from nrm.aliases import Json
from nrm.machines import MooreMachine

SEED = 12345
"""Of the episodes, and of the layout where one is drawn; as in `nrm watch`."""
MAX_STATES = 12
"""States whose share of the belief is kept at a step, the likeliest first."""
MAX_LETTERS = 6
"""Letters whose share of what is read is kept at a step, the likeliest first."""
LEAST_SHARE = 5e-4
"""Of a belief that is kept."""


def step_row(shown: Played) -> Json:
    """Action, letter, reward, state reached, belief over states; what is read, and the state of a learned machine."""
    action = shown.action[0]
    row: Json = {
        "action": int(action) if action.dim() == 0 else ", ".join(f"{part:.3g}" for part in action.tolist()),
        "letter": int(shown.label[0]),
        "reward": round(float(shown.batch.reward[0]), 3),
        "state": int(shown.state[0]),
    }
    if shown.belief is not None:
        row["belief"] = _likely(shown.belief[0], MAX_STATES)
    if shown.learned is not None:
        row["learned"] = _likely(shown.learned[0], MAX_STATES)
    if shown.said is not None:
        row["read"] = _likely(shown.said[0], MAX_LETTERS)
    return row


def _likely(belief: Tensor, most: int) -> list[list[float]]:
    """The likeliest places of a distribution with their shares."""
    shares = belief.numpy()
    order = np.argsort(-shares, kind="stable")[:most].tolist()
    return [[place, round(float(shares[place]), 3)] for place in order if shares[place] >= LEAST_SHARE]


def end_of(shown: Played, machine: MooreMachine) -> str:
    """How an episode ended with a step: success, failure or limit; cut where it goes on."""
    if bool(shown.batch.terminated[0]):
        return "success" if bool(machine.accepting[int(shown.state[0])]) else "failure"
    return "limit" if bool(shown.batch.truncated[0]) else "cut"
