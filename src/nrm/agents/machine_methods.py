"""Methods that follow a machine: the task's, by its true state (RM) or by a grounder's belief (NRM), or a learned one.

Automata learning is given the true symbols; pure learning is given observations and rewards alone (paper, Table 1).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from nrm.agents.methods import METHODS, Method, Prepared
from nrm.envs import BatchedEnv
from nrm.errors import ConfigError
from nrm.inference import Hypothesis
from nrm.machines import Alphabet, LevelCodec, MooreMachine, equivalent
from nrm.neural import NeuralRewardMachine, named_grounder
from nrm.tracking import (
    Grounding,
    GroundingConfig,
    InferenceConfig,
    Judge,
    LabelledSymbols,
    MachineLearning,
    ObservedSymbols,
    StateMemory,
    SymbolIndex,
    belief_memory,
)


def _prepare_rm(env: BatchedEnv, settings: Any, features: int, seed: int) -> Prepared:  # noqa: ARG001
    return Prepared(StateMemory(env.tasks, env.device, one_hot=env.tasks.either(True, False)))


RM = METHODS.register(
    Method(
        name="rm",
        label="RM",
        knows="is given the task and the true symbols",
        prepare=_prepare_rm,
        colour="#0072b2",
        dark="#4fb0ec",
        dash=(),
        marker="o",
        tracks_states=True,
    )
)


def grounder_on(env: BatchedEnv, name: str, symbols: int, independent: bool = False) -> nn.Module:
    """A fresh grounder of so many symbols, by its registered name. `independent`: each has a probability of its own."""
    made: nn.Module = named_grounder(
        name,
        env.spec.entries or env.shape,
        symbols,
        independent,
        continuous=env.spec.continuous,  # images that cannot be enumerated are of ever new layouts
        one_place=env.spec.local,
        many=env.tasks.either(False, True),
        cells=env.spec.tiled,
        sensor=env.spec.sensor,
    )
    return made


def _prepare(env: BatchedEnv, settings: GroundingConfig, features: int, seed: int) -> Prepared:  # noqa: ARG001
    if env.withheld is not None:
        settings = settings.without_rewards()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed + 1)
        make = partial(grounder_on, env, settings.grounder)
        model = NeuralRewardMachine.made(env.tasks.either(env.machine, env.tasks), make).eval()
    model.to(env.device)
    memory = belief_memory(model, env.frames, settings.first_belief)
    blank = torch.empty(0, *env.shape, dtype=env.dtype)
    fit = settings.fit_config(seed)
    return Prepared(memory, Grounding(model, memory, settings, fit, env.frames, blank, env.withheld))


def _prepare_frozen(env: BatchedEnv, settings: GroundingConfig, features: int, seed: int) -> Prepared:
    prepared = _prepare(env, settings, features, seed)
    assert prepared.grounding is not None
    prepared.grounding.learns = False
    return prepared


NRM = METHODS.register(
    Method(
        name="nrm",
        label="NRM",
        knows="is given the task; learns the symbols",
        prepare=_prepare,
        config=GroundingConfig,
        section="grounding",
        colour="#d55e00",
        dark="#ff8a3c",
        dash=(4, 1.5),
        marker="s",
        tracks_states=True,
        grounds=True,
        unknown="grounding",
    )
)
FROZEN = METHODS.register(
    replace(
        NRM,
        name="frozen",
        label="frozen grounder",
        knows="is given the task; its symbols stay as they are at first, by default random",
        prepare=_prepare_frozen,
        colour="#8c6d46",
        dark="#c9a66b",
        dash=(2, 1),
        marker="d",
        unknown="",
    )
)


def judge_for(env: BatchedEnv, letters: SymbolIndex) -> Judge | None:
    """Whether learned machines are the env's, for evaluation; None where nobody tells what observations mean."""
    if isinstance(letters, LabelledSymbols):
        return partial(_judge_labelled, env.machine, letters)
    assert isinstance(letters, ObservedSymbols)
    if (first := env.probe(1)) is None:
        return None
    if letters.numbers is None or letters.continuous:
        return partial(_judge_read, env, letters)
    meaning = np.zeros(len(letters), dtype=np.int64)
    meaning[letters.numbers] = first.letters.numpy()
    return partial(same_task, env.machine, meaning)


def _judge_labelled(task: MooreMachine, given: LabelledSymbols, known: Hypothesis, values: NDArray[np.float64]) -> bool:
    """By the letters that were given. Those that are single symbols count too where they were not met yet."""
    met = given.letters[: known.letters]
    letters = np.union1d(task.alphabet.symbol_letters, met)
    table = np.repeat(np.arange(known.states)[:, None], len(letters), 1)
    table[:, np.searchsorted(letters, met)] = known.table
    return same_task(task, letters, _with_table(known, table), values)


def _judge_read(
    env: BatchedEnv, letters: ObservedSymbols, known: Hypothesis, values: NDArray[np.float64]
) -> bool | None:
    """By the symbols that a grounder reads: each true letter must be read as one symbol."""
    shown = env.probe(1000)
    if shown is None or letters.known is None or not letters.continuous:
        return None
    read, true = letters.known.read(shown.observations), shown.letters.numpy()
    met = np.unique(true)
    counts = np.zeros((len(met), known.letters), dtype=np.int64)
    np.add.at(counts, (np.searchsorted(met, true), read), 1)
    if (counts.max(1) < 0.99 * counts.sum(1)).any():
        return False
    return same_task(env.machine, met, _with_table(known, known.table[:, counts.argmax(1)]), values)


def _with_table(known: Hypothesis, table: NDArray[np.int64]) -> Hypothesis:
    """A machine with the moves of other letters."""
    return Hypothesis(table, known.levels, np.zeros_like(table), np.zeros(table.shape[1], dtype=np.int64))


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


def _learning(env: BatchedEnv, letters: SymbolIndex, settings: InferenceConfig) -> Prepared:
    """What learns the machine of an env's only task."""
    if env.withheld is not None:
        raise ConfigError("a machine is learned from the rewards of every step; drop --reward terminal")
    inference = MachineLearning(letters, settings, judge_for(env, letters), env.device)
    return Prepared(inference.memory, inference=inference)


def _refused(env: BatchedEnv, letters: SymbolIndex, settings: InferenceConfig) -> Prepared:  # noqa: ARG001
    raise ConfigError(
        "a machine is learned of one task, not of many (--tasks); name one with --task, or use the method nrm"
    )


def _prepare_labelled(env: BatchedEnv, settings: InferenceConfig, features: int, seed: int) -> Prepared:  # noqa: ARG001
    return env.tasks.either(_learning, _refused)(env, LabelledSymbols(env.machine.alphabet), settings)


def _prepare_unlabelled(env: BatchedEnv, settings: InferenceConfig, features: int, seed: int) -> Prepared:  # noqa: ARG001
    blank = torch.empty(0, *env.shape, dtype=env.dtype)
    symbols = ObservedSymbols(env.frames, blank, lambda count: grounder_on(env, "auto", count), seed)
    return env.tasks.either(_learning, _refused)(env, symbols, settings)


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
BOTH = METHODS.register(
    replace(
        MACHINE,
        name="pure-learning",
        label="learned symbols and machine",
        knows="is given neither; learns symbols and machine",
        prepare=_prepare_unlabelled,
        colour="#e6a700",
        dark="#ffd24a",
        dash=(5, 1, 1, 1),
        marker="*",
        unknown="both",
    )
)
