"""Points in the plane, by hand and against loops over points and discs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nrm
from nrm.envs.counter_rng import words
from nrm.envs.plane import FLAT, PlaneConfig
from nrm.envs.plane.env import PlaneDynamics
from nrm.errors import EnvError, UnknownSymbolError
from tests.envs.plane.planes import plane

TWO = PlaneConfig(discs=("a@0.5,0,0.2", "b@-0.5,0,0.1"))


def places(*points: tuple[float, float]) -> Any:
    return np.array(points, dtype=np.float32)


def random_places(count: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(-2, 2, (count, 2)).astype(np.float32)


def test_discs_and_the_distance_to_their_borders_by_hand() -> None:
    geometry = PlaneDynamics(TWO)
    at = places((0.5, 0.0), (0.65, 0.0), (0.75, 0.0), (-0.5, 0.05), (0.0, 0.0))
    assert geometry.holds(at).tolist() == [[True, False], [True, False], [False, False], [False, True], [False] * 2]
    assert np.abs(geometry.away(at)).min(1) == pytest.approx([0.2, 0.05, 0.05, 0.05, 0.3], abs=1e-6)


def test_rays_by_hand() -> None:
    # From the origin the ray to the right meets a after 0.3, the one to the left b after 0.4; the reach is 2.
    lidar = PlaneDynamics(PlaneConfig(discs=TWO.discs, observation="lidar"))
    assert lidar.spec.shape == (32,)
    seen = lidar.observe({"place": places((0.0, 0.0), (0.5, 0.1), (0.5, -1.0))})[:, ::4]  # right, up, left and down
    assert seen[0] == pytest.approx([0.15, 1, 1, 1, 1, 1, 0.2, 1], abs=1e-6)
    assert seen[1] == pytest.approx([0, 0, 0, 0, 1, 1, 1, 1], abs=1e-6)
    assert seen[2] == pytest.approx([1, 0.4, 1, 1, 1, 1, 1, 1], abs=1e-6)


def walked(config: PlaneConfig, at: Any, name: str, angle: float) -> float:
    """The share of the reach at which a ray meets a disc, by walking along it."""
    for step in range(2_001):
        distance = 2.0 * step / 2_000
        x, y = at[0] + distance * math.cos(angle), at[1] + distance * math.sin(angle)
        for disc in config.placed:
            if disc.name == name and math.hypot(x - disc.x, y - disc.y) <= disc.radius:
                return step / 2_000
    return 1.0


def test_rays_against_walking_along_them() -> None:
    config = replace(FLAT, observation="lidar")
    at = random_places(4, 1)
    seen = PlaneDynamics(config).observe({"place": at}).reshape(4, 7, 16)
    for place in range(4):
        for number, name in enumerate(config.names):
            for ray in range(0, 16, 3):
                expected = walked(config, at[place], name, 2 * math.pi * ray / 16)
                assert seen[place, number, ray] == pytest.approx(expected, abs=2e-3)


@given(st.integers(0, 2**32))
def test_what_holds_against_a_loop(seed: int) -> None:
    at = random_places(20, seed)
    found = PlaneDynamics(FLAT).holds(at)
    for place, (x, y) in enumerate(at.tolist()):
        inside = {disc.name for disc in FLAT.placed if math.hypot(x - disc.x, y - disc.y) <= disc.radius}
        assert {name for name, holds in zip(FLAT.names, found[place], strict=True) if holds} == inside


def moved_by(dynamics: PlaneDynamics, at: Any, actions: Any) -> tuple[Any, Any]:
    nobody = np.zeros(len(at), dtype=np.int64)
    moved, left = dynamics.move({"place": at}, actions, nobody.astype(np.uint64), nobody)
    return moved["place"], [False] * len(at) if left is None else left.tolist()


def test_moves_and_edges_by_hand() -> None:
    stops = PlaneDynamics(plane(directions=9))
    moved, left = moved_by(stops, places((0.0, 0.0), (0.95, 0.95)), np.array([2, 1]))
    assert moved.tolist() == [pytest.approx([0, 0.1], abs=1e-6), [1.0, 1.0]]
    assert left == [False, False]
    stayed, _ = moved_by(stops, moved, np.array([8, 8]))
    assert (stayed == moved).all()
    ends = PlaneDynamics(plane(edge="end"))
    moved, left = moved_by(ends, places((0.0, 0.0), (0.95, 0.0)), np.array([4, 0]))
    assert moved.tolist() == [pytest.approx([-0.1, 0], abs=1e-6), pytest.approx([1.05, 0], abs=1e-6)]
    assert left == [False, True]
    assert all(point in ends.observation_space for point in moved)
    moved, _ = moved_by(stops, places((0.0, 0.0)), np.array([[-0.5, 1.0]], dtype=np.float32))
    assert moved.tolist() == [pytest.approx([-0.05, 0.1], abs=1e-6)]


@pytest.mark.parametrize(
    ("start", "inside"),
    [
        ((0.3, -0.2), lambda x, y: abs(x - 0.3) + abs(y + 0.2) < 1e-6),
        ("outside", lambda x, y: math.hypot(x - 0.5, y) > 0.2 and math.hypot(x + 0.5, y) > 0.1),
    ],
)
def test_starts_lie_where_they_should(start: Any, inside: Any) -> None:
    begun = PlaneDynamics(plane(discs=TWO.discs, start=start)).begin(words(list(range(500))))["place"]
    assert begun.shape == (500, 2)
    assert all(inside(x, y) for x, y in begun.tolist())
    assert len({tuple(point) for point in begun.tolist()}) == (1 if len(start) == 2 else 500)


def test_no_room_to_start_is_said() -> None:
    full = PlaneDynamics(PlaneConfig(discs=("a@0,0,5",)))
    with pytest.raises(EnvError, match="no room to start"):
        full.begin(words([0]))


def test_letters_of_both_alphabets() -> None:
    at = {"place": places((0.5, 0.0), (-0.5, 0.0), (0.0, 0.9))}
    exclusive = nrm.compile("F a", ["empty", "b", "a"]).alphabet
    assert PlaneDynamics(PlaneConfig(discs=TWO.discs)).reader(exclusive)(at).tolist() == [2, 1, 0]
    bits = PlaneConfig(discs=TWO.discs, empty=None)
    propositional = nrm.compile("F a", propositions=["b", "a"]).alphabet
    assert PlaneDynamics(bits).reader(propositional)(at).tolist() == [2, 1, 0]
    together = PlaneConfig(discs=("a@0,0,0.2", "b@0.1,0,0.2"), empty=None)
    assert PlaneDynamics(together).reader(propositional)({"place": places((0.05, 0.0))}).tolist() == [3]


@pytest.mark.parametrize(
    ("options", "symbols", "propositions", "message"),
    [
        (
            {},
            ["a", "c", "empty"],
            None,
            "'b' of the environment.*compile the task over a, b, empty",
        ),
        ({}, ["a", "b", "floor"], None, "'empty' of the environment.*with empty="),
        ({"empty": None}, ["a", "b", "c"], None, "one symbol holds at every step"),
        ({}, None, ["a", "b", "empty"], "with propositions, say empty=None"),
    ],
)
def test_the_env_and_the_task_must_speak_of_the_same(
    options: dict[str, Any], symbols: Any, propositions: Any, message: str
) -> None:
    alphabet = nrm.compile("F a", symbols, propositions=propositions).alphabet
    with pytest.raises(UnknownSymbolError, match=message):
        PlaneDynamics(PlaneConfig(discs=TWO.discs, **options)).reader(alphabet)


def sampled_sets(config: PlaneConfig, count: int = 200_000) -> set[tuple[str, ...]]:
    """The sets of names that hold together at some of many points: the slow twin of `occurring`."""
    geometry = PlaneDynamics(config)
    found = np.unique(geometry.holds(geometry.scattered(count, 0)["place"]), axis=0)
    return {tuple(name for name, holds in zip(config.names, row, strict=True) if holds) for row in found.tolist()}


@pytest.mark.parametrize(
    "config",
    [
        FLAT,
        PlaneConfig(discs=("a@0,0,0.5",)),
        PlaneConfig(discs=("a@0,0,0.9", "b@0.1,0,0.3"), empty=None),  # one in the other
        PlaneConfig(discs=("a@0,0,0.5", "b@0.4,0,0.5", "c@0.2,0.3,0.5", "a@-0.7,0.7,0.2"), empty=None),
        PlaneConfig(discs=("a@0,0,0.5", "b@0,0,0.3"), empty=None),  # around one centre
    ],
    ids=["flat", "one", "nested", "three", "rings"],
)
def test_what_holds_together_is_found_without_looking_everywhere(config: PlaneConfig) -> None:
    assert set(config.occurring()) == sampled_sets(config)


def test_discs_that_touch_hold_together_at_a_point() -> None:
    config = PlaneConfig(discs=("a@-0.5,0,0.5", "b@0.5,0,0.5"), empty=None)
    assert config.occurring() == ((), ("a",), ("b",), ("a", "b"))
