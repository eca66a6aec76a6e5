"""Hierarchy: options end where states change, policies of options are paid for edges, the controller for tasks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import nrm
from nrm.agents import Policy, Trainer, evaluate, new_trainer
from nrm.agents.a2c import A2CConfig
from nrm.agents.acting import Rollout
from nrm.agents.hierarchy import GAMMA, LAMBDA, OptionMemory
from nrm.envs import BatchedTasks, MinecraftConfig
from nrm.errors import LimitError, MachineError, NrmWarning
from nrm.machines import TaskSet
from nrm.tracking import GroundingConfig

SYMBOLS = ("gem", "door", "lava", "empty")
CORRIDOR = MinecraftConfig(size=(4, 1), items=["gem@0,0", "door@2,0", "lava@3,0"], start=(1, 0), steps=12)
ORDERED, ANY = "F(gem & F door) & G !lava", "F gem & F door & G !lava"


def made(*tasks: str, method: str = "hrm", seed: int = 1, episodes: int = 300) -> Trainer:
    env = BatchedTasks(CORRIDOR, TaskSet.of(list(tasks), nrm.Alphabet.exclusive(SYMBOLS)), 8)
    settings = {
        "algorithm": A2CConfig(learning_rate=3e-3),
        "grounding": GroundingConfig(every=40, epochs=100, belief="open-loop"),
    }
    return new_trainer(env, method, episodes=episodes, seed=seed, settings=settings)


def memory_of(trainer: Trainer) -> OptionMemory:
    memory = trainer.learner.memory
    assert isinstance(memory, OptionMemory)
    return memory


@pytest.mark.parametrize("method", ["hrm", "hrm-nrm"])
def test_a_small_env_is_solved(method: str) -> None:
    trainer = made(ORDERED, method=method)
    trainer.run()
    found = evaluate(trainer, BatchedTasks(CORRIDOR, trainer.tasks, 8), 40, 5, greedy=False)
    assert found.success_rate > 0.9
    assert found.mean_length < 5


def test_one_agent_does_several_tasks_by_options_that_they_share() -> None:
    trainer = made(ORDERED, ANY, "F door & G !lava")
    trainer.run()
    found = evaluate(trainer, BatchedTasks(CORRIDOR, trainer.tasks, 8), 60, 5, greedy=False)
    assert len(memory_of(trainer).options) == 3  # gem, door, nothing
    assert found.success_rate > 0.9


def test_an_option_ends_exactly_where_the_state_changes_and_pays_for_its_edge() -> None:
    trainer = made(ORDERED, ANY)
    memory, machine = memory_of(trainer), trainer.env.machine
    targets = memory.options.targets
    kept: list[Rollout] = [trainer.learner.collect() for _ in range(30)]
    paid = missed = 0
    for rollout, after in zip(kept, [*kept[1:], None], strict=True):
        credited = memory.credited(rollout, trainer._summary)
        options, states = rollout.carry[..., 0].long(), rollout.carry[..., 1].long()
        for time, env in np.ndindex(*options.shape):
            option, state = int(options[time, env]), int(states[time, env])
            reached = int(rollout.final_state[time, env])
            assert targets[state, option] >= 0
            assert (rollout.final_carry[time, env, 0] < 0) == (reached != state)
            taken = reached != state and reached == targets[state, option]
            assert credited.reward[time, env] == 100 * taken
            assert credited.terminated[time, env] == (rollout.terminated[time, env] | (reached != state))
            paid, missed = paid + taken, missed + (reached != state and not taken)
            goes_on = not rollout.done[time, env] and reached == state
            follows = rollout if time + 1 < len(options) else after
            if goes_on and follows is not None:
                assert int(follows.carry[(time + 1) % len(options), env, 0]) == option
        assert torch.equal(credited.truncated, rollout.truncated)
    assert paid > 10
    assert missed > 10
    assert machine.states == len(targets)


def test_the_controller_learns_what_follows_an_option() -> None:
    trainer = made(ANY)
    memory = memory_of(trainer)
    rollout = trainer.learner.collect()
    seen: dict[str, Tensor] = {}

    class Noting:
        generator = torch.Generator()

        def learn(self, shown: Tensor, options: Tensor, chosen: Tensor, target: Tensor) -> None:
            seen.update(chosen=chosen, target=target)

    memory._learner = Noting()  # type: ignore[assignment]
    memory.credited(rollout, trainer._summary)
    steps, envs = rollout.reward.shape

    def worth(observation: Tensor, carry: Tensor, option: int | None) -> float:
        own = memory._own(carry[None])
        values = memory.controller(memory._seen(trainer._summary(observation[None]), own), memory.features)[0].detach()
        offered = [number for number in range(len(memory.options)) if memory.options.targets[int(own), number] >= 0]
        return float(values[option] if option is not None else max(values[number] for number in offered))

    target = torch.zeros(steps, envs)
    for env in range(envs):
        later = 0.0
        for step in reversed(range(steps)):
            option = int(rollout.carry[step, env, 0])
            value = worth(rollout.observation[step, env], rollout.carry[step, env], option)
            goes_on = None if rollout.final_carry[step, env, 0] < 0 else option
            following = worth(rollout.final_observation[step, env], rollout.final_carry[step, env], goes_on)
            following *= not rollout.terminated[step, env]
            gained = float(rollout.reward[step, env]) / 100 + GAMMA * following - value
            later = gained + GAMMA * LAMBDA * later * (not rollout.done[step, env])
            target[step, env] = value + later
    assert torch.allclose(seen["target"].view(steps, envs), target, atol=1e-5)
    assert torch.equal(seen["chosen"], rollout.carry[..., 0].long().flatten())


def test_edges_are_weighed_by_the_belief() -> None:
    trainer = made(ORDERED, "F door & G !lava", method="hrm-nrm")
    memory = memory_of(trainer)
    inner = memory._memory
    carry = inner.begin(torch.tensor([0, 1, 1]))
    states = trainer.tasks.max_states
    belief = torch.rand(3, states) * (torch.arange(states) < torch.tensor([[4], [3], [3]]))
    belief /= belief.sum(1, keepdim=True)
    carry[:, inner._own - 2 - states : inner._own - 2] = belief  # type: ignore[attr-defined]
    every = memory._believed(carry)
    for row, task in enumerate((0, 1, 1)):
        first, size = int(trainer.tasks.first[task]), trainer.tasks.machines[task].states
        assert torch.equal(every[row, first : first + size], belief[row, :size])
        assert every[row].sum() == pytest.approx(1)
        for option in range(len(memory.options)):
            local = [s for s in range(size) if memory.options.targets[first + s, option] >= 0]
            assert float(memory._offered(carry)[row, option]) == pytest.approx(float(belief[row, local].sum()))
    joined = memory._joined(carry, torch.full((3,), -1.0))
    with torch.no_grad():
        memory.controller.value.weight.zero_()  # what is equally good is chosen where it is probable
    memory._learner = None
    chosen = memory.settled(joined, lambda: torch.zeros(3, trainer._summary(trainer.env.reset(0)).shape[1]))
    assert torch.equal(chosen[:, 0].long(), memory._offered(carry).argmax(1))


def test_an_option_is_paid_by_the_probability_that_its_edge_was_taken() -> None:
    trainer = made(ORDERED, ANY, method="hrm-nrm")
    memory = memory_of(trainer)
    rollouts = [trainer.learner.collect() for _ in range(8)]
    differing = 0
    for rollout in rollouts:
        paid = memory.credited(rollout, trainer._summary).reward
        before, after = (memory._believed(memory._own(carry)) for carry in (rollout.carry, rollout.final_carry))
        for time, env in np.ndindex(*paid.shape):
            option, chance = int(rollout.carry[time, env, 0]), 0.0
            for state, target in enumerate(memory.options.targets[:, option]):
                if target >= 0 and target != state:
                    chance += float(before[time, env, state] * after[time, env, target])
            changed = before[time, env].argmax() != after[time, env].argmax()
            assert float(paid[time, env]) == pytest.approx(100 * chance * bool(changed), abs=1e-3)
            differing += 0 < float(paid[time, env]) < 99
    assert differing


@pytest.mark.parametrize("method", ["hrm", "hrm-nrm"])
def test_a_saved_run_goes_on_exactly(method: str, tmp_path: Any) -> None:
    one = made(ANY, method=method)
    for _ in range(20):
        one.update()
    torch.save(one.state_dict(), tmp_path / "state.pt")
    other = made(ANY, method=method)
    other.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=False))
    for trainer in (one, other):
        for _ in range(15):
            trainer.update()
    assert one.history == other.history
    assert torch.equal(one.learner.collect().carry, other.learner.collect().carry)


def test_the_policy_in_another_program_keeps_its_option() -> None:
    trainer = made(ORDERED)
    trainer.run()
    policy, env = Policy(trainer), nrm.TaskEnv(nrm.envs.MinecraftEnv(CORRIDOR), trainer.env.machine)
    policy.reset()
    observation, info = env.reset(seed=0)
    labels, options, ended = None, [], False
    while not ended:
        action = policy.act(observation, labels=labels, greedy=True)
        options.append((info["machine_state"], int(policy._carry[0, 0])))
        observation, _, terminated, truncated, info = env.step(action)
        labels, ended = info["labels"], terminated or truncated
    assert trainer.env.machine.accepting[info["machine_state"]]
    assert len(set(options)) == len({state for state, _ in options})


def test_edges_that_nothing_triggers_are_named_after_training() -> None:
    symbols = nrm.Alphabet.exclusive((*SYMBOLS, "unicorn"))
    env = BatchedTasks(CORRIDOR, nrm.compile("F(gem & F unicorn)", symbols), 8)
    with pytest.warns(NrmWarning, match="'unicorn'"):
        new_trainer(env, "hrm", episodes=20, seed=0).run()


def test_tasks_without_a_choice_and_with_too_many_letters_are_refused() -> None:
    alphabet = nrm.Alphabet.exclusive(SYMBOLS)
    with pytest.raises(MachineError, match="G !lava"):
        new_trainer(BatchedTasks(CORRIDOR, TaskSet.of(["F gem", "G !lava"], alphabet), 2, "limit"), "hrm")
    wide = nrm.Alphabet.propositional([*SYMBOLS[:3], *(f"p{number}" for number in range(22))])
    config = MinecraftConfig(size=(4, 1), items=list(CORRIDOR.items or ()), start=(1, 0), empty=None)
    with pytest.raises(LimitError, match="25"):
        new_trainer(BatchedTasks(config, nrm.compile("F gem", wide), 2), "hrm")
