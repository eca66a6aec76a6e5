"""Methods that learn the task's machine from rewards while acting, and how their machines are judged.

Automata learning is given the true symbols; pure learning is given observations and rewards alone (paper, Table 1).
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from nrm.agents.devices import device_of
from nrm.agents.machine_methods import grounder_on
from nrm.agents.methods import METHODS, Method, Prepared
from nrm.envs import BatchedEnv, Probe, ProbedEnv, tasks_of
from nrm.errors import ConfigError
from nrm.inference import Hypothesis
from nrm.machines import Alphabet, LevelCodec, MooreMachine, equivalent
from nrm.tracking import (
    MAX_LETTERS,
    InferenceConfig,
    Judge,
    LabelledSymbols,
    ListedSymbols,
    MachineLearning,
    ObservedSymbols,
    SymbolIndex,
)

PROBES = 1000
"""Drawn observations on which symbols are judged that a grounder reads."""
READ = 0.99
"""Share of a letter's observations that must be read as one symbol."""


def check_one_task(env: BatchedEnv, method: str) -> None:
    """Raise `ConfigError` where every episode has another task: there is no one machine to learn."""
    if tasks_of(env) is not None:
        raise ConfigError(
            f"the method '{method}' learns the machine of one task, but every episode has another one here (--tasks); "
            "name one with --task, or use the method nrm"
        )


def judge_for(env: BatchedEnv, letters: SymbolIndex) -> Judge | None:
    """Whether learned machines are the env's, for evaluation; None where nobody tells what observations mean."""
    if isinstance(letters, LabelledSymbols):
        return _judge_told(env.machine, letters)
    if isinstance(letters, ObservedSymbols):
        return _judge_read(env, letters)
    labels = env.true_labels()
    if labels is None or not isinstance(letters, ListedSymbols):
        return None
    meaning = np.zeros(len(letters), dtype=np.int64)
    meaning[letters.numbers] = labels.numpy()
    return lambda known, values: same_task(env.machine, meaning, known, values)


def _judge_told(task: MooreMachine, told: LabelledSymbols) -> Judge:
    """The same for letters that are told. Of an exclusive alphabet all count, those that were not met yet too."""

    def judge(known: Hypothesis, values: NDArray[np.float64]) -> bool:
        met = told.letters[: known.letters]
        if not task.alphabet.is_exclusive:
            return same_task(task, np.array(met), known, values)
        table = np.repeat(np.arange(known.states)[:, None], task.alphabet.size, 1)
        table[:, met] = known.table
        symbols = np.zeros(task.alphabet.size, dtype=np.int64)
        whole = Hypothesis(table, known.levels, np.zeros_like(table), symbols)
        return same_task(task, np.arange(task.alphabet.size), whole, values)

    return judge


def _judge_read(env: BatchedEnv, letters: ObservedSymbols) -> Judge | None:
    """The same for symbols that a grounder reads: it must read each true letter as one symbol, on drawn observations.

    None where the environment draws none.
    """
    if env.frames is None and not isinstance(env, ProbedEnv):
        return None
    shown: list[Probe] = []

    def judge(known: Hypothesis, values: NDArray[np.float64]) -> bool | None:
        if letters.known is None or not letters.continuous:
            return None
        if not shown:
            shown.append(_shown(env))
        read, true = letters.known.read(shown[0].observations), shown[0].letters.numpy()
        met = np.unique(true)
        counts = np.zeros((len(met), known.letters), dtype=np.int64)
        np.add.at(counts, (np.searchsorted(met, true), read), 1)
        if (counts.max(1) < READ * counts.sum(1)).any():
            return False
        table = known.table[:, counts.argmax(1)]
        whole = Hypothesis(table, known.levels, np.zeros_like(table), np.zeros(len(met), dtype=np.int64))
        return same_task(env.machine, met, whole, values)

    return judge


def _shown(env: BatchedEnv) -> Probe:
    """Observations whose letters are known."""
    if env.frames is not None:
        labels = env.true_labels()
        assert labels is not None
        return Probe(env.frames, labels, torch.ones(len(labels)), 0.5)
    assert isinstance(env, ProbedEnv)
    return env.probe(PROBES, 0)


def same_task(task: MooreMachine, meaning: NDArray[np.int64], known: Hypothesis, values: NDArray[np.float64]) -> bool:
    """Whether a learned machine shows the task's potentials on all letters it knows, until the task is done or lost.

    `meaning`: (letters,) the true letter of each letter; `values`: (potentials,) of the learned machine, from 0.
    """
    meaning = meaning[: known.letters]
    codec = LevelCodec.of(task)
    reached = values + float(task.outputs[task.initial])
    if not codec.fits(reached).all():
        return False
    names = Alphabet.exclusive(f"o{number}" for number in range(known.letters))
    table = task.transitions[:, meaning].copy()
    over = np.flatnonzero(task.accepting | task.dead)
    table[over] = over[:, None]
    truth = MooreMachine.from_table(names, table, task.accepting, task.outputs, task.initial)
    return equivalent(known.machine(codec.levels[codec.nearest(reached)], names.symbols), truth, acceptance=False)


class LearnedStates:
    """How often each state of a learned machine was believed in each true one."""

    def __init__(self, task: MooreMachine, learned: int) -> None:
        """`learned`: how many states the learned machine has."""
        self._task = task
        self._counts = np.zeros((task.states, learned), dtype=np.int64)
        self._went_on = np.zeros(task.states, dtype=np.bool_)

    def add(self, true: NDArray[np.int64], believed: NDArray[np.int64], done: NDArray[np.bool_]) -> None:
        """Some steps (n,): the true state that each led to, the learned one, and whether an episode ended there."""
        np.add.at(self._counts, (true, believed), 1)
        self._went_on[true[~done]] = True

    def accuracy(self) -> float | None:
        """The share of steps at which the learned state is the true one; None where there are no steps.

        Numbers of learned states mean nothing by themselves: each stands for the true one in which it was believed most
        often. True states that no reward tells apart before an episode ends count as one.
        """
        total = self._counts.sum()
        if not total:
            return None
        ends = np.flatnonzero(self._counts.any(1) & ~self._went_on).astype(np.int32)
        alike = self._task.moves.halted(ends).congruence(self._task.level_of_state)
        counts = np.zeros((int(alike.max()) + 1, self._counts.shape[1]), dtype=np.int64)
        np.add.at(counts, alike, self._counts)
        return float(counts.max(0).sum() / total)


def _prepare_labelled(env: BatchedEnv, settings: InferenceConfig, features: int, seed: int) -> Prepared:  # noqa: ARG001
    check_one_task(env, "automata-learning")
    letters = LabelledSymbols(env.machine.alphabet)
    inference = MachineLearning(letters, settings, judge_for(env, letters), device_of(env))
    return Prepared(inference.memory, inference=inference)


MACHINE = METHODS.register(
    Method(
        name="automata-learning",
        label="learned machine",
        knows="is given the true symbols; learns the task's machine",
        prepare=_prepare_labelled,
        config=InferenceConfig,
        section="inference",
        colour="#cc79a7",
        dark="#f0a3cd",
        dash=(8, 2),
        marker="P",
        unknown="machine",
    )
)


def _prepare_unlabelled(env: BatchedEnv, settings: InferenceConfig, features: int, seed: int) -> Prepared:  # noqa: ARG001
    check_one_task(env, "pure-learning")
    letters: SymbolIndex
    if env.frames is not None and len(env.frames) <= MAX_LETTERS:
        letters = ListedSymbols(env.frames)
    else:
        blank = torch.empty(0, *env.shape, dtype=env.dtype)
        letters = ObservedSymbols(None, blank, lambda count: grounder_on(env, "auto", count), env.frames, seed)
    inference = MachineLearning(letters, settings, judge_for(env, letters), device_of(env))
    return Prepared(inference.memory, inference=inference)


BOTH = METHODS.register(
    Method(
        name="pure-learning",
        label="learned symbols and machine",
        knows="is given neither; learns symbols and machine",
        prepare=_prepare_unlabelled,
        config=InferenceConfig,
        section="inference",
        colour="#e6a700",
        dark="#ffd24a",
        dash=(5, 1, 1, 1),
        marker="*",
        unknown="both",
    )
)
