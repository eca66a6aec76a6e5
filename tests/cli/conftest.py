from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from nrm.cli import main


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str


Nrm = Callable[..., Outcome]


@pytest.fixture
def nrm_command(capsys: pytest.CaptureFixture[str]) -> Nrm:
    """Run the command line in this process."""

    def run(*arguments: str) -> Outcome:
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        printed = capsys.readouterr()
        code = caught.value.code
        return Outcome(code if isinstance(code, int) else 0, printed.out, printed.err)

    return run
