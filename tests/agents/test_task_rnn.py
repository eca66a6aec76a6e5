"""RNN with many tasks: it is given the whole of a task, and reads no rewards."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from nrm.agents import evaluate
from nrm.agents.rnn import GraphEncoder, TaskGraphs
from nrm.envs import BatchedTasks
from nrm.envs.letter import LetterConfig
from nrm.machines import TaskSet
from nrm.tracking import Transition
from tests.agents.test_many_tasks import ALPHABET, SMALL, small_run

LATE = ["F(a & F(b & F(c & F a)))", "F(a & F(b & F(c & F b)))"]
"""They differ after the third step."""
WAYS = ["F(a & F b) | F(b & F c)", "F(a & F c) | F(b & F b)"]
"""They differ in which first step asks for which second one."""
POOL = TaskSet.of([*LATE, *WAYS, "F a", "!b U c", "F(a & (!b U c)) & F b"], ALPHABET)


def memory_of(tasks: TaskSet, seed: int = 3) -> Any:
    return small_run("rnn", 100, seed).learner.memory.on(None, tasks)


@pytest.mark.parametrize("formulas", [LATE, WAYS])
def test_tasks_that_differ_late_are_seen_to_differ(formulas: list[str]) -> None:
    memory = memory_of(TaskSet.of(formulas, ALPHABET))
    one, other = memory.feature(memory.begin(torch.tensor([0, 1])))
    assert not torch.allclose(one, other, atol=1e-5)


def test_rewards_change_nothing() -> None:
    memory = memory_of(POOL)
    carry = memory.begin(torch.tensor([0, 3]))
    shown = torch.randn(2, 64, generator=torch.Generator().manual_seed(0))
    read = [
        memory.read(carry, Transition(shown, shown, torch.zeros(2).long(), paid, None))
        for paid in (torch.zeros(2), torch.tensor([100.0, -50.0]))
    ]
    assert torch.equal(*read)


def slow(encoder: GraphEncoder, tasks: TaskSet, task: int) -> Tensor:
    """Message by message."""
    machine, graphs = tasks.machines[task], TaskGraphs(tasks)
    views = graphs.views[int(tasks.first[task]) :][: machine.states]
    known = encoder.seen(views).tanh()
    for _ in range(max(machine.distance_to_acceptance)):
        later = []
        for state in range(machine.states):
            heard = []
            for target in set(machine.targets(state)) - {state}:
                letters = torch.tensor([float(machine.next_state(state, letter) == target) for letter in range(4)])
                heard.append((encoder.label(letters) + encoder.after(known[target])).relu())
            mean = torch.stack(heard).mean(0) if heard else torch.zeros_like(known[0])
            later.append(encoder.cell(mean[None], known[state][None])[0])
        known = torch.stack(later)
    return torch.cat([views, known], 1)


def test_messages_of_some_tasks_at_once_are_those_of_each_alone() -> None:
    encoder, graphs = GraphEncoder(TaskGraphs(POOL)), TaskGraphs(POOL)
    chosen = torch.tensor([4, 1, 6, 2])
    table, first = encoder(graphs, chosen)
    for task, row in zip(chosen.tolist(), first.tolist(), strict=True):
        torch.testing.assert_close(table[row : row + POOL.machines[task].states], slow(encoder, POOL, task))


def test_what_is_kept_of_tasks_is_what_gradients_are_taken_of() -> None:
    trainer = small_run("rnn", 1000)
    memory: Any = trainer.learner.memory
    carry = memory.begin(torch.arange(12))
    for _ in range(2):
        with torch.no_grad():
            kept = memory.feature(carry)
        found = memory.feature(carry)
        torch.testing.assert_close(kept, found.detach())
        used = [memory.query.bias, *memory.encoder.parameters()]
        assert all(bool(gradient.any()) for gradient in torch.autograd.grad(found.square().sum(), used))
        trainer.update()


def test_larger_tasks_than_any_of_training_are_taken() -> None:
    trainer = small_run("rnn", 100)
    trainer.update()
    large = TaskSet.of(["F(a & F(b & F(c & F(a & F(b & F(c & F(a & F b)))))))", "F b"], ALPHABET)
    assert large.max_states > trainer.tasks.max_states
    env = BatchedTasks(LetterConfig(**SMALL), large, 4)
    assert [one.episodes for one in evaluate(trainer, env, 40, 0, greedy=False).by_task] != []


def test_moves_and_their_letters_by_hand() -> None:
    machine = TaskSet.of(["!b U (c | a)"], ALPHABET).machines[0]
    pairs, letters = machine.moves.leaving()
    done, lost = (machine.step(machine.initial, name) for name in "cb")
    found = {
        tuple(pair): "".join(name for name, by in zip("abc-", row, strict=True) if by)
        for pair, row in zip(pairs.tolist(), letters, strict=True)
    }
    assert found == {(machine.initial, done): "ac", (machine.initial, lost): "b"}
