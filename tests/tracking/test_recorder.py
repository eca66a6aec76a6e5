"""The recorder against lists kept by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nrm.tracking import Recorder


def flags(*values: int) -> Any:
    return np.array(values, dtype=np.bool_)


def test_episodes_by_hand() -> None:
    recorder = Recorder(2)
    recorder.add(np.array([1.0, 2.0]), np.array([[10], [20]]), np.array([0, 1]))
    assert recorder.finish(flags(0, 0)) == []
    recorder.add(np.array([3.0, 4.0]), np.array([[11], [21]]), np.array([2, 3]))
    (second,) = recorder.finish(flags(0, 1))
    assert (second.environment, second.total, second.length) == (1, 6.0, 2)
    assert second.letters is not None
    assert second.observations.tolist() == [[20], [21]]
    assert (second.rewards.tolist(), second.letters.tolist()) == ([2.0, 4.0], [1, 3])
    recorder.add(np.array([5.0, 6.0]), np.array([[12], [22]]))
    first, second = recorder.finish(flags(1, 1))
    assert (first.total, first.length, second.total, second.length) == (9.0, 3, 6.0, 1)
    assert first.letters is None  # one of its steps told none
    assert len(recorder) == 0
    assert recorder.finish(flags(1, 1)) == []  # nothing has begun


def test_what_is_forgotten_is_not_given_out() -> None:
    recorder = Recorder(2)
    recorder.add(np.array([1.0, 1.0]), np.zeros((2, 1)))
    recorder.forget(flags(1, 0))
    recorder.add(np.array([2.0, 2.0]), np.ones((2, 1)))
    one, other = recorder.finish(flags(1, 1))
    assert (one.total, one.length, other.total, other.length) == (2.0, 1, 3.0, 2)


@pytest.mark.parametrize("keep", [True, False])
@given(
    st.lists(st.tuples(st.lists(st.integers(-5, 5), min_size=3, max_size=3), st.integers(0, 7)), max_size=25),
    st.integers(0, 24),
)
def test_as_lists_for_each_environment(keep: bool, steps: list[tuple[list[int], int]], saved_at: int) -> None:
    recorder = Recorder(3, keep)
    plain: list[list[tuple[int, int]]] = [[], [], []]
    for time, (rewards, ends) in enumerate(steps):
        recorder.add(np.array(rewards, dtype=np.float32), np.arange(3) + 10 * time)
        done = flags(*(ends >> bit & 1 for bit in range(3)))
        for index, reward in enumerate(rewards):
            plain[index].append((10 * time + index, reward))
        expected = [(index, plain[index]) for index in range(3) if done[index]]
        found = recorder.finish(done)
        assert [(episode.environment, episode.length) for episode in found] == [(n, len(rows)) for n, rows in expected]
        for episode, (index, rows) in zip(found, expected, strict=True):
            assert episode.total == sum(reward for _, reward in rows)
            if keep:
                assert list(zip(episode.observations, episode.rewards, strict=True)) == rows
            plain[index] = []
        if time == saved_at:
            resumed = Recorder(3, keep)
            resumed.load_state_dict(recorder.state_dict())
            recorder = resumed


@pytest.mark.parametrize("keep", [True, False])
@given(st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=6), max_size=8), st.integers(0, 7))
def test_a_rollout_at_once_is_its_steps_one_by_one(keep: bool, rollouts: list[list[int]], saved_at: int) -> None:
    whole, stepped = Recorder(3, keep), Recorder(3, keep)
    time = 0
    for number, ends in enumerate(rollouts):
        observations = 10 * (time + np.arange(len(ends)))[:, None] + np.arange(3)
        rewards = (observations % 7).astype(np.float32)
        done = np.array([[bool(end >> bit & 1) for bit in range(3)] for end in ends])
        expected = []
        for step in range(len(ends)):
            stepped.add(rewards[step], observations[step])
            expected += [(step, episode) for episode in stepped.finish(done[step])]
        found = whole.record(rewards, observations, done)
        for (step, one), (other_step, other) in zip(found, expected, strict=True):
            assert step == other_step
            assert one[:3] == other[:3]
            assert one.observations.tolist() == other.observations.tolist()
            assert one.rewards.tolist() == other.rewards.tolist()
        if number == saved_at:
            state = whole.state_dict()
            whole = Recorder(3, keep)
            whole.load_state_dict(state)
        assert whole.lengths.tolist() == stepped.lengths.tolist()
        time += len(ends)
