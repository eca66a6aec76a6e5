"""Workers have limits, and are replaced."""

from __future__ import annotations

import pytest

from nrm.errors import LimitError
from nrm.studio.worker import AnswerError, Worker


def test_a_worker_answers_fails_and_is_replaced() -> None:
    worker = Worker(20.0, memory=1 << 30)
    try:
        assert worker.ask("operator:add", 2, 3) == 5
        with pytest.raises(AnswerError, match="division"):
            worker.ask("operator:truediv", 1, 0)
        with pytest.raises(AnswerError, match="memory"):
            worker.ask("operator:mul", b"x", 1 << 32)
        worker._seconds = 0.2
        with pytest.raises(LimitError, match=r"0\.2"):
            worker.ask("time:sleep", 30)
        worker._seconds = 20.0
        with pytest.raises(LimitError, match="died"):
            worker.ask("os:_exit", 1)
        assert worker.ask("operator:add", 2, 3) == 5
    finally:
        worker.close()
