"""Hierarchical reward machines (HRM): a controller chooses the edge to take next, the policy learns to take it.

The option under way is part of the memory, and what the policy sees of it. So every algorithm learns them: its
rollouts are paid for edges in place of potentials (`OptionMemory.credited`). Options are those of `machines.Options`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from nrm.agents.acting import Rollout
from nrm.agents.algorithms import Descent, advantages
from nrm.agents.machine_methods import NRM, RM
from nrm.agents.methods import METHODS, Prepare, Prepared
from nrm.envs import BatchedEnv
from nrm.errors import NrmWarning, listing
from nrm.machines import BEST, Options, TaskSet
from nrm.tracking import Belief, Memory, Report, Transition

EPSILON, GAMMA, LAMBDA = 0.1, 0.97, 0.95
"""Of the controller: the share of random choices in training, and how it sums rewards."""


class Controller(nn.Module):
    """What each option is worth, from what is seen."""

    def __init__(self, seen: int, option: int, width: int = 64) -> None:
        super().__init__()
        self.seen, self.option = nn.Linear(seen, width), nn.Linear(option, width, bias=False)
        self.value = nn.Linear(width, 1)

    def forward(self, seen: Tensor, options: Tensor) -> Tensor:
        """(n, options) from what is seen (n, width) and what options are (options, letters)."""
        value: Tensor = self.value((self.seen(seen).unsqueeze(1) + self.option(options)).tanh())
        return value.squeeze(-1)


class ControllerLearner:
    """How the controller learns: by the rewards of the environment, from rollouts of all options."""

    def __init__(self, controller: Controller, seed: int) -> None:
        self.generator = torch.Generator().manual_seed(seed)
        self._controller = controller
        self._descent = Descent(list(controller.parameters()), 1e-3, 0.5)

    def learn(self, seen: Tensor, options: Tensor, chosen: Tensor, target: Tensor) -> None:
        """Some steps of descent: options `chosen` (n,) at what was seen (n, width) were worth `target` (n,)."""
        order = torch.randperm(len(seen), generator=self.generator).to(seen.device)
        for rows in order.tensor_split(-(-len(order) // 256)):
            value = self._controller(seen[rows], options).gather(1, chosen[rows, None]).squeeze(1)
            self._descent.step(mse_loss(value, target[rows]))

    def state_dict(self) -> dict[str, Any]:
        """All that learning goes on from."""
        return {"generator": self.generator.get_state(), "optimizer": self._descent.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.generator.set_state(state["generator"])
        self._descent.load_state_dict(state["optimizer"])


class OptionMemory(Memory):
    """The option under way beside another memory, which follows the machine.

    An option ends where the most probable state changes. What can be chosen then is weighed by the belief: edges of
    states that are hardly believed in are hardly chosen. The carry is (envs, 1 + …): the option, negative where one
    must be chosen, and the carry of the other memory.
    """

    def __init__(
        self,
        memory: Memory,
        tasks: TaskSet,
        device: torch.device,
        controller: Controller,
        learner: ControllerLearner | None = None,
    ) -> None:
        """`learner`: in training; without one the best options are chosen."""
        self._memory, self._tasks, self._device = memory, tasks, device
        self.controller, self._learner = controller, learner
        self.options = Options.of(tasks)
        self.features = option_features(self.options).to(device)
        self.size = int(self.features.shape[1])
        self.sees_truth, self.belief = memory.sees_truth, memory.belief
        self._targets = torch.tensor(self.options.targets, dtype=torch.int64, device=device)
        self._possible = torch.tensor(self.options.possible, dtype=torch.float32, device=device)
        self.happened = torch.zeros(len(self.options), dtype=torch.bool, device=device)
        """(options,) whether the guard of an option was ever true."""

    def start(self, count: int) -> Tensor:
        return self._joined(self._memory.start(count))

    def begin(self, task: Tensor) -> Tensor:
        return self._joined(self._memory.begin(task))

    def read(self, carry: Tensor, seen: Transition) -> Tensor:
        """The other memory reads; the option goes on where the state is the same."""
        before = self._own(carry)
        after = self._memory.read(before, seen)
        same = self._believed(before).argmax(-1) == self._believed(after).argmax(-1)
        return self._joined(after, torch.where(same, carry[:, 0], -1.0))

    def feature(self, carry: Tensor) -> Tensor:
        """What the option aims at and avoids."""
        return self.features[carry[..., 0].long()]

    @torch.no_grad()
    def settled(self, carry: Tensor, summary: Callable[[], Tensor]) -> Tensor:
        """With an option where one must be chosen."""
        open_ = carry[:, 0] < 0
        if not bool(open_.any()):
            return carry
        own = self._own(carry)
        offered = self._offered(own)
        chosen = self._best(self._values(summary(), own), offered)
        if self._learner is not None:
            drawn = torch.multinomial(offered.cpu(), 1, generator=self._learner.generator).squeeze(1).to(chosen.device)
            explores = torch.rand(len(carry), generator=self._learner.generator).to(chosen.device) < EPSILON
            chosen = torch.where(explores, drawn, chosen)
        return torch.cat([torch.where(open_, chosen.to(carry.dtype), carry[:, 0]).unsqueeze(1), carry[:, 1:]], 1)

    def credited(self, rollout: Rollout, summary: Callable[[Tensor], Tensor]) -> Rollout:
        """The rollout as options learn from it: paid where one makes its guard true, over where it ends.

        The controller learns from the rollout as it was.
        """
        option, ended = rollout.carry[..., 0].long(), rollout.final_carry[..., 0] < 0
        with torch.no_grad():
            self._learn(rollout, summary, option, ended)
            paid = BEST * self._made(rollout, option) * ended
        return rollout._replace(reward=paid.to(rollout.reward.dtype), terminated=rollout.terminated | ended)

    def _made(self, rollout: Rollout, option: Tensor) -> Tensor:
        """(time, envs) how probable it is that a step took an edge of the option."""
        before, after = (self._believed(self._own(carry)) for carry in (rollout.carry, rollout.final_carry))
        state, reached = before.argmax(-1, keepdim=True), after.argmax(-1, keepdim=True)
        self.happened |= ((self._targets[state.squeeze(-1)] == reached) & (state != reached)).flatten(0, -2).any(0)
        targets = self._targets.t()[option]
        moves = (targets >= 0) & (targets != torch.arange(targets.shape[-1], device=targets.device))
        return (before * after.gather(-1, targets.clamp(min=0)) * moves).sum(-1)

    def _learn(self, rollout: Rollout, summary: Callable[[Tensor], Tensor], option: Tensor, ended: Tensor) -> None:
        """Towards the rewards of an option and of those that came after it."""
        assert self._learner is not None
        shape = rollout.reward.shape
        flat = Rollout(*(column.flatten(0, 1) for column in rollout))
        own, reached = self._own(flat.carry), self._own(flat.final_carry)
        values = self._values(summary(flat.observation), own).gather(1, option.view(-1, 1)).view(shape)
        after = self._values(summary(flat.final_observation), reached)
        following = torch.where(ended.flatten(), self._best(after, self._offered(reached)), option.flatten())
        worth = after.gather(1, following.unsqueeze(1)).view(shape)
        over = rollout.terminated, rollout.truncated
        gained = advantages(rollout.reward / BEST, values, worth, *over, GAMMA, LAMBDA)
        seen = self._seen(summary(flat.observation), own)
        with torch.enable_grad():
            self._learner.learn(seen, self.features, option.flatten(), (values + gained).flatten())

    def _seen(self, summary: Tensor, own: Tensor) -> Tensor:
        return torch.cat([summary, self._memory.feature(own)], 1)

    def _values(self, summary: Tensor, own: Tensor) -> Tensor:
        """(n, options) what each is worth."""
        value: Tensor = self.controller(self._seen(summary, own), self.features)
        return value

    def _offered(self, own: Tensor) -> Tensor:
        """(n, options) how probable it is that an option is possible."""
        return self._believed(own) @ self._possible

    def _best(self, values: Tensor, offered: Tensor) -> Tensor:
        """(n,) the best option; what is hardly possible must be worth the more."""
        return (values + offered.log()).argmax(1)

    def _joined(self, own: Tensor, option: Tensor | None = None) -> Tensor:
        flat = own.to(torch.float32).view(len(own), -1)
        first = flat.new_full((len(own),), -1.0) if option is None else option
        return torch.cat([first.unsqueeze(1), flat], 1)

    def _own(self, carry: Tensor) -> Tensor:
        """The carry of the other memory: row numbers, or rows."""
        return carry[..., 1:] if self._memory.table is None else carry[..., 1].long()

    def _believed(self, own: Tensor) -> Tensor:
        """(…, states) how probable each state is, of all tasks together."""
        return self._memory.believed(own)

    def report(self, carry: Tensor, seen: Transition, reached: Tensor) -> Report:
        return self._memory.report(self._own(carry), seen, self._own(reached))

    def refresh(self) -> None:
        self._memory.refresh()

    def finish(self) -> None:
        """Warn of edges that training has never met."""
        if untaken := self.options.untaken(self.happened.tolist()):
            said = f"no observation of training triggered {listing(untaken, 4)}: the options for it learned nothing"
            warnings.warn(said, NrmWarning, stacklevel=2)

    def on(self, frames: Tensor | None, tasks: TaskSet, belief: Belief | None = None) -> OptionMemory:
        """The same for another environment, where it explores no more."""
        return OptionMemory(self._memory.on(frames, tasks, belief), tasks, self._device, self.controller)

    def state_dict(self) -> dict[str, Any]:
        learner = {} if self._learner is None else self._learner.state_dict()
        return {"controller": self.controller.state_dict(), "happened": self.happened, "learner": learner}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.controller.load_state_dict(state["controller"])
        self.happened = state["happened"].to(self._device)
        if self._learner is not None:
            self._learner.load_state_dict(state["learner"])


def option_features(options: Options) -> Tensor:
    """(options, 2 * letters) the letters that each aims at, and those that lose the task."""
    machine = options.tasks.union
    both = [torch.from_numpy(kind[:, machine.letter_class]) for kind in (options.aims, options.loses)]
    return torch.cat(both, 1).float()


def _with_options(prepare: Prepare, env: BatchedEnv, settings: Any, features: int, seed: int) -> Prepared:
    """A method that follows a machine, with options on top."""
    prepared = prepare(env, settings, features, seed)
    width = option_features(Options.of(env.tasks)).shape[1]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed + 2)
        controller = Controller(features + prepared.memory.size, width).to(env.device)
    learner = ControllerLearner(controller, seed)
    return prepared._replace(memory=OptionMemory(prepared.memory, env.tasks, env.device, controller, learner))


for base, name, label, colour, dark in (
    (RM, "hrm", "HRM", "#3f3f9f", "#8f8fe0"),
    (NRM, "hrm-nrm", "HRM, learned symbols", "#b0305c", "#ff7fa8"),
):
    METHODS.register(
        replace(
            base,
            name=name,
            label=label,
            knows=base.knows.replace("task", "task, whose edges are options", 1),
            prepare=partial(_with_options, base.prepare),
            colour=colour,
            dark=dark,
            dash=(5, 1, 1, 1),
            marker="P",
        )
    )
