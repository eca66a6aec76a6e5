"""FlatWorld's protocol: what is possible, which formulas are for choosing and which for reporting, and one row."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
import torch
from benchmarks import flat_planning as planning
from benchmarks.flat_planning import ACROSS, ALONG, least_steps
from benchmarks.flat_world import (
    PUBLISHED,
    RANDOM,
    by_formula,
    configured,
    fresh_formulas,
    possible,
    scores,
    table,
    trained,
    tuning_formulas,
)

import nrm
from nrm import Alphabet
from nrm.envs.plane import PlaneConfig
from nrm.machines import MooreMachine
from tests.envs.plane.planes import plane

SYMBOLS = ("wall", "goal", "door")
PLANE = plane(
    bounds=(0.0, 0.0, 1.4, 0.7),
    discs=("wall@0.7,0.7,0.45", "wall@0.7,0,0.25", "goal@1.2,0.35,0.12", "door@0.2,0.1,0.15"),
    step=0.14,
    directions=9,
    edge="end",
    steps=60,
    empty=None,
)
PLACES = np.array([(0.1, 0.5), (0.05, 0.05), (0.5, 0.2), (1.3, 0.1), (0.9, 0.35)], dtype=np.float32)


def machine(formula: str) -> MooreMachine:
    return nrm.compile(formula, Alphabet.propositional(SYMBOLS))


def plan(config: PlaneConfig, task: MooreMachine, place: tuple[float, float]) -> int:
    """The slow twin: breadth-first search forwards from one place, node by node."""
    letters = planning._letters(config, task)
    apart = config.step / ALONG
    first = (round(place[0] / apart), round(place[1] / apart), task.initial)
    found, queue = {first: 0}, deque([first])
    assert config.steps is not None
    while queue:
        x, y, state = queue.popleft()
        for across, up in planning.MOVES:
            length = ACROSS if across and up else ALONG
            column, row = x + across * length, y + up * length
            if not (0 <= column < letters.shape[0] and 0 <= row < letters.shape[1]):
                continue
            node = (column, row, int(task.transitions[state, letters[column, row]]))
            if node not in found and found[(x, y, state)] < config.steps:
                found[node] = found[(x, y, state)] + 1
                if task.accepting[node[2]]:
                    return found[node]
                queue.append(node)
    return -1


@pytest.mark.parametrize("formula", ["F goal", "!wall U goal", "F(door & F goal)", "!wall U (door & (!wall U goal))"])
def test_the_planner_finds_what_a_search_from_each_place_finds(formula: str) -> None:
    task = machine(formula)
    assert least_steps(PLANE, task, PLACES).tolist() == [plan(PLANE, task, place) for place in PLACES.tolist()]


def test_what_is_impossible_or_takes_too_long_has_no_plan() -> None:
    shut = replace(PLANE, discs=(*PLANE.discs, "wall@0.7,0.3,0.1"))
    assert (least_steps(shut, machine("!wall U goal"), PLACES) > 0).tolist() == [False, False, False, True, True]
    needed = least_steps(PLANE, machine("F goal"), PLACES)
    short = replace(PLANE, steps=int(needed.min()))
    assert (least_steps(short, machine("F goal"), PLACES) > 0).tolist() == (needed == needed.min()).tolist()


def test_along_an_axis_a_plan_takes_as_many_steps_as_the_way_is_long() -> None:
    away = 1.2 - 0.12 - 0.9
    assert least_steps(PLANE, machine("F goal"), PLACES)[-1] == np.ceil(away / PLANE.step)


def test_formulas_for_choosing_and_for_reporting_differ() -> None:
    sets = (PUBLISHED, *(draw(name) for name in RANDOM for draw in (tuning_formulas, fresh_formulas)))
    assert [len(set(formulas)) for formulas in sets] == [5, 20, 20, 20, 20]
    assert len(set().union(*sets)) == 85
    assert all(possible(formula) > 0.99 for formula in PUBLISHED)
    # A change of the samplers must not change, unnoticed, what settings were chosen on and what is reported.
    texts = [
        "\n".join(formula for name in RANDOM for formula in draw(name)) for draw in (tuning_formulas, fresh_formulas)
    ]
    assert [sha256(text.encode()).hexdigest()[:12] for text in texts] == ["280558f293cb", "059122604bae"]


def test_an_agent_is_tested_on_held_out_formulas() -> None:
    torch.set_num_threads(1)
    changes = {"tasks": {"count": 8, "max_states": 4}}
    config = configured("rm", "discrete", 3, 300, PUBLISHED[:2], changes)
    trainer, cpu = trained(config)
    found = scores(config, trainer, PUBLISHED[:2], 2, 7)
    assert [one[0] for one in found] == list(PUBLISHED[:2])
    row = {"method": "rm", "actions": "discrete", "seed": 3, "frames": 300, "cpu_seconds": cpu, "published": 0.5}
    assert "| RM, discrete | 1 | 300 |" in table([row])
    assert PUBLISHED[0] in by_formula([{**row, "formulas": {"published": found}}])
