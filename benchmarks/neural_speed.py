"""Forward and backward through a neural reward machine: batched beside a plain loop over steps and letters, in one run.

The plain loop is the paper's equation as it is printed: for each step, for each letter, belief times matrix times
probability, and it conditions on the observed potentials for the likelihood. Also: how memory grows with length, and
what grounding distinct images once gains.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from torch import Tensor, nn

import nrm
from benchmarks import envs
from benchmarks.common import report, timed
from nrm import MooreMachine
from nrm.neural import CnnGrounder, EpisodeBatch, EpisodeBuffer, NeuralRewardMachine, marginal, sequence


@dataclass(frozen=True)
class Config:
    """Measure the neural reward machine."""

    out: Path = Path("out/bench")
    """Where the tables go."""
    task: int = 1
    """Which of the paper's tasks."""
    sizes: tuple[tuple[int, int], ...] = ((120, 50), (16, 10_000))
    """Batches to measure: episodes, and steps of each."""


def batch_of(machine: MooreMachine, episodes: int, steps: int) -> tuple[EpisodeBatch, Tensor]:
    """Random letters with their true potentials, and scores of a grounder that leans to the truth."""
    generator = np.random.default_rng(0)
    letters = generator.integers(machine.alphabet.size, size=(episodes, steps))
    levels = np.empty_like(letters)
    state = np.full(episodes, machine.initial)
    for step in range(steps):
        state = machine.transitions[state, letters[:, step]]
        levels[:, step] = machine.level_of_state[state]
    count = episodes * steps
    scores = torch.randn(count, machine.alphabet.size, generator=torch.Generator().manual_seed(0))
    scores[torch.arange(count), torch.from_numpy(letters.reshape(-1))] += 3
    seen = torch.arange(count).view(episodes, steps)
    lengths = torch.full((episodes,), steps)
    batch = EpisodeBatch(scores, seen, torch.from_numpy(levels), lengths, -torch.ones_like(lengths))
    return batch, scores.requires_grad_()


def plain_loss(machine: MooreMachine, scores: Tensor, batch: EpisodeBatch, observe: bool) -> Tensor:
    """The loss a step by a loop over steps and letters; with `observe`, beliefs are filtered by potentials."""
    moves = nn.functional.one_hot(torch.tensor(machine.transitions.T, dtype=torch.int64), machine.states).float()
    shows = nn.functional.one_hot(torch.tensor(machine.level_of_state, dtype=torch.int64)).float()
    symbols = torch.softmax(scores, -1)[batch.seen]
    belief = torch.zeros(len(batch.lengths), machine.states)
    belief[:, machine.initial] = 1
    total = torch.zeros(len(batch.lengths))
    # Taken apart once: indexing inside the loop would make the backward pass quadratic in the length.
    for step, chances in enumerate(symbols.unbind(1)):
        ahead = torch.zeros_like(belief)
        for letter, chance in enumerate(chances.unbind(1)):
            ahead = ahead + chance.unsqueeze(1) * (belief @ moves[letter])
        weighed = ahead * shows.t()[batch.levels[:, step]]
        likelihood = weighed.sum(-1, keepdim=True)
        total = total - likelihood.squeeze(-1).clamp_min(1e-38).log()
        belief = weighed / likelihood if observe else ahead
    return total.sum() / batch.steps


class Softmax(nn.Module):
    """The grounder of this benchmark: observations are scores."""

    def forward(self, scores: Tensor) -> Tensor:
        """(n, letters) probabilities."""
        return torch.softmax(scores, -1)


def speed(machine: MooreMachine, config: Config) -> list[list[object]]:
    model = NeuralRewardMachine(Softmax(), machine)
    rows: list[list[object]] = []
    for episodes, steps in config.sizes:
        batch, scores = batch_of(machine, episodes, steps)
        for name, ours in (("sequence", sequence), ("marginal", marginal)):

            def fast() -> tuple[Tensor, Tensor]:
                loss = ours(model, batch, model.ground(scores, check=False))  # noqa: B023 - called at once
                return loss, torch.autograd.grad(loss, scores)[0]  # noqa: B023

            def slow() -> tuple[Tensor, Tensor]:
                loss = plain_loss(machine, scores, batch, name == "sequence")  # noqa: B023
                return loss, torch.autograd.grad(loss, scores)[0]  # noqa: B023

            (loss, gradient), quick = timed(fast, 2.0, 100)
            (true_loss, true_gradient), long = timed(slow, 2.0)
            torch.testing.assert_close(loss, true_loss, rtol=1e-3, atol=1e-4)
            torch.testing.assert_close(gradient, true_gradient, rtol=1e-2, atol=1e-5)
            rows.append([f"{episodes} x {steps:,}", name, 1000 * quick, 1000 * long, f"{long / quick:.1f}x"])
            print(*rows[-1], flush=True)
    return rows


def memory(machine: MooreMachine) -> list[list[object]]:
    """Bytes kept for the backward pass, by length."""
    model = NeuralRewardMachine(Softmax(), machine)
    rows: list[list[object]] = []
    base = 0.0
    for steps in (1_250, 2_500, 5_000, 10_000):
        batch, scores = batch_of(machine, 16, steps)
        kept = 0

        def keep(tensor: Tensor) -> Tensor:
            nonlocal kept
            kept += tensor.numel() * tensor.element_size()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            sequence(model, batch, model.ground(scores, check=False))
        base = base or kept
        rows.append([f"16 x {steps:,}", kept / 1e6, kept / (16 * steps), f"{kept / base:.2f}x"])
    return rows


def distinct_images(machine: MooreMachine) -> list[list[object]]:
    """One pass over twelve image episodes, grounding each distinct image once or every step."""
    buffer = EpisodeBuffer.for_machine(machine)
    for episode in envs.record_many(machine, 12, 0):
        buffer.add(envs.as_images(episode.cells), rewards=episode.rewards)
    model = NeuralRewardMachine(CnnGrounder(len(envs.SYMBOLS)), machine)
    parameters = list(model.grounder.parameters())
    times = []
    for distinct in (True, False):
        batch = buffer.batch(distinct=distinct)

        def work() -> None:
            loss = sequence(model, batch, model.ground(batch.observations, check=False))  # noqa: B023
            torch.autograd.grad(loss, parameters)

        times.append(timed(work, 0.5)[1])
    steps = buffer.steps
    return [
        [f"{steps} steps, {buffer.distinct} distinct", 1000 * times[0], 1000 * times[1], f"{times[1] / times[0]:.1f}x"]
    ]


def main(config: Config) -> None:
    torch.set_num_threads(1)
    machine = nrm.compile(nrm.logic.paper_task(config.task).formula(envs.SYMBOLS), envs.SYMBOLS)
    headings = ["episodes x steps", "objective", "ours ms", "plain loop ms", "gain"]
    report("Forward and backward", headings, speed(machine, config), config.out, "neural_speed")
    headings = ["episodes x steps", "kept MB", "bytes a step", "growth"]
    report("Memory kept for the backward pass", headings, memory(machine), config.out, "neural_memory")
    headings = ["image episodes", "distinct once ms", "every step ms", "gain"]
    report("Grounding distinct images once", headings, distinct_images(machine), config.out, "neural_distinct")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
