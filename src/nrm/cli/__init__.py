"""The `nrm` command: one file per subcommand, each a typed configuration with a `run` method."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Union, cast

import tyro

from nrm.cli.check import Check
from nrm.cli.compile import Compile
from nrm.cli.evaluate import Evaluate
from nrm.cli.explain import Explain
from nrm.cli.family_options import with_family_settings
from nrm.cli.fit import Fit
from nrm.cli.repeated import check_repeated, with_new_names
from nrm.cli.report import Report
from nrm.cli.reproduce import Reproduce
from nrm.cli.shortcuts import Shortcuts
from nrm.cli.sweep import Sweep
from nrm.cli.tasks import Tasks
from nrm.cli.train import Train
from nrm.cli.train_arguments import plain_arguments, train_command
from nrm.cli.watch import Watch
from nrm.errors import NrmError, NrmWarning
from nrm.shown_warnings import ShownWarnings

_COMMANDS = (Compile, Check, Explain, Fit, Shortcuts, Tasks, Evaluate, Watch, Reproduce, Sweep, Report)
_WITH_FAMILIES: dict[str, type[Any]] = {"tasks": Tasks, "shortcuts": Shortcuts, "evaluate": Evaluate}
"""Commands that draw tasks of a family, whose settings are options of theirs."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 0 on success, 1 for a negative answer, 2 for bad input."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show a character gets its number
            stream.reconfigure(errors="backslashreplace")
    given = list(sys.argv[1:] if arguments is None else arguments)
    if (here := os.getcwd()) not in sys.path:  # modules of the user's that others of them import
        sys.path.append(here)
    if given == ["--version"]:
        print(f"nrm {version('neural-reward-machines')}")
        sys.exit(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", NrmWarning)
            warnings.showwarning = cast(Any, ShownWarnings().show)
            status = _parsed(given).run()
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
    except OSError as error:
        print(f"nrm: error: cannot write the output: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 2
    sys.exit(status)


def _parsed(given: list[str]) -> Any:
    """The command that the arguments name, with its options."""
    given = with_new_names(given, (*_COMMANDS, Train))
    check_repeated(given, (*_COMMANDS, Train))
    # Which settings a run has depends on what is to be trained, and so do those of a family on the family.
    train = Train
    commands: tuple[type[Any], ...] = _COMMANDS
    if plain := _WITH_FAMILIES.get("".join(given[:1])):
        extended: type[Any] = with_family_settings(plain, given)
        commands = tuple(extended if one is plain else one for one in commands)
    if given[:1] == ["train"]:
        given = plain_arguments(given)
        check_repeated(given, (Train,))  # --env.kwargs beside --env.kwargs.size
        train, given = train_command(given)
    command: Any = tyro.cli(
        cast(Any, Union[(*commands, train)]),
        prog="nrm",
        description="Temporal tasks for reinforcement learning whose symbols nobody has defined.",
        args=given,
        config=(tyro.conf.DisallowNone,),  # help says STR, not {None}|STR
    )
    return command
