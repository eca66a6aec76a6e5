"""The `nrm` command: one file per subcommand, each a typed configuration with a `run` method."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, cast

from nrm.cli.arguments import UsageError, made_command, read_arguments
from nrm.cli.compile import Check, Compile
from nrm.cli.evaluate import Evaluate
from nrm.cli.explain import Explain
from nrm.cli.fit import Fit
from nrm.cli.grids import Reproduce, Sweep
from nrm.cli.helping import print_help
from nrm.cli.monitor import Monitor
from nrm.cli.report import Report
from nrm.cli.shortcuts import Shortcuts
from nrm.cli.studio import Studio
from nrm.cli.tasks import Tasks
from nrm.cli.train import Train, more_help
from nrm.cli.watch import Watch
from nrm.errors import NrmError, NrmWarning, ShownWarnings, shown, unknown
from nrm.registry import Given, following

_TASKS = (Compile, Check, Monitor, Explain, Shortcuts, Tasks)
_COMMANDS = (*_TASKS, Train, Evaluate, Watch, Fit, Studio, Report, Sweep, Reproduce)
_BY_NAME: dict[str, type[Any]] = {command.__name__.lower(): command for command in _COMMANDS}
_HELP, _HELP_ALL = ("-h", "--help"), "--help-all"
_OVERVIEW = """usage: nrm COMMAND [OPTIONS]

Reinforcement learning from temporal-logic tasks, without labelled symbols.

Formulas
  compile     compile a task to its minimal reward machine
  check       run a trace through a task
  monitor     check logged traces against a rule
  explain     explain a task in words, or compare two tasks
  shortcuts   check which symbols rewards can teach
  tasks       list tasks, patterns and samplers, or sample tasks

Train
  train       train an agent on one task or many
  evaluate    test a trained agent
  watch       show an episode of a trained agent
  fit         learn symbols or a machine from logged episodes

Study
  studio      open a local page to type tasks, watch agents, and follow runs
  report      write an HTML report on all runs in a folder
  sweep       train every combination in a sweep file
  reproduce   repeat the experiments of the paper

'nrm COMMAND --help' shows the options of a command, 'nrm --version' the version.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 0 on success, 1 for a negative answer, 2 for bad input."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show a character gets its number
            stream.reconfigure(errors="backslashreplace")
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", NrmWarning)
            warnings.showwarning = cast(Any, ShownWarnings().show)
            status = _answered(given) if not given or given[0].startswith("-") else _run(given)
        sys.stdout.flush()
    except NrmError as error:
        print(f"nrm: error: {shown(str(error))}", file=sys.stderr)
        status = 2
    except KeyboardInterrupt:
        print("nrm: interrupted", file=sys.stderr)
        status = 130
    except BrokenPipeError:
        # The reader has gone (for example `| head`); nothing more can be said, and Python must not try at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    except OSError as error:
        written = error.filename is None or os.access(error.filename, os.R_OK)
        place = "the output" if error.filename is None else shown(str(error.filename))
        print(f"nrm: error: cannot {'write' if written else 'read'} {place}: {error.strerror}", file=sys.stderr)
        if error.filename is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 2
    sys.exit(status)


def _answered(given: list[str]) -> int:
    """What is asked of no command in particular."""
    if given and given[0] not in (*_HELP, "--version"):
        raise UsageError(f"'{given[0]}' is no command; see nrm --help")
    print(f"nrm {version('neural-reward-machines')}\n" if given == ["--version"] else _OVERVIEW, end="")
    return 0 if given else 2


def _run(typed: list[str]) -> int:
    name, *rest = typed
    with following(Given(tuple(typed), everything="--trust" in typed)):
        if not {*_HELP, _HELP_ALL}.isdisjoint(rest) and name in _BY_NAME:
            words = [word for word in rest if word not in (*_HELP, _HELP_ALL)]
            print_help(name, _BY_NAME[name])
            more_help(name, read_arguments(name, words, _BY_NAME[name]), _HELP_ALL in rest)
            return 0
        status: int = _parsed(typed).run()
        return status


def _parsed(typed: list[str]) -> Any:
    """The command that was typed, with its options; settings are kept as words."""
    name, *rest = typed
    if name not in _BY_NAME:
        raise UsageError(unknown("command", name, _BY_NAME))
    return made_command(_BY_NAME[name], read_arguments(name, rest, _BY_NAME[name]))
