"""A process that answers questions, one after the other; one that takes too long or dies is replaced."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from threading import Lock
from typing import Any

from nrm.errors import LimitError, NrmError, describe, shown
from nrm.registry import received

_WORKER = ("-c", "from nrm.studio.worker import main; main()")
"""What Python is asked to run in a worker."""


class AnswerError(NrmError):
    """A question that has no answer; the message is for its asker."""


class Worker:
    """A process of its own for questions whose work nobody can foresee."""

    def __init__(self, seconds: float, memory: int = 0) -> None:
        """`seconds`: for an answer; `memory`: in bytes, 0 for no limit."""
        self._seconds, self._memory = seconds, memory
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection[Any, Any]

    def ask(self, function: str, *arguments: Any) -> Any:
        """What a function (`module:name`) returns; `AnswerError` where it fails, `LimitError` if it takes too long."""
        with self._lock:
            if self._process is None:
                self._start()
            try:
                self._pipe.send((function, arguments))
                if not self._pipe.poll(self._seconds):
                    self.close()
                    raise LimitError(f"there is no answer within {self._seconds:g} seconds; ask for less")
                fine, answer = self._pipe.recv()
            except (EOFError, OSError):
                self.close()
                raise LimitError("the process that worked on the answer died; ask for less, or once more") from None
        if not fine:
            raise AnswerError(answer)
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._pipe.close()
            self._process.wait()
            self._process = None

    def _start(self) -> None:
        self._pipe, theirs = Pipe()
        command = [sys.executable, *_WORKER, str(theirs.fileno()), str(self._memory)]
        # A session of its own: Ctrl-C in the terminal is for the server, whose end closes the pipe.
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, pass_fds=(theirs.fileno(),), start_new_session=True
        )
        theirs.close()


def main() -> None:
    """Serve the pipe whose descriptor is the first argument, within the memory that is the second."""
    connection: Connection[Any, Any] = Connection(int(sys.argv[1]))
    memory = int(sys.argv[2])
    if memory:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    warnings.simplefilter("ignore")
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # the server has ended
        while True:
            connection.send(answered(*connection.recv()))
    os._exit(0)


def answered(function: str, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    """Whether there is an answer; the answer, or why there is none."""
    module, _, name = function.partition(":")
    try:
        with received():
            return True, getattr(import_module(module), name)(*arguments)
    except MemoryError:
        return False, "there is not enough memory for the answer; ask for less"
    except (Exception, SystemExit) as error:  # environments from outside may raise anything
        return False, shown(describe(error))
