"""Our own agents with a recurrent grounder: trained, saved, resumed and evaluated like any other."""

from __future__ import annotations

import numpy as np

from nrm.agents import evaluate
from tests.agents.test_training import corridor, run, trainer


def test_a_recurrent_grounder_learns_resumes_and_is_evaluated() -> None:
    whole, half, resumed = (trainer(corridor(), "nrm", 120, seed=2, grounder="recurrent") for _ in range(3))
    run(whole)
    assert whole.history.accuracy  # told by the letters of the episodes that were learned from
    assert whole.history.accuracy[-1][3] == 1.0
    resumed.load_state_dict(run(half, whole.updates // 2).state_dict())
    assert run(resumed).history == whole.history
    found = evaluate(whole, corridor(), 16, seed=5, greedy=False)
    assert found.grounding is not None
    assert found.grounding.modulo_shortcuts == 1.0
    assert found.state_accuracy_modulo_shortcuts is not None
    assert np.isfinite(found.mean_return)
