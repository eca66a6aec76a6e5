from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from nrm.studio import Studio
from nrm.studio.questions import Home
from nrm.studio.worker import AnswerError, Worker, answered
from tests.results.folders import many_run, run

NASTY = "<img src=x onerror=alert(1)>"


class Here(Worker):
    """Answers in this process, which has loaded everything."""

    def __init__(self) -> None:
        super().__init__(60.0)
        self._turn = threading.Lock()

    def ask(self, function: str, *arguments: Any) -> Any:
        with self._turn:
            fine, answer = answered(function, arguments)
        if not fine:
            raise AnswerError(answer)
        return answer


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An agent of many tasks, one of one task, a damaged run, and one with an ugly name."""
    root = tmp_path_factory.mktemp("studio")
    many_run(root / "many", "rm", steps=320, count=3)
    run(root / "deep" / NASTY.replace("/", ""), "rm", episodes=8, name=NASTY)
    damaged = run(root / "damaged", "rm", 1, episodes=8)
    (damaged / "config.json").write_text('{"version": ')
    return root


@pytest.fixture(scope="session")
def live(root: Path) -> Iterator[Studio]:
    """A studio that listens."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        studio = Studio(Home(str(root)), door.getsockname()[1])
        studio.workers = dict.fromkeys(studio.workers, Here())
        server = uvicorn.Server(uvicorn.Config(studio.app(), log_level="error", lifespan="off", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [door]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield studio
        server.should_exit = True
        thread.join()
