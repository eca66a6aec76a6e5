"""The `nrm` command: one file per subcommand, each a typed configuration with a `run` method."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import tyro

from nrm.cli.check import Check
from nrm.cli.compile import Compile
from nrm.cli.evaluate import Evaluate
from nrm.cli.fit import Fit
from nrm.cli.shortcuts import Shortcuts
from nrm.cli.tasks import Tasks
from nrm.cli.train import Train
from nrm.cli.watch import Watch
from nrm.errors import NrmError

Command = (
    Annotated[Compile, tyro.conf.subcommand("compile")]
    | Annotated[Check, tyro.conf.subcommand("check")]
    | Annotated[Fit, tyro.conf.subcommand("fit")]
    | Annotated[Shortcuts, tyro.conf.subcommand("shortcuts")]
    | Annotated[Tasks, tyro.conf.subcommand("tasks")]
    | Annotated[Train, tyro.conf.subcommand("train")]
    | Annotated[Evaluate, tyro.conf.subcommand("evaluate")]
    | Annotated[Watch, tyro.conf.subcommand("watch")]
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 0 on success, 1 for a negative answer, 2 for bad input."""
    command = tyro.cli(
        Command,
        prog="nrm",
        description="Temporal tasks for reinforcement learning whose symbols nobody has defined.",
        args=arguments,
    )
    try:
        status = command.run()
        sys.stdout.flush()
    except NrmError as error:
        print(f"nrm: error: {error}", file=sys.stderr)
        status = 2
    except KeyboardInterrupt:
        print("nrm: interrupted", file=sys.stderr)
        status = 130
    except BrokenPipeError:
        # The reader has gone (for example `| head`); nothing more can be said, and Python must not try at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    sys.exit(status)
