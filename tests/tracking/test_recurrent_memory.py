"""Beliefs from recurrent grounders: their state travels with the carry, and begins anew with the episode."""

from __future__ import annotations

import numpy as np
import torch

import nrm
from nrm.machines import TaskSet
from nrm.neural import FitConfig, NeuralRewardMachine
from nrm.tracking import (
    AccuracyMeter,
    Belief,
    BeliefMemory,
    Grounding,
    GroundingConfig,
    RecordedEpisode,
    TaskBeliefMemory,
    Tracker,
    Transition,
)
from nrm.tracking.recorder import Recorder
from tests.neural.test_recurrent import MACHINE, Delayed, delayed_episodes, gru


def seen(observation: torch.Tensor, reward: torch.Tensor) -> Transition:
    return Transition(observation, None, torch.zeros(len(observation), dtype=torch.int64), reward, None)


def model(seed: int = 0) -> NeuralRewardMachine:
    return NeuralRewardMachine(gru(seed), MACHINE).eval()


def test_the_belief_is_that_of_the_model_and_frames_change_nothing_but_the_work() -> None:
    net = model()
    frames = torch.randn(5, 3)
    rows = torch.tensor([[0, 1], [3, 2], [4, 4]])
    beliefs: tuple[Belief, ...] = ("filtered", "open-loop")
    for belief in beliefs:
        by_frames, by_rows = BeliefMemory(net, frames, belief), BeliefMemory(net, None, belief)
        one, other = by_frames.start(2), by_rows.start(2)
        assert one.shape == (2, MACHINE.states + 1 + 64)
        believed = carry = None
        for row in rows:
            before, paid = one, torch.tensor([0.0, 0.0])
            one, other = by_frames.read(one, seen(row, paid)), by_rows.read(other, seen(frames[row], paid))
            assert torch.allclose(one, other, atol=1e-6)
            step = net.step(frames[row], believed, carry=carry)
            believed, carry = step.belief, step.carry
            if belief == "filtered":  # the potential 0 is the second of -100, 0, …
                weighed = believed * net.machine.rewards[:, 1]
                believed = weighed / weighed.sum(1, keepdim=True)
            assert torch.allclose(by_frames.feature(one), believed, atol=1e-5)
            assert torch.allclose(by_frames.letters(before, row), step.symbols, atol=1e-6)
            assert by_frames.level(one).tolist() == [0, 0]


def test_the_belief_of_one_of_many_tasks_is_that_of_its_own_model() -> None:
    other = nrm.compile("F b", MACHINE.alphabet)
    tasks = TaskSet.of([MACHINE, other])
    net, frames = NeuralRewardMachine(gru(0), tasks).eval(), torch.randn(4, 2, 3)
    many = TaskBeliefMemory(net, None, "open-loop")
    alone = [BeliefMemory(net.of_task(number), None, "open-loop") for number in range(2)]
    carry, carries = many.begin(torch.arange(2)), [memory.start(1) for memory in alone]
    for shown in frames:
        carry = many.read(carry, seen(shown, torch.zeros(2)))
        for number, memory in enumerate(alone):
            carries[number] = memory.read(carries[number], seen(shown[number : number + 1], torch.zeros(1)))
            believed = memory.states(carries[number])[0]
            assert torch.allclose(many.states(carry)[number, : len(believed)], believed, atol=1e-6)
    assert many.task(carry).tolist() == [0, 1]


def test_an_ended_episode_is_forgotten() -> None:
    net = NeuralRewardMachine(Delayed(3), MACHINE).eval()
    memory = BeliefMemory(net, None, "open-loop")
    carry = memory.read(memory.start(2), seen(torch.tensor([0.0, 0.0]), torch.zeros(2)))
    assert carry[:, -1].tolist() == [0, 0]  # the last observation is its state
    carry = memory.reset(carry, torch.tensor([True, False]), torch.zeros(2).long())
    assert carry[:, -1].tolist() == [2, 0]
    after = memory.feature(memory.read(carry, seen(torch.tensor([2.0, 2.0]), torch.zeros(2))))
    assert [MACHINE.outputs[int(row.argmax())] for row in after] == [0, 50]  # only the second has read an a


def test_beliefs_of_episodes_under_way_are_computed_anew() -> None:
    net = model()
    tracker, generator = Tracker(net, 3, "open-loop"), np.random.default_rng(0)
    steps = [generator.normal(size=(3, 3)).astype(np.float32) for _ in range(6)]
    for time, shown in enumerate(steps):
        tracker.step(shown, np.zeros(3))
        if time == 2:
            tracker.restart(np.array([False, True, False]))
    net.load_state_dict(model(seed=1).state_dict())
    tracker.refresh()
    wanted = Tracker(net, 3, "open-loop", record=False)
    for time, shown in enumerate(steps):
        wanted.step(shown, np.zeros(3))
        if time == 2:
            wanted.restart(np.array([False, True, False]))
    assert np.allclose(tracker.beliefs, wanted.beliefs, atol=1e-6)
    tracker.step(steps[0], np.zeros(3))
    wanted.step(steps[0], np.zeros(3))
    assert np.allclose(tracker.beliefs, wanted.beliefs, atol=1e-6)


def test_accuracy_goes_by_the_steps_of_episodes() -> None:
    episodes = delayed_episodes(8)
    right = AccuracyMeter(MACHINE).measure_episodes(NeuralRewardMachine(Delayed(3), MACHINE), episodes)
    assert right.plain == right.balanced == right.modulo_shortcuts == 1.0


def recorded(number: int, told: bool = True) -> list[RecordedEpisode]:
    buffer, made = delayed_episodes(number), []
    for episode in buffer:
        rewards = np.diff(MACHINE.levels[episode.levels], prepend=0.0)
        shown = buffer.observations(episode.seen)
        made.append(RecordedEpisode(0, 0.0, len(rewards), shown, rewards, episode.symbols if told else None))
    return made


def grounding() -> Grounding:
    net = model()
    config, fit = GroundingConfig(every=20, keep=40), FitConfig(epochs=20, restarts=1)
    return Grounding(net, BeliefMemory(net, None, "open-loop"), config, fit)


def test_letters_are_kept_beside_what_a_recurrent_grounder_learns_from() -> None:
    whole, untold = grounding(), grounding()
    assert whole.labelled() is None
    whole.add(recorded(20))
    untold.add(recorded(20, told=False))
    kept = whole.labelled()
    assert kept is not None
    assert len(kept) == 20
    assert untold.labelled() is None
    for one in (whole, untold):
        again = grounding()
        again.load_state_dict(one.state_dict())
        assert (again.labelled() is None) == (one is untold)
        first, second = again.add(recorded(20)), one.add(recorded(20))
        assert first is not None
        assert second is not None
        assert first.loss == second.loss
        saved, wanted = again.state_dict()["model"], one.state_dict()["model"]
        assert all(torch.equal(saved[key], wanted[key]) for key in wanted)


def test_letters_of_episodes_under_way_are_saved_where_asked_for() -> None:
    done = np.array([True, True])
    for letters in (True, False):
        recorder = Recorder(2, letters=letters)
        recorder.add(np.zeros(2), np.zeros((2, 1)), np.array([1, 2]))
        again = Recorder(2, letters=letters)
        again.load_state_dict(recorder.state_dict())
        found = [episode.letters for episode in again.finish(done)]
        assert [None if told is None else told.tolist() for told in found] == ([[1], [2]] if letters else [None, None])
