"""Options that several commands have, each declared once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from nrm.automata import DEFAULT_LIMITS, Limits
from nrm.cli.arguments import UsageError
from nrm.errors import NrmError, shorten
from nrm.logic import (
    DEFAULT_LOGIC,
    LOOKS_BACK,
    check_named,
    is_infinite,
    is_paper_task,
    looks_back,
    named_formula,
    read_formula,
)
from nrm.machines import (
    AlphabetSettings,
    InfiniteMachine,
    MooreMachine,
    RewardScheme,
    Task,
    alphabet_of,
    is_machine_file,
    load_infinite,
    load_machine,
    load_task,
    own_alphabet,
    split_names,
    unsatisfiable,
    with_rewards,
)
from nrm.runs import LogicOption, SettingsOption
from nrm.samplers import Sampler, sampler_of
from nrm.settings import Checked, Count, SeedSetting, StatesSetting

_TXT = {
    "terminal": ("fall_off", "terminal"),
    "terminal_edge": ("fall_off", "terminal_edge"),
    "first": ("overlap", "first"),
    "rewards": ("outputs", "rewards"),
}
"""What the values of --txt are to `load_machine`."""


@dataclass(frozen=True, kw_only=True)
class Command(Checked):
    """What the command line can be asked to do: its fields are options."""

    error: ClassVar[type[NrmError]] = UsageError
    arguments: ClassVar[tuple[str, ...]] = ()
    """Options whose values may stand behind the command without their names."""

    trust: bool = False
    """Import the modules that files name (module:name), such as a run's own environment."""

    def run(self) -> int:
        """Do it; the exit status."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class JsonOption(Command):
    """Commands that programs may read."""

    json: bool = False
    """Print JSON."""


@dataclass(frozen=True, kw_only=True)
class SeedOption(Command, SeedSetting):
    """Commands with chance in them."""

    usual: ClassVar = {"seed": 0}


@dataclass(frozen=True, kw_only=True)
class OutOption(Command):
    """Commands that write."""

    out: Path | None = None
    """Where to write: a file or a folder."""


@dataclass(frozen=True, kw_only=True)
class WorkOptions(OutOption):
    """Commands that take a while."""

    quiet: bool = False
    """Show no progress."""


@dataclass(frozen=True, kw_only=True)
class TaskOptions(Command, LogicOption):
    """A task."""

    task: str | None = None
    """A formula such as "F a & G !b", a paper task (1 to 8, or its name), a task file (.toml), or a machine file
    (.json, .dot, .hoa, .txt)."""

    @property
    def says_everything(self) -> bool:
        """Whether the task is no formula, but the name of a task or a file."""
        text = self.task or ""
        return text.endswith(".toml") or is_machine_file(text) or is_paper_task(text)

    @property
    def task_text(self) -> str | None:
        """The task as one text, with the language of a formula in front of it."""
        if self.logic == DEFAULT_LOGIC:
            return self.task
        if self.task is None or self.says_everything:
            raise UsageError(f"--logic {self.logic} needs a formula as the task; add one, or drop --logic")
        check_named(self.task, self.logic)
        return named_formula(self.task, self.logic)


@dataclass(frozen=True, kw_only=True)
class FileArgument(Command):
    """Commands that read a file."""

    arguments: ClassVar[tuple[str, ...]] = ("file",)
    file: str
    """nrm sweep: a sweep file (.toml). nrm fit: episodes, as an .npz file, as minari:ID, or as a .csv or .parquet table
    with a row a step and columns recording, time, features and reward or verdict. nrm monitor: recordings; - is
    standard input."""


@dataclass(frozen=True, kw_only=True)
class RewardOption(Command):
    """What a task pays."""

    reward: str | None = None
    """Reward scheme: distance (the default), three_value, acceptance, distinct, value_iteration, terminal (distance,
    paid at the end of an episode), or a potential per state: 0,50,100."""


@dataclass(frozen=True, kw_only=True)
class FolderArgument(Command):
    """Commands about what was trained."""

    arguments: ClassVar = ("folder",)
    folder: Path
    """The folder of a run, or the name of a pretrained agent. A report takes any folder that contains runs,
    and so does the studio, by default the current one."""


@dataclass(frozen=True, kw_only=True)
class AgentOptions(FolderArgument, TaskOptions, SeedOption):
    """A trained agent, and what it is tested on."""

    usual: ClassVar = {"seed": 12345}


@dataclass(frozen=True, kw_only=True)
class CountOption(Command):
    """Commands that list or sample something."""

    count: Count | None = None
    """Number of tasks to sample, or of symbol mappings to list."""


@dataclass(frozen=True, kw_only=True)
class FamilyOptions(CountOption, SettingsOption):
    """Tasks that are sampled from a family."""

    family: str | None = None
    """Task sampler: a name from 'nrm tasks', file:PATH for the formulas of a file, or module:name. Its settings are
    options: --family reach --family.max-steps 5."""

    def chosen_family(self) -> Sampler | None:
        """The family of that name, with the settings that it was given; None where there is none."""
        if self.family is None:
            if self.settings:
                section, values = next(iter(self.settings.items()))
                named = f"--{section}.{next(iter(values))}"
                raise UsageError(f"{named} is a setting of a task sampler; name the sampler: --family NAME")
            return None
        if not self.settings:
            return sampler_of(self.family)
        from nrm.runs import changed

        found: Sampler = changed({"family": sampler_of(self.family)}, self.settings)["family"]
        return found


@dataclass(frozen=True)
class Source:
    """A machine, and what is known of where it comes from."""

    machine: MooreMachine
    title: str
    """The formula, or the name of the machine file."""
    scheme: RewardScheme | None
    """The reward scheme; None when a machine file says the potentials."""
    from_file: bool = False
    paid: bool = False
    """Whether the outputs are what a step pays, instead of potentials."""
    looks_back: bool = False
    """Whether the formula is of LTLf and looks back only."""
    infinite: InfiniteMachine | None = None
    """The infinite task that the machine is of, with sets of marks for outputs."""

    @property
    def notes(self) -> list[str]:
        """What is odd about the task: that it can never be satisfied, always is, or is from the start."""
        machine = self.machine
        if self.infinite is not None:
            live = self.infinite.live[machine.initial]
            return [] if live else [f"the task {unsatisfiable(machine.alphabet)}: its acceptance cannot be reached"]
        if not machine.accepting.any():
            back = f". {LOOKS_BACK}" if self.looks_back else ""
            return [f"the task {unsatisfiable(machine.alphabet)}: no state is accepting{back}"]
        if machine.accepting.all():
            return ["the task is always satisfied: every trace is accepted"]
        if not machine.accepting[machine.initial]:
            return []
        safety = ", and can only be violated" if (machine.accepting | machine.dead).all() else ""
        return [f"the task holds before the first step{safety}; to train on it, add --end limit to nrm train"]


@dataclass(frozen=True, kw_only=True)
class MachineOptions(TaskOptions, RewardOption, AlphabetSettings, StatesSetting):
    """A task, and how its machine is made."""

    arguments: ClassVar[tuple[str, ...]] = ("task",)
    usual: ClassVar = {"max_states": DEFAULT_LIMITS.states}
    txt: tuple[Literal["terminal", "terminal_edge", "first", "rewards"], ...] = ()
    """How to read a .txt file. If no edge matches, the episode ends with reward 0 (terminal), or with the reward of the
    last edge to a terminal state (terminal_edge). If several match, the first is taken (first). States output rewards
    instead of potentials (rewards). May be repeated."""

    @property
    def limits(self) -> Limits:
        """The work that compiling may do."""
        return Limits(states=self.max_states)

    def resolve(self) -> Task:
        """The task that the options name."""
        text, alphabet = self.task_text, alphabet_of(self.symbols, self.propositions)
        if text is None:
            raise UsageError('no task is given; give one, such as "F a & G !b", 3, or TASK.toml')
        if is_machine_file(text):
            raise UsageError(f"'{text}' is a machine file, not a formula; 'nrm compile' shows it")
        if self.txt:
            raise UsageError("--txt is for machine files (.txt) only; drop it")
        if text.endswith(".toml"):
            if alphabet is not None:
                raise UsageError("a task file names its own symbols; drop --symbols and --propositions")
            task = load_task(text)
        elif is_paper_task(text):
            task = Task.from_paper(text, alphabet)
        else:
            formula, logic = read_formula(str(self.task), self.logic)
            task = Task(formula, alphabet or own_alphabet(formula), name=text, logic=logic)
        return task if self.reward is None else replace(task, reward=reward_from_text(self.reward))

    def title(self, task: Task) -> str:
        """The formula of a task; of one that was typed the text itself."""
        return task.title if self.says_everything else shorten(" ".join(task.name.split()), 400)

    def any_source(self) -> Source:
        """The machine that the options name, of finite or infinite traces."""
        if is_infinite(self.logic) and (self.task or "").endswith(".hoa"):
            loaded, title = load_infinite(str(self.task)), Path(str(self.task)).name
        elif is_machine_file(self.task_text or "") or not (task := self.resolve()).is_infinite:
            return self.source()
        else:
            loaded, title = InfiniteMachine.of(task, self.limits), self.title(task)
        return Source(loaded.moore, title, None, infinite=loaded)

    def source(self) -> Source:
        """The machine that the options name."""
        if self.task_text is None or not is_machine_file(self.task_text):
            task = self.resolve()
            back = task.logic == DEFAULT_LOGIC and looks_back(task.formula)
            return Source(task.machine(self.limits), self.title(task), task.reward, looks_back=back)
        how: dict[str, Any] = dict(_TXT[way] for way in self.txt)
        if len(how) < len(self.txt):
            raise UsageError(f"--txt {' --txt '.join(self.txt)} contradict each other; give one of them")
        loaded = load_machine(self.task_text, symbols=alphabet_of(self.symbols, self.propositions), **how)
        name = Path(self.task_text).name
        if self.reward is None:
            return Source(loaded, name, None, from_file=True, paid="outputs" in how)
        scheme = reward_from_text(self.reward)
        return Source(with_rewards(loaded, scheme), name, scheme, from_file=True)


def reward_from_text(text: str) -> RewardScheme:
    """A scheme's name, or custom potentials: `0,50,100`."""
    parts = split_names(text)
    try:
        return tuple(float(part) for part in parts)
    except ValueError:
        if len(parts) != 1:
            raise UsageError(f"--reward takes a scheme's name or numbers separated by commas, not '{text}'") from None
        return text
