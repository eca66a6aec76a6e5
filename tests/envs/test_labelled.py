from __future__ import annotations

import numpy as np
import torch

from nrm.envs.vector import LabelledRing


def test_environments_take_turns_and_the_last_are_kept() -> None:
    """Observation and letter tell the step and the environment they are of."""
    ring = LabelledRing((1,), torch.float32)
    assert ring.rows() is None
    for step in range(512 + 3):
        values = np.array([10 * step + place for place in range(3)])
        ring.add(torch.tensor(values, dtype=torch.float32)[:, None], values)
    rows = ring.rows()
    assert rows is not None
    observations, letters = rows
    expected = {10 * step + step % 3 for step in range(3, 512 + 3)}
    assert set(letters.tolist()) == expected
    assert len(letters) == 512
    assert torch.equal(observations[:, 0].long(), letters)


def test_a_saved_ring_goes_on_exactly() -> None:
    def filled(ring: LabelledRing, first: int, last: int) -> LabelledRing:
        for step in range(first, last):
            ring.add(torch.full((2, 1), float(step)), np.array([step, -step]))
        return ring

    whole = filled(LabelledRing((1,), torch.float32), 0, 512 + 40)
    begun = filled(LabelledRing((1,), torch.float32), 0, 512 + 5)
    again = LabelledRing((1,), torch.float32)
    again.load_state_dict(begun.state_dict())
    filled(again, 512 + 5, 512 + 40)
    one, other = whole.rows(), again.rows()
    assert one is not None
    assert other is not None
    assert all(map(torch.equal, one, other))
