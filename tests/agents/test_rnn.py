"""The recurrent memory."""

from __future__ import annotations

import torch

from nrm.agents.rnn import RecurrentConfig, RecurrentMemory
from nrm.tracking import Seen


def test_the_lstm_is_one_lstm_over_the_whole_window() -> None:
    memory = RecurrentMemory(2, 4, RecurrentConfig(size=5, reads_rewards=False))
    inputs = torch.randn(6, 3, 2, generator=torch.Generator().manual_seed(0))
    carry = memory.start(3)
    stepped = []
    for step in inputs:
        carry = memory.read(carry, Seen(step, step, torch.zeros(3, dtype=torch.int64), torch.zeros(3), None))
        stepped.append(memory.feature(carry))
    whole, _ = memory.lstm(inputs)
    assert torch.allclose(torch.stack(stepped), whole, atol=1e-6)
