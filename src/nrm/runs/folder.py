"""Run folders: one run, resumable at any moment, with all that its figures need."""

from __future__ import annotations

import json
import os
import platform
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path

import torch

from nrm.agents import Trainer
from nrm.errors import (
    ConfigError,
    EnvError,
    FileError,
    ModuleError,
    NrmError,
    NrmWarning,
    TrainingError,
    UntrustedError,
    listing,
    suggestion,
)
from nrm.files import check_links, parse_json, read_json, read_text, write_json, write_text
from nrm.neural import NeuralRewardMachine, load_model, save_model
from nrm.registry import received
from nrm.runs.checkpoint import (
    GROUNDING,
    METRICS,
    METRICS_FILE,
    POLICY_FILE,
    Column,
    Tables,
    load_checkpoint,
    load_policy,
    load_weights,
    read_columns,
    read_history,
    save_checkpoint,
    save_policy,
)
from nrm.runs.config import RunConfig, extended
from nrm.runs.learned_machines import LearnedMachines
from nrm.runs.lock import LOCK_FILE
from nrm.runs.tasks import TASKS_FILE
from nrm.runs.tensorboard import EventLog


def no_run(path: Path) -> str:
    """Why `path` is no run, and which run may be meant."""
    if path.is_file():
        near = f"; did you mean '{path.parent}'?" if _is_run(path.parent) else "; name the folder of a run"
        return f"{path} is a file, and a run is a folder{near}"
    if found := runs_below(path):
        names = listing(str(run.relative_to(path)) for run in found)
        kind = "the run" if len(found) == 1 else "the runs"
        return f"{path} is no run itself, but holds {kind} {names}; name one, such as {found[0]}"
    begin = f"train one with 'nrm train --task 1 --out {path}'"
    if path.exists():
        return f"{path} holds no run (there is no config.json); {begin}"
    beside = [str(run) for run in runs_below(path.parent)]
    ours = sorted(folder.name for folder in PRETRAINED.glob("*/"))
    near = suggestion(str(path), [*beside, *ours]) or (f"; runs there: {listing(beside)}" if beside else f"; {begin}")
    return f"{path} holds no run (there is no such folder){near}"


def runs_below(folder: Path) -> list[Path]:
    """The runs in a folder and in its folders (a grid keeps its runs in `runs`), in the order of their names."""
    found = (path.parent for pattern in ("*", "*/*") for path in folder.glob(f"{pattern}/config.json"))
    return sorted(filter(_is_run, found))


def _is_run(folder: Path) -> bool:
    """Other programs have a config.json too."""
    return (folder / "config.json").is_file() and (folder / "versions.json").is_file()


GROUNDER_FILE = "grounder.pt"
"""The grounder that a run began with, where it was one of another run or of `nrm fit`."""
FITTED_FILE = "model.pt"
"""The model in a folder that `nrm fit` wrote."""
MAX_SAVING = 0.04
"""The share of a run's time that may go into saving: where a checkpoint is large, the next one comes later."""
_BEGINNING = ".begin-"
_BEGUN = frozenset({"config.json", "versions.json", GROUNDER_FILE, TASKS_FILE, LOCK_FILE})
"""What a folder holds before training has given anything."""


PRETRAINED = Path(__file__).parents[1] / "pretrained"
"""Trained agents that come with the library: folders of runs, with the weights that acting needs and no more."""


class RunFolder:
    """The folder of a run: configuration, checkpoint, weights, metrics and costs.

    File formats are described under Run folders in the reference.
    """

    def __init__(self, path: Path | str, *, trust: bool = False) -> None:
        """`trust`: import the modules that the run names (module:name)."""
        self.path = Path(path).absolute()  # wherever an environment goes in the meantime
        self._said = str(path)
        self.trust = trust
        self._tables: Tables | None = None
        """Those of the trainer that was last loaded or saved."""

    def __str__(self) -> str:
        return self._said

    @property
    def exists(self) -> bool:
        """Whether the folder holds a run."""
        return (self.path / "config.json").exists()

    @contextmanager
    def undone_on_failure(self, new: bool, files: Iterable[str] = ()) -> Iterator[None]:
        """Remove the folder if a new run fails before anything was trained.

        Only files of `begin`, and `files`, are removed. A folder with anything else stays.
        """
        try:
            yield
        except Exception:
            if new and self.exists and {path.name for path in self.path.iterdir()} <= _BEGUN.union(files):
                shutil.rmtree(self.path, ignore_errors=True)
            raise

    def begin(self, config: RunConfig, files: dict[str, str] | None = None) -> Trainer:
        """Create the folder and the first files of a new run; returns the trainer.

        A folder that holds anything else is an error.
        """
        if self.exists:
            what = "another run"
            with suppress(NrmError):  # its code need not be trusted to say so
                what = "this very run" if self.config() == config else what
            raise FileError(f"{self} holds {what} already; nrm train --resume {self}, or choose another --out")
        if self.path.exists() and any(self.path.iterdir()):
            raise FileError(f"{self} is not empty and holds no run; choose another --out")
        config.about.confusable(config)
        parse_json(json.dumps(config.to_json()), "the configuration", error=ConfigError)  # it can be read again
        versions = {name: version(name) for name in ("neural-reward-machines", "torch", "numpy")}
        versions["python"] = platform.python_version()
        if sources := config.sources():
            versions["sources"] = sources
        source = None if config.initial is None else known_model(config)
        trainer = config.build_trainer(None if source is None else source.grounder)
        with whole_folder(self.path) as new:
            if source is not None:
                save_model(new / GROUNDER_FILE, source)
            write_json(new / "versions.json", versions)
            write_json(new / "config.json", config.to_json())
            for name, text in (files or {}).items():
                write_text(new / name, text)
            config.about.keep(new, config)
        self.trust = True  # whoever begins a run has given its names
        return trainer

    def config(self) -> RunConfig:
        """The configuration."""
        path = Path(str(self), "config.json")
        if not self.exists:
            raise FileError(no_run(Path(str(self))))
        try:
            check_links(self.path)
            with received(self.trust):
                return RunConfig.from_json(read_json(self.path / path.name)).within(self.path)
        except (UntrustedError, ModuleError) as error:
            raise type(error)(f"{path}: {error}") from None
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}; {self.way_out}") from None
        except FileError as error:
            raise FileError(f"{error}; {self.way_out}") from None

    def extend(self, total_episodes: int | None = None, total_timesteps: int | None = None) -> None:
        """Extend the run to more episodes or steps."""
        before = self.config()
        longer = extended(before, total_episodes, total_timesteps)
        if longer != before:
            if parted := getattr(before.build_env(1), "unrepeatable", ""):
                why = f"its environment cannot be seeded (two episodes from one seed part at {parted})"
                raise ConfigError(f"the run in {self} cannot be trained further: {why}")
            self.load("cpu")  # a run that cannot go on keeps its length
            write_json(self.path / "config.json", longer.to_json())

    @property
    def way_out(self) -> str:
        """What to do about damaged files, for messages."""
        return f"mend it, or remove {self} to begin that run anew"

    def save(self, trainer: Trainer, cpu_seconds: float | None = None) -> None:
        """Save everything. If the process is killed, the old or the new checkpoint is intact."""
        if self._tables is None or self._tables.history is not trainer.history:
            self._tables = Tables(self.path, trainer.history)
        save_checkpoint(self.path / "checkpoint.pt", trainer, self._tables)
        save_policy(self.path / POLICY_FILE, trainer)
        if trainer.inference is not None:
            LearnedMachines.of(trainer.inference).write(self.path)
        if cpu_seconds is not None:
            cost = {"cpu_seconds": round(cpu_seconds, 3), "steps": trainer.steps}
            write_json(self.path / "cost.json", cost, indent=None)

    def cpu_seconds(self) -> float:
        """CPU seconds so far."""
        path = self.path / "cost.json"
        try:
            return float(read_json(path, dict[str, float])["cpu_seconds"]) if path.exists() else 0.0
        except (FileError, KeyError):
            raise FileError(f"{path} is damaged; remove it (only the count of seconds is lost)") from None

    def steps(self) -> int | None:
        """Steps so far, over all environments; None if unknown."""
        try:
            return int(read_json(self.path / "cost.json", dict[str, float])["steps"])
        except (FileError, KeyError):
            return None

    def load(self, device: str | torch.device | None = None) -> Trainer:
        """The trainer at the last checkpoint, or at the start if there is none.

        `device`: another device than that of the run.
        """
        trainer = self._at_beginning(device)
        path = self.path / "checkpoint.pt"
        if path.exists():
            try:
                self._tables = load_checkpoint(path, trainer)
            except FileError as error:
                raise FileError(f"{error}; {self.way_out}") from None
        elif (self.path / METRICS_FILE).exists():
            raise FileError(f"{path} is missing, although metrics.csv has episodes; {self.way_out}")
        return trainer

    def _at_beginning(self, device: str | torch.device | None) -> Trainer:
        config = self.config()
        config.compare_sources(self.path)
        with received(self.trust):
            taken = None if config.initial is None else load_model(self.path / GROUNDER_FILE).grounder
            return config.build_trainer(taken, device)

    def load_policy(self) -> Trainer:
        """The trainer for acting, on the CPU: its weights only.

        The checkpoint is used if it is newer and whole, or if there is no weights file.
        """
        path, checkpoint = self.path / POLICY_FILE, self.path / "checkpoint.pt"
        saved = [one for one in (path, checkpoint) if one.exists()]
        if not saved and (self.path / METRICS_FILE).exists():
            raise FileError(f"{checkpoint} is missing, although metrics.csv has episodes; {self.way_out}")
        if not saved:
            self.config()  # where there is no run, that is what is said
            raise FileError(f"the run in {self} has no checkpoint yet; use 'nrm train --resume {self}'")
        trainer = self._at_beginning("cpu")
        if max(saved, key=lambda one: one.stat().st_mtime_ns) == checkpoint:
            try:
                load_weights(checkpoint, trainer)
                return trainer
            except FileError as error:
                if not path.exists():
                    raise
                warnings.warn(f"{error}; {path} is read instead", NrmWarning, stacklevel=2)
        load_policy(path, trainer)
        if (self.path / METRICS_FILE).exists():
            text = read_text(self.path / METRICS_FILE)
            trainer.history = read_history(self.path, {METRICS_FILE: [0, text[: text.rfind("\n") + 1]]})
        return trainer

    def metrics(self) -> dict[str, Column]:
        """The columns of metrics.csv."""
        return read_columns(self.path / METRICS_FILE, METRICS)

    def machines(self) -> LearnedMachines | None:
        """The learned machines in order; None if the method learns none."""
        return LearnedMachines.read(self.path)

    def grounding(self) -> dict[str, Column] | None:
        """The columns of grounding.csv; None without a grounder."""
        path = self.path / "grounding.csv"
        return read_columns(path, GROUNDING) if path.exists() else None


def find_run(path: Path | str, *, trust: bool = False) -> RunFolder:
    """The run in a folder, or, if there is no such folder, the pretrained agent of that name."""
    own = not os.path.exists(path) and os.path.isdir(PRETRAINED / path)
    return RunFolder(PRETRAINED / path if own else path, trust=trust)


def model_of(trainer: Trainer) -> NeuralRewardMachine:
    """The neural reward machine of a run; an error for methods that learn no symbols."""
    if trainer.model is None:
        raise ConfigError(f"a run of the method '{trainer.method.name}' has no grounder: it learns no symbols")
    return trainer.model


def known_model(config: RunConfig) -> NeuralRewardMachine:
    """The model whose grounder a run begins with, of a run or of `nrm fit`, once its symbols and observations fit."""
    assert config.initial is not None
    wanted, env = config.alphabet, config.build_env(1)
    fitted = Path(config.initial) / FITTED_FILE
    if fitted.exists():
        model = load_model(fitted)
        fits = _reads(model, torch.zeros((1, *env.shape), dtype=env.dtype))
    else:
        source = RunFolder(config.initial).load_policy()
        model = model_of(source)
        fits = (source.env.shape, source.env.dtype) == (env.shape, env.dtype)
    known = model.machine.alphabet
    if known != wanted:
        both = f"knows {known.kind} {listing(known.symbols)}, and the task {wanted.kind} {listing(wanted.symbols)}"
        raise ConfigError(f"the grounder of {config.initial} {both}: they must be the same, in the same order")
    if not fits:
        shown = f"learned from other observations than {config.env} shows: {env.shape}, {env.dtype}"
        raise ConfigError(f"the grounder of {config.initial} {shown}")
    return model


def _reads(model: NeuralRewardMachine, observations: torch.Tensor) -> bool:
    try:
        model.read(observations)
    except (NrmError, RuntimeError, ValueError, IndexError):
        return False
    return True


def train(
    folder: RunFolder,
    trainer: Trainer,
    seconds: float = 30.0,
    progress: Callable[[Trainer], None] | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> bool:
    """Train with regular checkpoints, to the end or until `interrupted`; returns whether it is complete.

    A run that is stopped or killed and then resumed ends with exactly the metrics of an uninterrupted one. An error
    leaves the last checkpoint intact.
    """
    if parted := getattr(trainer.env, "unrepeatable", ""):
        warnings.warn(
            f"the environment cannot be seeded: two episodes with one seed differ at {parted}. Equal seeds will not "
            "give equal runs, and an interrupted run cannot be resumed",
            NrmWarning,
            stacklevel=2,
        )
    saved, due = len(trainer.history.returns), time.monotonic() + seconds
    earlier, began = folder.cpu_seconds(), time.process_time()
    events = EventLog(folder.path, trainer)
    try:
        while not trainer.done and not interrupted():
            try:
                trainer.update()
            except (TrainingError, EnvError) as error:
                raise type(error)(f"{error}. {_kept(folder, saved)}") from error.__cause__
            events.update(trainer)
            if progress is not None:
                progress(trainer)
            if (now := time.monotonic()) >= due:
                folder.save(trainer, earlier + time.process_time() - began)
                saved, after = len(trainer.history.returns), time.monotonic()
                due = after + max(seconds, (after - now) / MAX_SAVING)
    finally:
        events.close()
    folder.save(trainer, earlier + time.process_time() - began)
    return trainer.done


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, beside `path`; at the end it is moved there. Whoever is killed leaves all of it or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        clear_beginnings(path.parent, older=60.0)
        with tempfile.TemporaryDirectory(prefix=_BEGINNING, dir=path.parent) as temporary:
            new = Path(temporary) / path.name
            new.mkdir()
            yield new
            os.rename(new, path)
    except OSError as error:
        raise FileError(f"cannot make the folder {path}: {error.strerror}") from None


def clear_beginnings(parent: Path, older: float = 0.0) -> None:
    """Remove what is left of folders whose process was killed while it made them, so many seconds ago."""
    for path in parent.glob(f"{_BEGINNING}*"):
        if path.is_dir() and time.time() - path.stat().st_mtime >= older:
            shutil.rmtree(path, ignore_errors=True)


def _kept(folder: RunFolder, episodes: int) -> str:
    if not (folder.path / "checkpoint.pt").exists():
        return f"There is no checkpoint yet in {folder}"
    return f"The checkpoint of episode {episodes} is kept in {folder}"
