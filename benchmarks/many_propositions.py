"""Neural reward machines over many independent propositions: the time of a pass, and what rewards teach.

*Time*: a forward and a backward pass of the likelihood on a fixed machine of four states (first a key, then a door,
never a hazard) while the number of propositions grows from 2 to 40: by counting the classes of letters in their
decision diagram, and by the probabilities of all 2^n letters where these can be made. Both give the same loss and the
same gradient, which is checked. *Learning*: the task with twelve propositions, of which any may hold at a step, from
random episodes and their rewards alone; observations are a noisy mixture of the propositions.

Rewards cannot teach which hazard is which: all of them have the same effect. So what is counted is how often an
observation is read as a letter of the right class, and of the propositions how often key and door, and whether there is
any hazard, are read right where it matters: at steps at which the class depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
import tyro
from torch import Tensor

import nrm
from benchmarks.common import processor_seconds, report, timed
from nrm import FitConfig, MooreMachine
from nrm.neural import EpisodeBatch, EpisodeBuffer, MlpGrounder, NeuralRewardMachine, ProbabilisticMoore, sequence

MAX_LETTERS = 2**12
"""Letters up to which their probabilities are made at every step of the batch of the time table."""


@dataclass(frozen=True)
class Config:
    """Measure machines over many propositions."""

    out: Path = Path("out/bench")
    """Where the tables go."""
    counts: tuple[int, ...] = (2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40)
    """Numbers of propositions of the time table."""
    batch: tuple[int, int] = (40, 50)
    """Its episodes, and steps of each."""
    propositions: int = 12
    """Of the task to be learned; 0 leaves learning out."""
    episodes: int = 600
    """Episodes to learn from."""
    steps: int = 20
    """Steps of an episode."""
    noise: float = 0.3
    """Standard deviation of what is added to each number of an observation."""
    seeds: tuple[int, ...] = (800, 801, 802, 803, 804)
    """Of the learning table: environment, episodes and fresh parameters."""


def machine_of(count: int) -> MooreMachine:
    """First a key, then a door, and never a hazard, of which there are all other propositions."""
    hazards = [f"hazard{number}" for number in range(1, count - 1)]
    names = ["key", "door", *hazards]
    formula = " & ".join(["F(key & X F door)", *(f"G !{name}" for name in hazards)])
    return nrm.compile(formula, nrm.Alphabet.propositional(names))


class Given(torch.nn.Module):
    """The grounder of the time table: observations are logits."""

    def forward(self, logits: Tensor) -> Tensor:
        """(n, propositions) probabilities."""
        return torch.sigmoid(logits)


def of_all_letters(machine: MooreMachine) -> NeuralRewardMachine:
    """The same model by the probabilities of all 2^n letters."""
    module = ProbabilisticMoore.from_machine(machine, joint=True)
    module.counting = None
    return NeuralRewardMachine(Given(), module, emission="independent")


def drawn(machine: MooreMachine, episodes: int, steps: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(episodes, steps, propositions) what holds, with few hazards, and (episodes, steps) the potentials."""
    count = len(machine.alphabet.symbols)
    shares = np.array([0.25, 0.25, *[0.1 / max(1, count - 2)] * (count - 2)])
    truth = rng.random((episodes, steps, count)) < shares
    levels = np.empty((episodes, steps), dtype=np.int64)
    for episode in range(episodes):
        state = machine.initial
        for step in range(steps):
            letter = sum(1 << int(bit) for bit in np.flatnonzero(truth[episode, step]))
            state = machine.next_state(state, letter)
            levels[episode, step] = machine.level_of_state[state]
    return truth, levels


def time_table(config: Config) -> list[list[object]]:
    """A row for each number of propositions."""
    rows: list[list[object]] = []
    episodes, steps = config.batch
    for count in config.counts:
        machine = machine_of(count)
        model = NeuralRewardMachine(Given(), machine, emission="independent")
        truth, levels = drawn(machine, episodes, steps, np.random.default_rng(0))
        generator = torch.Generator().manual_seed(0)
        logits = torch.randn(episodes * steps, count, generator=generator) + 3 * (
            2 * torch.tensor(truth.reshape(-1, count), dtype=torch.float32) - 1
        )
        logits.requires_grad_()
        batch = EpisodeBatch(
            logits,
            torch.arange(len(logits)).view(episodes, steps),
            torch.tensor(levels),
            torch.full((episodes,), steps),
            torch.full((episodes,), -1),
        )

        def work(net: NeuralRewardMachine) -> tuple[Tensor, Tensor]:
            loss = sequence(net, batch, net.ground(logits, check=False))  # noqa: B023 - called at once
            return loss, torch.autograd.grad(loss, logits)[0]  # noqa: B023

        (loss, gradient), seconds = timed(partial(work, model), 1.0, clock=processor_seconds)
        plain: object = "-"
        if machine.alphabet.size <= MAX_LETTERS:
            twin = of_all_letters(machine)
            (true_loss, true_gradient), plain_seconds = timed(partial(work, twin), 1.0, clock=processor_seconds)
            torch.testing.assert_close(loss, true_loss, rtol=1e-4, atol=1e-6)
            torch.testing.assert_close(gradient, true_gradient, rtol=1e-3, atol=1e-6)
            plain = 1e3 * plain_seconds
        nodes = machine.moves.extent
        rows.append([count, machine.states, machine.classes, nodes, 1e3 * seconds, plain])
        print(*rows[-1], flush=True)
    return rows


def learned(config: Config, seed: int) -> list[object]:
    """One environment, its episodes, and what was learned from their rewards."""
    machine = machine_of(config.propositions)
    rng = np.random.default_rng(seed)
    mixture = rng.standard_normal((config.propositions, 2 * config.propositions))
    truth, levels = drawn(machine, config.episodes, config.steps, rng)

    def seen(truths: np.ndarray) -> np.ndarray:
        noise = config.noise * rng.standard_normal((*truths.shape[:-1], mixture.shape[1]))
        return ((2.0 * truths - 1) @ mixture + noise).astype(np.float32)

    buffer = EpisodeBuffer.for_machine(machine)
    observations = seen(truth)
    paid = np.diff(machine.levels[levels], axis=1, prepend=machine.outputs[machine.initial])
    for episode in range(config.episodes):
        buffer.add(observations[episode], rewards=paid[episode])
    torch.manual_seed(seed)
    grounder = MlpGrounder(mixture.shape[1], config.propositions, independent=True)
    model = NeuralRewardMachine(grounder, machine, emission="independent")
    started = processor_seconds()
    nrm.fit(model, buffer, config=FitConfig(seed=seed))
    seconds = processor_seconds() - started
    # Fresh steps, at which everything holds half as often as not but for hazards.
    fresh, _ = drawn(machine, 200, config.steps, rng)
    fresh = fresh.reshape(-1, config.propositions)
    with torch.no_grad():
        said = model.ground(torch.from_numpy(seen(fresh))).numpy() > 0.5
    letters = [[sum(1 << int(bit) for bit in np.flatnonzero(row)) for row in rows] for rows in (fresh, said)]
    true, read = (np.array([machine.class_of(letter) for letter in side]) for side in letters)
    hazard, called = fresh[:, 2:].any(1), said[:, 2:].any(1)
    calm = ~hazard
    return [
        seed,
        100 * float((true == read).mean()),
        100 * float((fresh[calm, 0] == said[calm, 0]).mean()),
        100 * float((fresh[calm, 1] == said[calm, 1]).mean()),
        100 * float((hazard == called).mean()),
        100 * float((fresh == said).mean()),
        seconds,
    ]


def main(config: Config) -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    headings = ["propositions", "states", "classes", "diagram nodes", "ours (ms)", "all 2^n letters (ms)"]
    if config.counts:
        title = f"Forward and backward, {config.batch[0]} episodes of {config.batch[1]} steps"
        report(title, headings, time_table(config), config.out, "many_propositions_time")
    if config.propositions:
        rows = []
        for seed in config.seeds:
            rows.append(learned(config, seed))
            print(*rows[-1], flush=True)
        headings = ["seed", "right class (%)", "key (%)", "door (%)", "any hazard (%)", "each as named (%)", "CPU s"]
        title = f"{config.propositions} propositions from rewards alone, {config.episodes} episodes"
        report(title, headings, rows, config.out, "many_propositions_learning")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
