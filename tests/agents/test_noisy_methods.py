"""Methods for noisy labels: beliefs by hand, detectors that rewards correct, states that are predicted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from numpy.typing import NDArray

import nrm
from nrm.agents import Trainer, evaluate, new_trainer
from nrm.agents.noisy_methods import PredictionConfig, state_machine
from nrm.envs import BatchedTasks, GoldMiningConfig, MinecraftConfig, NoisyLabels, NoisyLabelsEnv, TaskEnv
from nrm.envs import with_noisy_labels as noisy
from nrm.errors import ConfigError, EpisodeError
from nrm.machines import TaskSet
from nrm.neural import EpisodeBuffer, FitConfig, NeuralRewardMachine, fit
from nrm.neural.grounders import DetectorGrounder
from nrm.observations import Parts
from nrm.tracking import GroundingConfig, RecordedEpisode, Transition

GRID = MinecraftConfig(size=(3, 2), items=("gem@2,0", "lava@0,1"), steps=12)
TASK = nrm.compile("F gem & G !lava", GRID.alphabet)
AB = nrm.compile("F(a & F b)", ["a", "b"])


def rows(*said: Sequence[float]) -> torch.Tensor:
    """Observations (0,) with what a detector says of two letters."""
    return torch.tensor([[*one, 0.0] for one in said])


def pair(belief: Any) -> Any:
    """The memory of a given detector on two letters."""
    space = spaces.Dict({"detected": spaces.Box(0, 1, (2,)), "observation": spaces.Box(0, 1, (1,))})
    grounder = DetectorGrounder.from_parts(Parts.of(space), 2).eval()
    return nrm.tracking.belief_memory(NeuralRewardMachine(grounder, AB), None, belief)


def followed(belief: Any, *said: Sequence[float]) -> list[list[float]]:
    """The beliefs after each step, over: nothing yet, a was read, a and then b were."""
    memory, found = pair(belief), []
    carry = memory.start(1)
    for row in said:
        unpaid = torch.zeros(1)
        carry = memory.read(carry, Transition(rows(row), None, torch.zeros(1), unpaid, None))
        found.append(memory.feature(carry)[0].tolist())
    order = [AB.initial, int(AB.transitions[AB.initial, 0]), int(np.flatnonzero(AB.accepting)[0])]
    return [[one[state] for state in order] for one in found]


def test_an_independent_belief_multiplies_what_the_detector_says() -> None:
    found = followed("open-loop", (0.6, 0.4), (0.3, 0.7))
    # First 0.6 for a. Then a again, or for the first time: 0.6 * 0.3 + 0.4 * 0.3; b after a: 0.6 * 0.7.
    assert found[0] == pytest.approx([0.4, 0.6, 0.0], abs=1e-5)
    assert found[1] == pytest.approx([0.28, 0.30, 0.42], abs=1e-5)


def test_a_naive_belief_takes_the_most_probable_symbol_for_certain() -> None:
    assert followed("argmax", (0.6, 0.4), (0.3, 0.7)) == [[0, 1, 0], [0, 0, 1]]
    assert followed("argmax", (0.4, 0.6), (0.3, 0.7)) == [[1, 0, 0], [1, 0, 0]]


def test_a_grounder_begins_with_what_the_detector_says() -> None:
    said = torch.tensor([[0.6, 0.4], [0.05, 0.95]])
    grounder = pair("argmax").model.grounder
    assert torch.allclose(grounder(rows(*said.tolist())), said, atol=1e-5)


def test_rewards_teach_how_often_a_detector_is_wrong() -> None:
    """The confusion matrix of a coin-like detector, estimated from rewards alone."""
    generator = np.random.default_rng(0)
    machine = nrm.compile("F a", ["a", "b"])
    buffer = EpisodeBuffer.for_machine(machine)
    for _ in range(400):
        read = int(generator.random() < 0.5)  # b half of the time
        wrong = generator.random() < (0.1, 0.3)[read]
        said = (0.2, 0.8) if read != wrong else (0.8, 0.2)
        buffer.add(rows(said).numpy(), rewards=[0.0 if read else 100.0])
    model = NeuralRewardMachine(pair("argmax").model.grounder, machine)
    fit(model, buffer, config=FitConfig(restarts=1, epochs=40, seed=0))
    found = model.grounder(rows((0.8, 0.2), (0.2, 0.8)))[:, 0].tolist()
    # a detected: 0.9 against 0.3; b detected: 0.1 against 0.7.
    assert found == pytest.approx([0.75, 0.125], abs=0.08)


def mistaken(observations: NDArray[Any]) -> NDArray[Any]:
    """A detector that takes the gem for lava, and lava for the gem, and is fairly sure of it."""
    x, y = observations.T
    said = np.full((len(x), GRID.alphabet.size), 0.02)
    wrong = np.where((x == 2) & (y == 0), "lava", np.where((x == 0) & (y == 1), "gem", "empty"))
    said[np.arange(len(x)), [GRID.alphabet.letter(str(name)) for name in wrong]] = 0.92
    return said


MISTAKEN = f"{__name__}:mistaken"


def trained(method: str, labels: str | None, episodes: int = 240, **sections: Any) -> Trainer:
    env = BatchedTasks(GRID, TASK, 8)
    settings = {"grounding": GroundingConfig(every=60, restarts=4), **sections}
    made = new_trainer(
        env if labels is None else noisy(env, labels), method, episodes=episodes, seed=1, settings=settings
    )
    made.run()
    return made


def states(made: Trainer, labels: str | None) -> float:
    """How often the state is the true one, in fresh episodes."""
    env = BatchedTasks(GRID, TASK, 8)
    found = evaluate(made, env if labels is None else noisy(env, labels), 60, 5, greedy=False)
    assert found.state_accuracy is not None
    return found.state_accuracy


def test_rewards_correct_a_detector_that_swaps_symbols() -> None:
    naive, independent, corrected = (
        states(trained(method, MISTAKEN), MISTAKEN) for method in ("naive", "independent-belief", "nrm")
    )
    assert max(naive, independent) < 0.95
    assert corrected > 0.99


@pytest.mark.parametrize("source", ["states", "rewards"])
def test_a_recurrent_network_predicts_states(source: Any) -> None:
    made = trained("state-prediction", MISTAKEN, 240, prediction=PredictionConfig(source=source, every=60))
    assert states(made, MISTAKEN) > states(trained("naive", MISTAKEN, 60), MISTAKEN) + 0.03
    assert made.accuracy() is None  # it names no symbols


def test_letters_of_a_state_machine_are_its_states() -> None:
    machine = state_machine(AB, "states")
    assert machine.outputs.tolist() == [0, 1, 2]
    assert machine.transitions.tolist() == [[0, 1, 2]] * 3
    assert state_machine(AB, "rewards").outputs.tolist() == AB.outputs.tolist()


def test_states_are_those_of_the_true_letters() -> None:
    made = new_trainer(BatchedTasks(GRID, TASK, 2), "state-prediction", episodes=1, seed=0)
    assert made.grounding is not None
    gem, empty = (TASK.alphabet.letter(name) for name in ("gem", "empty"))
    told = RecordedEpisode(0, 100.0, 2, np.array([1, 2]), np.array([0.0, 100.0]), np.array([empty, gem]))
    learned = made.grounding._numbered(told)
    assert learned.levels.tolist() == [TASK.initial, TASK.next_state(TASK.initial, gem)]


@pytest.mark.parametrize("method", ["naive", "independent-belief"])
def test_a_method_that_follows_a_detector_needs_one(method: str) -> None:
    with pytest.raises(EpisodeError, match=r"--env\.labels"):
        new_trainer(BatchedTasks(GRID, TASK, 2), method, episodes=1)


def test_states_of_many_tasks_are_not_predicted() -> None:
    tasks = TaskSet.of([nrm.compile(text, GRID.alphabet) for text in ("F gem", "F lava")])
    with pytest.raises(ConfigError, match="many"):
        new_trainer(BatchedTasks(GRID, tasks, 2), "state-prediction", episodes=1)


def test_own_environments_follow_a_detector_with_the_usual_wrapper() -> None:
    config = GoldMiningConfig()
    machine = config.task(None).machine()
    plain = TaskEnv(config.render(machine, "rgb_array", "outcome").unwrapped, machine)
    labels = NoisyLabels.confused(0.0, config.alphabet)
    env = nrm.NeuralRewardMachineWrapper(
        NoisyLabelsEnv(plain, labels), nrm.model_for(NoisyLabelsEnv(plain, labels).observation_space, machine)
    )
    env.reset(seed=0)
    for action in (1, 1, 1, 4):
        observation, *_, info = env.step(action)
        assert observation["belief"].argmax() == info["machine_state"]
