"""The recurrent memory."""

from __future__ import annotations

import torch

from nrm.agents.rnn import RecurrentConfig, RecurrentMemory
from nrm.tracking import Transition


def test_the_lstm_is_one_lstm_over_the_whole_window() -> None:
    memory = RecurrentMemory(2, RecurrentConfig(size=5))
    inputs = torch.randn(6, 3, 2, generator=torch.Generator().manual_seed(0))
    carry = memory.start(3)
    stepped = []
    for step in inputs:
        carry = memory.read(carry, Transition(step, step, torch.zeros(3, dtype=torch.int64), torch.zeros(3), None))
        stepped.append(memory.feature(carry))
    whole, _ = memory.lstm(inputs)
    assert torch.allclose(torch.stack(stepped), whole, atol=1e-6)


def test_a_whole_rollout_in_one_call_is_the_rollout_step_by_step() -> None:
    memory = RecurrentMemory(2, RecurrentConfig(size=5))
    generator = torch.Generator().manual_seed(1)
    time, envs = 6, 4
    features = torch.randn(time, envs, 2, generator=generator)
    actions = torch.randint(4, (time, envs), generator=generator)
    rewards = 100 * torch.rand(time, envs, generator=generator)
    # No end; two ends; an end at the first and the last step; ends at every step.
    done = torch.tensor([[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1], [0, 1, 0, 1], [0, 0, 0, 1], [0, 0, 1, 1]]).bool()
    begun = torch.randn(envs, 2, 2, 5, generator=generator)
    carry, stepped = begun, []
    for step in range(time):
        stepped.append(memory.feature(carry))
        seen = Transition(features[step], features[step], actions[step], rewards[step], None)
        carry = memory.reset(memory.read(carry, seen), done[step], torch.zeros(envs).long())
    whole = memory.unrolled(begun, Transition(features, features, actions, rewards, None), done, torch.zeros_like(done))
    torch.testing.assert_close(whole, torch.stack(stepped), rtol=0, atol=1e-6)
    weight = torch.randn(time, envs, 5, generator=generator)
    parameters = list(memory.parameters())
    fast, slow = (torch.autograd.grad((found * weight).sum(), parameters) for found in (whole, torch.stack(stepped)))
    for one, other in zip(fast, slow, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
