"""Nothing but the rewards: an environment that lies about labels and states changes nothing.

Every registered environment has its case: with one task and, where it takes many, with its own settings and with tasks
chosen by success.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from nrm.agents import Trainer
from nrm.envs import ENVS, BatchedEnv, Probe, Truth, find_env
from nrm.runs import choose_run

EXAMPLES = {"minigrid:ID": "minigrid:MiniGrid-LavaGapS5-v0", "gym:ID": "tests.envs.own:Speaking"}
"""An environment for each name that stands for many."""
NAMES = [EXAMPLES.get(name, name) for kind in ENVS.values() for name in kind.env_names]
MANY = [name for name in NAMES if find_env(name).task_space() is not None]
CASES = [("one task", name) for name in NAMES] + [("as shipped", name) for name in MANY]
TASKS = {"tests.envs.own:Speaking": "F(mail & F desk)"}
"""Where neither the environment has one of its own nor the registry says what tasks speak of."""

SHORT = {name: {"env": {"steps": 30}} for name in ("zones", "office", "water")}
"""Settings of environments whose episodes are long."""


def lie(env: BatchedEnv) -> None:
    """Let an environment name other labels, and call every state an accepting one."""
    honest: Any = type(env)
    letters, accepting = env.machine.alphabet.size, int(np.flatnonzero(env.machine.accepting)[0])

    def other(label: Any) -> Any:
        return None if label is None else (label + 1) % letters

    def truth(self: Any) -> Truth:
        label, state, final = honest.truth.__get__(self)
        return Truth(other(label), torch.full_like(state, accepting), torch.full_like(final, accepting))

    def probe(self: Any, *request: int) -> Probe | None:
        found: Probe | None = honest.probe(self, *request)
        return None if found is None else found._replace(letters=other(found.letters))

    lies: dict[str, Any] = {"truth": property(truth), "probe": probe}
    env.__class__ = type("Liar", (honest,), lies)


def prepared(case: str, name: str) -> Trainer:
    """A short run of NRM at its beginning."""
    space = find_env(name).task_space()
    settings: dict[str, dict[str, Any]] = {"grounding": {"every": 5, "epochs": 5, "restarts": 1}, **SHORT.get(name, {})}
    options: dict[str, Any] = {"num_envs": 4, "total_timesteps": 450, "settings": settings}
    if case == "one task":
        events = [] if space is None else [event.brief() for event in space.events]
        task = f"F({events[0]} & F {events[1]})" if events else TASKS.get(name)
        return choose_run(task, name, "nrm", 3, **options).build_trainer()
    settings["tasks"] = {"count": 12}
    return choose_run(None, name, "nrm", 3, tasks="mixture", **options).build_trainer()


@pytest.mark.parametrize(("case", "name"), CASES)
def test_lies_about_labels_and_states_change_nothing(case: str, name: str) -> None:
    honest, lying = prepared(case, name), prepared(case, name)
    lie(lying.env)
    assert honest.run().successes != lying.run().successes  # which the log takes from the state
    assert honest.history.returns == lying.history.returns
    assert honest.history.decisions == lying.history.decisions
    parameters = (made.learner.actor.parameters for made in (honest, lying))  # type: ignore[attr-defined]
    assert all(torch.equal(one, other) for one, other in zip(*parameters, strict=True))
