"""What observations do to the potential, learned as supervised learning: the start of symbols that nobody names."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from nrm.neural.em.distillation import last_layer

BATCH = 256
"""Observations in a mini-batch; changes of each kind are drawn evenly, and as often as all that changes nothing."""
LEAST, MOST = 120, 800
"""Steps of the optimiser: where to look is found suddenly, after a while without any progress."""
SMOOTH = 0.95
"""Share of the past in the running mean of the loss."""


class LevelSteps(NamedTuple):
    """Steps of episodes, with the potential before and after each."""

    frames: Tensor
    """(n, …) the distinct observations."""
    seen: Tensor
    """(steps,) which of them was made."""
    before: Tensor
    """(steps,) the index of the potential before."""
    after: Tensor
    """(steps,) the index of the potential after."""
    levels: int
    """How many potentials there are."""

    @property
    def kind(self) -> Tensor:
        """(steps,) the pair of potentials, as one number."""
        return self.before * self.levels + self.after

    @property
    def changed(self) -> Tensor:
        """(steps,) whether the potential changed."""
        return self.before != self.after


def learn_signatures(grounder: nn.Module, steps: LevelSteps, generator: torch.Generator) -> float:
    """Teach a grounder with potentials * potentials outputs which potential follows which; its last loss, in nats."""
    chance = _even(steps)
    optimizer = torch.optim.Adam(grounder.parameters(), lr=0.005)
    mean = best = float("inf")
    since = 0
    grounder.train()
    for step in range(MOST):
        rows = torch.multinomial(chance, BATCH, replacement=True, generator=generator)
        _, _, scores = last_layer(grounder, steps.frames[steps.seen[rows]])
        row = scores.view(BATCH, steps.levels, steps.levels)[torch.arange(BATCH), steps.before[rows]]
        loss = nn.functional.cross_entropy(row, steps.after[rows])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        now = float(loss.detach())
        mean = now if step == 0 else SMOOTH * mean + (1 - SMOOTH) * now
        since = since + 1
        if mean < best * (1 - 0.02):
            best, since = mean, 0
        if mean < 0.01 or (step >= LEAST and since >= 60):
            break
    grounder.eval()
    return mean


def _even(steps: LevelSteps) -> Tensor:
    """(steps,) how often each is drawn: half of the time one that changes the potential, all kinds of change evenly."""
    counts = torch.bincount(steps.kind, minlength=steps.levels**2).double()
    chance = 1.0 / counts[steps.kind]
    for part in (steps.changed, ~steps.changed):
        total = chance[part].sum()
        chance[part] = chance[part] / total if bool(part.any()) else chance[part]
    return chance


@torch.no_grad()
def signatures(grounder: nn.Module, steps: LevelSteps) -> tuple[Tensor, Tensor]:
    """(n, width) what the last layer reads of frames, and (n,) how probable each is at most to change a potential."""
    left = torch.zeros(steps.levels, dtype=torch.bool)
    left[steps.before[steps.changed]] = True
    stays = torch.eye(steps.levels, dtype=torch.bool)
    features, changes = [], []
    for frames in torch.split(steps.frames, 1024):
        _, reads, scores = last_layer(grounder, frames)
        follows = scores.view(-1, steps.levels, steps.levels).softmax(-1)
        features.append(reads)
        changes.append((1.0 - follows[:, stays])[:, left].max(1).values)
    return torch.cat(features), torch.cat(changes)


def centres(features: Tensor, count: int) -> Tensor:
    """(at most count, width) centres of features (n, width): far from each other first, then k-means; deterministic."""
    rows = features[:: -(-len(features) // 2000)]
    found = rows.mean(0, keepdim=True)
    found = rows[torch.cdist(rows, found)[:, 0].argmax()][None]
    while len(found) < count:
        apart = torch.cdist(rows, found).min(1).values
        if float(apart.max()) <= 1e-6 * float(rows.abs().max().clamp_min(1e-12)):
            break
        found = torch.cat([found, rows[apart.argmax()][None]])
    for _ in range(12):
        near = nearest(rows, found)
        met = torch.bincount(near, minlength=len(found)).clamp_min(1)
        means = torch.zeros_like(found).index_add_(0, near, rows) / met[:, None]
        if torch.equal(means, found):
            break
        found = means
    return found


def nearest(features: Tensor, found: Tensor) -> Tensor:
    """(n,) the number of the centre that is nearest to each of features (n, width)."""
    return torch.cdist(features, found).argmin(1)
