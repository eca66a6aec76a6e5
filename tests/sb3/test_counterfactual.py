"""Counterfactual experience: relabelled transitions by hand, their ends, and the letters that a grounder gives."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from stable_baselines3 import DDPG, DQN, SAC, TD3
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv
from torch import Tensor, nn

import nrm
import nrm.sb3
from nrm.envs import PlaneConfig, PlaneEnv, ending_states
from nrm.errors import EnvError
from nrm.neural import FitConfig, NeuralRewardMachine
from nrm.sb3 import (
    BeliefExtractor,
    CounterfactualReplayBuffer,
    GroundingCallback,
    NeuralRewardMachineVecWrapper,
    counterfactual,
)
from tests.wrappers.envs import TASK, Silent, task_env, untrained

# States: 0 nothing yet (potential 0), 1 a seen (50), 2 b seen (50), 3 both (100). Accepting is 3.
BOTH = nrm.compile("F a & F b", "a b c")
A, B, C = 0, 1, 2
SPACE = spaces.Dict(observation=spaces.Box(0, 9, (1,), np.float32), belief=spaces.Box(0, 1, (4,), np.float32))


class Oracle(nn.Module):
    """Says what its table says about observation 0, 1, 2, …"""

    def __init__(self, table: list[list[float]]) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.tensor(table))

    def forward(self, observations: Tensor) -> Tensor:
        return self.table[observations[:, 0].long()]


def test_the_machine_is_as_the_tests_say() -> None:
    assert BOTH.transitions.tolist() == [[1, 2, 0], [1, 3, 1], [3, 2, 2], [3, 3, 3]]
    assert BOTH.outputs.tolist() == [0, 50, 50, 100]


def filled(
    letter: int, base_terminated: bool = False, done: bool = False, timeout: bool = False, **options: Any
) -> CounterfactualReplayBuffer:
    """One real step: in state 1 at observation 3, to observation 4, action 1."""
    buffer = CounterfactualReplayBuffer(10, SPACE, spaces.Discrete(2), device="cpu", machine=BOTH, **options)
    after = BOTH.next_state(1, letter)
    info = {"base_terminated": base_terminated, "letter": letter, "TimeLimit.truncated": timeout}
    buffer.add(
        {"observation": np.array([[3.0]]), "belief": np.eye(4)[[1]]},
        {"observation": np.array([[4.0]]), "belief": np.eye(4)[[after]]},
        np.array([1]),
        np.array([(BOTH.outputs[after] - BOTH.outputs[1]) * options.get("reward_scale", 1.0)]),
        np.array([done]),
        [info],
    )
    return buffer


def sampled(buffer: CounterfactualReplayBuffer, count: int = 200) -> dict[int, set[tuple[int, float, float]]]:
    """From each state that occurs, what follows: (state, reward, done)."""
    batch = buffer.sample(count)
    assert (batch.observations["observation"] == 3).all()
    assert (batch.next_observations["observation"] == 4).all()
    assert (batch.actions == 1).all()
    found: dict[int, set[tuple[int, float, float]]] = {}
    rows = zip(
        batch.observations["belief"].argmax(1).tolist(),
        batch.next_observations["belief"].argmax(1).tolist(),
        batch.rewards[:, 0].tolist(),
        batch.dones[:, 0].tolist(),
        strict=True,
    )
    for state, after, reward, done in rows:
        found.setdefault(state, set()).add((after, reward, done))
    for beliefs in (batch.observations["belief"], batch.next_observations["belief"]):
        assert torch.equal(beliefs.sum(1), torch.ones(len(beliefs)))
    return found


def test_every_state_that_an_episode_can_be_in() -> None:
    # Reading b: 0 -> 2 pays 50, 1 -> 3 pays 50 and ends, 2 stays. State 3 ends episodes, so no step is taken in it.
    assert sampled(filled(B, done=True)) == {0: {(2, 50.0, 0.0)}, 1: {(3, 50.0, 1.0)}, 2: {(2, 0.0, 0.0)}}
    assert sampled(filled(A)) == {0: {(1, 50.0, 0.0)}, 1: {(1, 0.0, 0.0)}, 2: {(3, 50.0, 1.0)}}


def test_what_the_environment_ends_ends_in_every_state() -> None:
    found = sampled(filled(C, base_terminated=True, done=True))
    assert found == {0: {(0, 0.0, 1.0)}, 1: {(1, 0.0, 1.0)}, 2: {(2, 0.0, 1.0)}}


def test_a_time_limit_ends_in_no_state_but_the_outcome_does() -> None:
    found = sampled(filled(A, done=True, timeout=True))
    assert found == {0: {(1, 50.0, 0.0)}, 1: {(1, 0.0, 0.0)}, 2: {(3, 50.0, 1.0)}}


def test_other_rules_of_ending_and_other_scales() -> None:
    found = sampled(filled(B, end="limit", reward_scale=0.01))
    half = pytest.approx(0.5)
    assert found.keys() == {0, 1, 2, 3}
    assert [next(iter(found[state])) for state in range(4)] == [(2, half, 0), (3, half, 0), (2, 0, 0), (3, 0, 0)]


def test_every_step_comes_in_every_state() -> None:
    batch = filled(A).sample(5)
    assert batch.observations["belief"].argmax(1).tolist() == [0] * 5 + [1] * 5 + [2] * 5


def test_letters_of_a_grounder_that_is_sure_are_its_letters() -> None:
    model = NeuralRewardMachine(Oracle([[0.0, 0.0, 1.0]] * 4 + [[0.0, 1.0, 0.0]]), BOTH)
    assert sampled(filled(B, model=model)) == sampled(filled(B))


def test_letters_of_a_grounder_that_is_unsure_are_drawn() -> None:
    model = NeuralRewardMachine(Oracle([[0.0, 0.0, 1.0]] * 4 + [[0.7, 0.2, 0.1]]), BOTH)
    batch = filled(B, model=model).sample(20000)
    first = batch.observations["belief"][:, 0] == 1
    shares = batch.next_observations["belief"][first].mean(0)
    assert shares.tolist() == pytest.approx([0.1, 0.7, 0.2, 0.0], abs=0.02)
    # In the state that was believed in, the step is as it happened, whatever the grounder says.
    second = batch.observations["belief"][:, 1] == 1
    assert (batch.next_observations["belief"][second, 3] == 1).all()
    assert (batch.rewards[second] == 50).all()


def test_old_steps_are_relabelled_by_what_was_learned_since() -> None:
    model = NeuralRewardMachine(Oracle([[0.0, 0.0, 1.0]] * 5), BOTH)
    buffer = filled(B, model=model)
    assert sampled(buffer)[0] == {(0, 0.0, 0.0)}
    with torch.no_grad():
        model.grounder.table[4] = torch.tensor([1.0, 0.0, 0.0])  # type: ignore[operator]
    assert sampled(buffer)[0] == {(1, 50.0, 0.0)}


@pytest.mark.parametrize("kind", ["rm", "nrm", "image"])
def test_an_agent_learns_from_it(kind: str) -> None:
    env: dict[str, Any] = {"observation": "image", "pixels": 16} if kind == "image" else {}
    model = TASK if kind == "rm" else untrained(**env)
    venv = NeuralRewardMachineVecWrapper(DummyVecEnv([lambda: task_env(**env)] * 2), model, reward_scale=0.01)
    options = counterfactual(venv, TASK)
    kwargs = {"features_extractor_class": BeliefExtractor}
    agent = DQN(
        "MultiInputPolicy", venv, buffer_size=500, learning_starts=20, policy_kwargs=kwargs, device="cpu", **options
    )
    agent.learn(60)
    buffer = agent.replay_buffer
    assert isinstance(buffer, CounterfactualReplayBuffer)
    assert buffer.model is (None if kind == "rm" else model)
    if kind == "rm":
        ends = ending_states(TASK, "outcome")
        # A reward machine knows its state, so the relabelled step is the one that happened.
        for step in range(buffer.pos):
            before, after = (rows["belief"][step].argmax(1) for rows in (buffer.observations, buffer.next_observations))
            for place in range(2):
                reached = TASK.next_state(int(before[place]), int(buffer.letters[step, place]))
                over = ends[reached] or buffer.base_terminated[step, place]
                assert reached == after[place]
                assert over == buffer.dones[step, place] * (1 - buffer.timeouts[step, place])
                paid = (TASK.outputs[reached] - TASK.outputs[before[place]]) / 100
                if over and paid < 0:  # what failures cost depends on recent successes
                    assert buffer.rewards[step, place] < 0
                else:
                    assert buffer.rewards[step, place] == pytest.approx(paid)


def test_it_waits_until_the_grounder_explains_the_rewards() -> None:
    buffer = filled(B, model=NeuralRewardMachine(Oracle([[1.0, 0.0, 0.0]] * 5), BOTH))
    buffer.imagines = False
    assert sampled(buffer) == {1: {(3, 50.0, 0.0)}}

    model = untrained()
    venv = NeuralRewardMachineVecWrapper(DummyVecEnv([task_env] * 4), model, reward_scale=0.01)
    agent = DQN("MultiInputPolicy", venv, learning_starts=20, device="cpu", seed=0, **counterfactual(venv, TASK))
    relied = []

    class Watch(BaseCallback):
        def _on_step(self) -> bool:
            relied.append(agent.replay_buffer.imagines)  # type: ignore[union-attr]
            return True

    callback = GroundingCallback(model, every=20, config=FitConfig(restarts=1, epochs=150, target=0.05))
    agent.learn(1200, callback=[callback, Watch()])
    assert relied[0] is False
    known = [update.record is None or update.record.explained for update in callback.updates]
    assert True in known
    assert relied[-1] is known[-1]


def test_misuse_is_named() -> None:
    with pytest.raises(EnvError, match="needs NeuralRewardMachineVecWrapper"):
        counterfactual(DummyVecEnv([task_env]), TASK)
    wrapped = NeuralRewardMachineVecWrapper(DummyVecEnv([task_env]), TASK)
    with pytest.raises(EnvError, match="the task has 2 states, but"):
        counterfactual(wrapped, nrm.compile("F a", "a b"))
    silent = NeuralRewardMachineVecWrapper(DummyVecEnv([lambda: Silent(task_env())]), untrained())
    agent = DQN("MultiInputPolicy", silent, learning_starts=2, device="cpu", **counterfactual(silent, TASK))
    with pytest.raises(EnvError, match=r"info\['base_terminated'\]"):
        agent.learn(5)


def test_imagined_steps_pay_with_the_discount() -> None:
    found = sampled(filled(A, gamma=0.5))
    assert found[0] == {(1, 25.0, 0.0)}
    assert found[2] == {(3, 0.0, 1.0)}


@pytest.mark.parametrize("algorithm", [SAC, TD3, DDPG])
def test_agents_with_continuous_actions_learn_from_imagined_steps(algorithm: type[Any]) -> None:
    machine = nrm.compile("F red & F green", [*PlaneConfig().names, "empty"])

    def make() -> gymnasium.Env[Any, Any]:
        return nrm.TaskEnv(PlaneEnv(actions="continuous", steps=20), machine)

    for model in (machine, nrm.sb3.model_for(PlaneEnv().observation_space, machine)):
        venv = NeuralRewardMachineVecWrapper(DummyVecEnv([make] * 2), model, reward_scale=0.01, gamma=0.99)
        agent = algorithm("MultiInputPolicy", venv, learning_starts=20, batch_size=8, **counterfactual(venv, machine))
        agent.learn(60)
        batch = agent.replay_buffer.sample(4)
        live = int((~ending_states(machine, "outcome")).sum())
        assert batch.actions.shape == (4 * live, 2)
        assert len(set(batch.observations["belief"].argmax(1).tolist())) == live
