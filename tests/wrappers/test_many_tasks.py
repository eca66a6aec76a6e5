"""Another task with every episode: drawn by `TaskEnv`, seen through the wrappers, learned from by our own agents."""

from __future__ import annotations

import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import nrm
from nrm.agents import new_trainer
from nrm.envs import GymVectorEnv
from nrm.envs.letter import LetterConfig, LetterEnv
from nrm.errors import EnvError
from nrm.machines import TaskSet, task_view
from nrm.neural import NeuralRewardMachine
from nrm.tracking import TaskBeliefMemory, Transition
from nrm.wrappers import NeuralRewardMachineVectorWrapper, NeuralRewardMachineWrapper, model_for

SMALL: dict[str, Any] = {"size": 3, "letters": 3, "steps": 6}
ALPHABET = LetterConfig(**SMALL).alphabet
POOL = TaskSet.of(["F a", "F(b & F c)", "!a U c", "F a & G !b"], ALPHABET)
VIEW = task_view(POOL.union).astype(np.float32)


def make() -> nrm.TaskEnv[Any, Any]:
    return nrm.TaskEnv(LetterEnv(**SMALL), POOL)


def test_an_episode_is_paid_by_its_own_machine() -> None:
    env = make()
    met = set()
    generator = np.random.default_rng(0)
    for episode in range(60):
        _, info = env.reset(seed=7 if episode == 0 else None)
        task = info["task"]
        met.add(task)
        machine, state = POOL.machines[task], POOL.machines[task].initial
        assert info["machine_state"] == POOL.first[task] + state
        ended = False
        while not ended:
            _, reward, terminated, truncated, info = env.step(int(generator.integers(4)))
            after = machine.step(state, info["label"])
            assert reward == pytest.approx(machine.outputs[after] - machine.outputs[state])
            assert POOL.local(info["machine_state"]) == (task, after)
            assert terminated == bool(machine.accepting[after] or machine.dead[after])
            state, ended = after, terminated or truncated
    assert met == set(range(len(POOL)))


def test_equal_seeds_draw_equal_tasks_and_one_can_be_asked_for() -> None:
    first, second = make(), make()
    drawn = [[env.reset(seed=3 if number == 0 else None)[1]["task"] for number in range(20)] for env in (first, second)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) > 1
    assert first.reset(options={"task": 2})[1]["task"] == first.task_number == 2
    for wrong in (4, -1, "F a", True):
        with pytest.raises(EnvError, match="0 to 3"):
            first.reset(options={"task": wrong})
    with pytest.raises(EnvError, match="G !a"):
        nrm.TaskEnv(LetterEnv(**SMALL), TaskSet.of(["F b", "G !a"], ALPHABET))
    assert make().spec is None
    assert pickle.loads(pickle.dumps(POOL)).machines == POOL.machines


def test_the_view_of_the_true_state_stands_beside_the_observation() -> None:
    env = NeuralRewardMachineWrapper(make(), POOL)
    assert isinstance(env.observation_space, spaces.Dict)
    assert env.observation_space["task"].shape == (VIEW.shape[1],)
    generator = np.random.default_rng(1)
    for _ in range(30):
        seen, info = env.reset()
        assert (seen["task"] == VIEW[POOL.initial[info["task"]]]).all()
        ended = False
        while not ended:
            seen, _, terminated, truncated, info = env.step(int(generator.integers(4)))
            assert (seen["task"] == VIEW[info["machine_state"]]).all()
            assert env.observation_space.contains(seen)
            assert (seen["observation"] == env.unwrapped._shown()[0]).all()  # type: ignore[attr-defined]
            ended = terminated or truncated


@pytest.mark.parametrize("belief", ["open-loop", "filtered"])
def test_the_view_under_a_belief_is_that_of_the_batched_memory(belief: Any) -> None:
    model = model_for(make().observation_space, POOL, seed=1)
    env = NeuralRewardMachineWrapper(make(), model, belief=belief)
    memory = TaskBeliefMemory(model, None, belief)
    generator = np.random.default_rng(1)
    told: list[int] = []
    for _ in range(12):
        seen, info = env.reset()
        told.append(info["task"])
        carry = memory.begin(torch.tensor([info["task"]]))
        ended = False
        while not ended:
            assert seen["task"] == pytest.approx(memory.feature(carry)[0].numpy(), abs=1e-6)
            seen, reward, terminated, truncated, _ = env.step(int(generator.integers(4)))
            shown = torch.from_numpy(seen["observation"])[None]
            carry = memory.read(
                carry, Transition(shown, None, torch.zeros(1).long(), torch.tensor([float(reward)]), None)
            )
            ended = terminated or truncated
    assert [episode.task for episode in env.tracker.take()] == told


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("kind", ["rm", "nrm"])
def test_vector_environments_are_their_single_twins(kind: str, mode: AutoresetMode) -> None:
    model = POOL if kind == "rm" else model_for(make().observation_space, POOL, seed=2)
    count = 3
    envs: Any = NeuralRewardMachineVectorWrapper(SyncVectorEnv([make] * count, autoreset_mode=mode), model)
    twins = [NeuralRewardMachineWrapper(make(), model) for _ in range(count)]
    seen, info = envs.reset(seed=5)
    wanted = [twin.reset(seed=5 + index)[0] for index, twin in enumerate(twins)]
    over = np.zeros(count, dtype=np.bool_)
    for actions in np.random.default_rng(0).integers(0, 4, (40, count)).tolist():
        if mode == AutoresetMode.DISABLED and over.any():
            seen, info = envs.reset(options={"reset_mask": over})
            wanted = [twin.reset()[0] if over[index] else wanted[index] for index, twin in enumerate(twins)]
            for index in range(count):
                assert seen["task"][index] == pytest.approx(wanted[index]["task"], abs=1e-6)
        seen, _, terminated, truncated, info = envs.step(np.array(actions))
        before, over = over, terminated | truncated
        for index, twin in enumerate(twins):
            if mode == AutoresetMode.NEXT_STEP and before[index]:
                wanted[index] = twin.reset()[0]
                continue
            wanted[index] = twin.step(actions[index])[0]
            if mode == AutoresetMode.SAME_STEP and over[index]:
                assert info["final_obs"][index]["task"] == pytest.approx(wanted[index]["task"], abs=1e-6)
                wanted[index] = twin.reset()[0]
        for index in range(count):
            assert seen["task"][index] == pytest.approx(wanted[index]["task"], abs=1e-6)
    kept, known = ([one.task for one in source.tracker.take()] for source in (envs, twins[0]))
    assert kind == "rm" or (set(kept) == set(range(len(POOL))) and known)


def test_our_own_agents_learn_from_any_environment_with_many_tasks_and_go_on_exactly() -> None:
    def trainer() -> Any:
        return new_trainer(GymVectorEnv.of(make, 4), "nrm", "ppo", steps=1000, seed=1)

    whole = trainer()
    whole.run()
    half = trainer()
    while half.steps < 500:
        half.update()
    resumed = trainer()
    resumed.load_state_dict(half.state_dict())
    resumed.run()
    assert resumed.history == whole.history
    assert whole.tasks is not None
    assert whole.history.accuracy


class Silent(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Tells nothing but observations and rewards."""

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        return self.env.reset(**options)[0], {}


def test_mistakes_are_told() -> None:
    model = model_for(make().observation_space, POOL)
    with pytest.raises(EnvError, match=r"info\['task'\]"):
        NeuralRewardMachineWrapper(Silent(make()), model).reset()
    other = TaskSet.of(["F a", "F b"], ALPHABET)
    for given in (other, NeuralRewardMachine(model.grounder, other)):
        with pytest.raises(EnvError, match=r"task.*environment"):
            NeuralRewardMachineWrapper(make(), given)
    with pytest.raises(EnvError, match="is not the environment's"):
        NeuralRewardMachineWrapper(nrm.TaskEnv(LetterEnv(**SMALL), POOL.machines[0]), POOL)
    with pytest.raises(EnvError, match="an entry 'task' already"):
        NeuralRewardMachineWrapper(NeuralRewardMachineWrapper(make(), POOL), POOL)
