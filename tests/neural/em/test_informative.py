"""What an M-step by evidence looks at, all that is not explained and few of the rest, and how its steps shorten."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from nrm.neural import FitConfig
from nrm.neural.config import Maximisation
from nrm.neural.em.network import network_attempt
from nrm.neural.em.steps import Distiller, informative
from tests.neural.em.test_grounding_by_em import model, problem

EXPLAINED, FEW, ONE_IN = 0.02, 4096, 8


def test_what_is_not_explained_is_always_looked_at_and_counts_once() -> None:
    missed = torch.tensor([0.0, 2 * EXPLAINED, EXPLAINED, 5.0, 1.01 * EXPLAINED]).repeat(FEW)
    rows, counts = informative(missed, torch.Generator().manual_seed(0))
    kind = rows % 5
    assert [int((kind == number).sum()) for number in (1, 3, 4)] == [FEW] * 3
    for number in (0, 2):
        assert int((kind == number).sum()) == pytest.approx(FEW / ONE_IN, rel=0.2)
    assert torch.equal(counts, torch.tensor([ONE_IN, 1.0, ONE_IN, 1.0, 1.0])[kind])
    assert len(set(rows.tolist())) == len(rows)


def test_sums_are_those_over_all_in_the_mean() -> None:
    generator = torch.Generator().manual_seed(0)
    values = torch.rand(FEW + 1, generator=generator)
    sums = []
    for _ in range(200):
        rows, counts = informative(torch.zeros(FEW + 1), generator)
        sums.append(float((values[rows] * counts).sum()))
    # Each is drawn with a chance of 1/8: its share of a sum has the variance 7 v^2, and the mean of v^2 is 1/3.
    assert sum(sums) / 200 == pytest.approx(float(values.sum()), abs=4 * (FEW * 7 / 3 / 200) ** 0.5)


def test_of_few_observations_all_are_looked_at() -> None:
    rows, counts = informative(torch.zeros(FEW), torch.Generator().manual_seed(0))
    assert torch.equal(rows, torch.arange(FEW))
    assert torch.equal(counts, torch.ones(FEW))


@pytest.mark.parametrize(("maximisation", "paces"), [("evidence", [1.0, 0.75, 0.5, 0.25]), ("posterior", [1.0] * 4)])
def test_steps_towards_evidence_become_shorter(
    maximisation: Maximisation, paces: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    monkeypatch.setattr(Distiller, "teach", lambda self, *_: found.append(self.pace))
    config = FitConfig(epochs=80, maximisation=maximisation, target=1e-12)
    network_attempt(replace(problem(), config=config), 0, torch.Generator().manual_seed(0))
    assert found == paces


def test_a_shorter_pace_takes_shorter_steps() -> None:
    seen, wanted = torch.tensor([[0.0], [1.0]]), torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    moved = []
    for pace in (1.0, 0.25):
        taught = model()
        before = torch.cat([value.detach().flatten() for value in taught.grounder.parameters()]).clone()
        distiller = Distiller(taught, 0.01, torch.Generator().manual_seed(0))
        distiller.pace = pace
        distiller.teach(seen, wanted, torch.ones(2))
        after = torch.cat([value.detach().flatten() for value in taught.grounder.parameters()])
        moved.append(float((after - before).norm()))
    # One step of Adam, whose length goes by the step size alone.
    assert moved[1] == pytest.approx(0.25 * moved[0], rel=1e-3)
