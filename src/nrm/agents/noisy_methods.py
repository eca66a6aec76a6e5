"""Methods for labelling functions that are sometimes wrong (Li et al., 2024).

Two follow the task's machine by what a given detector says, as it says it. The third leaves the machine aside: a
recurrent network predicts its state. `nrm` corrects the detector from rewards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from nrm.agents.machine_methods import FROZEN, NRM, grounder_on
from nrm.agents.methods import METHODS, Method, Prepared
from nrm.envs import BatchedEnv
from nrm.errors import ConfigError
from nrm.inference import Episode
from nrm.machines import Alphabet, MooreMachine, TaskSet
from nrm.neural import FitConfig, NeuralRewardMachine
from nrm.settings import EverySetting
from nrm.tracking import Belief, BeliefMemory, Grounding, GroundingConfig, RecordedEpisode, Report, Transition


def _prepare_given(belief: Belief, env: BatchedEnv, settings: None, features: int, seed: int) -> Prepared:  # noqa: ARG001
    return FROZEN.prepare(env, GroundingConfig(grounder="detector", belief=belief), features, seed)


NAIVE = METHODS.register(
    replace(
        NRM,
        name="naive",
        label="naive",
        knows="is given the task and a detector; takes the most probable symbol for certain",
        prepare=partial(_prepare_given, "argmax"),
        config=None,
        section="",
        colour="#999999",
        dark="#bdbdbd",
        dash=(2, 2),
        marker="<",
        unknown="",
    )
)
INDEPENDENT = METHODS.register(
    replace(
        NAIVE,
        name="independent-belief",
        label="independent belief",
        knows="is given the task and a detector; updates a belief as if its errors were independent",
        prepare=partial(_prepare_given, "open-loop"),
        colour="#e69f00",
        dark="#ffc04d",
        dash=(6, 2),
        marker=">",
    )
)


@dataclass(frozen=True)
class PredictionConfig(EverySetting):
    """How a recurrent network learns to predict the machine's state."""

    section = "prediction."

    source: Literal["states", "rewards"] = "states"
    """What it learns from: the true states of training episodes, or their rewards alone."""


def state_machine(task: MooreMachine, source: str) -> MooreMachine:
    """A machine whose letters are the states of a task: each leads to its state from anywhere.

    Its outputs tell a learner of rewards the potentials of the states, and a learner of states their numbers.
    """
    states = np.arange(task.states)
    outputs = task.outputs if source == "rewards" else states.astype(np.float64)
    names = Alphabet.exclusive(f"q{state}" for state in states)
    return MooreMachine.from_table(names, np.tile(states, (task.states, 1)), task.accepting, outputs, task.initial)


class PredictedStates(BeliefMemory):
    """The states that a recurrent grounder names; rewards are not read."""

    def report(self, carry: Tensor, seen: Transition, reached: Tensor) -> Report:  # noqa: ARG002
        """The states alone: no symbols are named."""
        return Report(states=self.states(reached))

    def on(self, frames: Tensor | None, tasks: TaskSet, belief: Belief | None = None) -> PredictedStates:  # noqa: ARG002
        return PredictedStates(self.model, frames, "open-loop")


class StateLearning(Grounding):
    """Updates of a network that names states."""

    true_states: MooreMachine | None = None
    """The task, if its states are learned from; None if rewards are."""

    def _numbered(self, episode: RecordedEpisode) -> Episode:
        if self.true_states is None:
            return super()._numbered(episode)
        task, state, states = self.true_states, self.true_states.initial, []
        for letter in [] if episode.letters is None else episode.letters.tolist():
            state = task.next_state(state, letter)
            states.append(state)
        return Episode(self._table.record(episode.observations), np.array(states), None, episode.task)

    def labelled(self) -> None:
        """None: no symbols are named."""


def _refused(env: BatchedEnv, settings: PredictionConfig, seed: int) -> Prepared:  # noqa: ARG001
    raise ConfigError("states of one task can be predicted, not of many (--tasks); name one with --task")


def _predicting(env: BatchedEnv, settings: PredictionConfig, seed: int) -> Prepared:
    from_states = settings.source == "states"
    machine = state_machine(env.machine, settings.source)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed + 1)
        model = NeuralRewardMachine(grounder_on(env, "recurrent", machine.states), machine).eval()
    model.to(env.device)
    memory = PredictedStates(model, env.frames, "open-loop")
    # One attempt an update, from what was learned before: restarts would forget it.
    fit = FitConfig(objective="regularised", epochs=10, restarts=1, learning_rate=0.003, seed=seed)
    config = GroundingConfig(every=settings.every, keep=3 * settings.every, belief="open-loop")
    blank, withheld = torch.empty(0, *env.shape, dtype=env.dtype), None if from_states else env.withheld
    learning = StateLearning(model, memory, config, fit, env.frames, blank, withheld)
    learning.true_states = env.machine if from_states else None
    return Prepared(memory, learning)


def _prepare_prediction(env: BatchedEnv, settings: PredictionConfig, features: int, seed: int) -> Prepared:  # noqa: ARG001
    return env.tasks.either(_predicting, _refused)(env, settings, seed)


PREDICTION = METHODS.register(
    Method(
        name="state-prediction",
        label="state prediction",
        knows="is given the task; predicts its state with a recurrent network",
        prepare=_prepare_prediction,
        config=PredictionConfig,
        section="prediction",
        colour="#882255",
        dark="#d46a9f",
        dash=(3, 1),
        marker="p",
        tracks_states=True,
    )
)
