"""A learned machine: its moves, which letters mean the same, what it says of episodes, and when they refute it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nrm.inference.evidence import Evidence, Ints
from nrm.inference.label_noise import ForwardBackward, LetterModel, observed_pairs
from nrm.machines import Alphabet, MooreMachine

IDLE = 0
"""The symbol of all letters at which nothing was ever seen to happen."""


class Certainty(NamedTuple):
    """How much of a machine was seen."""

    seen: int
    """Transitions that some episode took."""
    rare: int
    """Those of them that were taken only once."""
    assumed: int
    """Transitions of its symbols that nobody took. They are those of a letter alike, or do nothing."""

    def __str__(self) -> str:
        rest = f", {self.assumed} assumed" if self.assumed else ""
        return f"{self.seen} transitions seen ({self.rare} once){rest}"


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """A complete machine over letters. State 0 is the initial one."""

    table: Ints
    """(states, letters) the next state."""
    levels: Ints
    """(states,) the index of the potential of each."""
    seen: Ints
    """(states, letters) how often each transition was taken in what was learned from."""
    symbols: Ints
    """(letters,) the symbol of each: letters that the machine treats alike share one, and `IDLE` ones do nothing."""

    @classmethod
    def blank(cls, letters: int, initial: int) -> Hypothesis:
        """One state in which nothing ever happens: what is believed before anything was seen."""
        shape = (1, letters)
        zeros = np.zeros(letters, dtype=np.int64)
        return cls(np.zeros(shape, dtype=np.int64), np.array([initial]), np.zeros(shape, dtype=np.int64), zeros)

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.levels)

    @property
    def letters(self) -> int:
        """How many letters there are."""
        return int(self.table.shape[1])

    @property
    def symbol_count(self) -> int:
        """How many symbols there are, the idle one included."""
        return int(self.symbols.max(initial=0)) + 1

    def same_as(self, other: Hypothesis) -> bool:
        """Whether it says the same: letters that one does not know yet do nothing."""
        known = min(self.letters, other.letters)
        if self.states != other.states or (self.symbols[known:] != IDLE).any() or (other.symbols[known:] != IDLE).any():
            return False
        pairs = ((self.table, other.table), (self.symbols[None], other.symbols[None]))
        same = all(np.array_equal(mine[:, :known], theirs[:, :known]) for mine, theirs in pairs)
        return same and np.array_equal(self.levels, other.levels)

    def table_over(self, letters: int) -> Ints:
        """(states, letters) the next states by so many letters. Those that it does not know do nothing."""
        unknown = np.repeat(np.arange(self.states)[:, None], max(0, letters - self.letters), 1)
        return np.concatenate([self.table[:, :letters], unknown], 1)

    def follow(self, evidence: Evidence) -> Ints:
        """(steps,) the state after each step of some episodes, by the letters that were observed."""
        table = self.table_over(evidence.letter_count)
        result = np.zeros(len(evidence.letters), dtype=np.int64)
        begun, going = evidence.by_length
        state = np.zeros(len(begun), dtype=np.int64)
        for time, active in enumerate(going):
            steps = begun[:active] + time
            state[:active] = table[state[:active], evidence.letters[steps]]
            result[steps] = state[:active]
        return result

    def symbol_table(self) -> tuple[Ints, Ints]:
        """(states, symbols) the next states, and how often each was seen, over all letters of a symbol."""
        count = self.symbol_count
        table = np.repeat(np.arange(self.states)[:, None], count, 1)
        seen = np.zeros((self.states, count), dtype=np.int64)
        for symbol in range(count):
            mine = np.flatnonzero(self.symbols == symbol)
            if len(mine):
                table[:, symbol] = self.table[:, mine[0]]
                seen[:, symbol] = self.seen[:, mine].sum(1)
        return table, seen

    def certainty(self) -> Certainty:
        """What was seen of it, over symbols. Where episodes end nothing can be seen, and nothing is assumed."""
        _, seen = self.symbol_table()
        left = seen.any(1)
        return Certainty(int((seen > 0).sum()), int((seen == 1).sum()), int((seen[left] == 0).sum()))

    def machine(self, values: NDArray[np.float64], names: tuple[str, ...] | None = None) -> MooreMachine:
        """As a machine over its symbols, or over all letters where their `names` are given."""
        outputs = values[self.levels]
        table = self.symbol_table()[0] if names is None else self.table
        known = names or ("idle", *(f"s{number}" for number in range(1, self.symbol_count)))
        accepting = outputs == outputs.max()
        return MooreMachine.from_table(Alphabet.exclusive(known), table.astype(np.int32), accepting, outputs)


def agreement(before: Ints, after: Ints, old_states: int, new_states: int) -> Ints:
    """(new states, old states) at how many steps two machines are in both."""
    shared = np.zeros((new_states, old_states), dtype=np.int64)
    np.add.at(shared, (after, before), 1)
    return shared


def renumbered(shared: Ints, old: Ints, room: int) -> Ints:
    """(new states,) their numbers below `room`, given those of the old states (old states,)."""
    count = len(shared)
    result = np.full(count, -1, dtype=np.int64)
    result[0] = old[0]
    taken = {0}
    order = np.argsort(-shared, axis=None, kind="stable")
    for new, known in zip(*(part.tolist() for part in np.unravel_index(order, shared.shape)), strict=True):
        if shared[new, known] and result[new] < 0 and known not in taken:
            result[new] = old[known]
            taken.add(known)
    used = set(result.tolist())
    fresh = [number for number in range(room) if number not in set(old.tolist())]
    free = iter([*fresh, *(number for number in old.tolist() if number not in used)])
    for state in range(count):
        if result[state] < 0:
            result[state] = next(free)
    return result


def improbable(
    found: NDArray[np.number], tries: NDArray[np.number], chance: float | NDArray[np.float64], sure: float = 1e-4
) -> NDArray[np.bool_]:
    """(…) whether so many (…) out of so many tries (…) are more than slips of a chance, or of chances (…), explain."""
    if not np.any(chance):
        return found > 0
    share = found / np.maximum(tries, 1)
    above = share > chance
    inside = np.clip(share, chance, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.where(inside < 1, (1 - inside) * np.log((1 - inside) / (1 - chance)), 0.0)
        divergence = inside * np.log(inside / chance) + rest
    result: NDArray[np.bool_] = above & (tries * divergence > -math.log(sure))
    return result


class Following(NamedTuple):
    """Steps of episodes in a machine, in the order of the evidence."""

    states: Ints
    """(steps,) the state after each; the most probable one, where letters may be wrong."""
    said: Ints
    """(steps,) the potential that the machine says, before it is shown; the most probable one."""
    slips: NDArray[np.float64]
    """(steps,) how probable it is that the letter observed or the potential shown is wrong."""


def following(known: Hypothesis, evidence: Evidence) -> Following:
    """Let episodes go through a machine."""
    if not evidence.label_noise:
        states = known.follow(evidence)
        said = known.levels[states]
        return Following(states, said, (said != evidence.levels).astype(np.float64))
    table, levels = known.table_over(evidence.letter_count), known.levels
    through = ForwardBackward(evidence)
    forward = through.forward(table, levels)
    before = through.after(table, levels, forward)
    of_level = np.zeros((known.states, evidence.level_count))
    of_level[np.arange(known.states), levels] = 1.0
    states = (before * through.shown[:, levels][evidence.levels]).argmax(1)
    slips = np.zeros(len(states))
    slips[through.steps[through.present]] = through.slips(table, levels, forward).sum(2)[through.present]
    return Following(states, (before @ of_level).argmax(1), slips)


class Refutation(NamedTuple):
    """The episode that refuted a machine."""

    episode: int
    """Its place in the evidence."""
    step: int
    """The step that the machine calls impossible, counting from 0."""
    expected: int
    """The potential that the machine says there, as an index."""
    shown: int
    """The potential that was shown."""


class Tally:
    """How often a machine was right about each of its transitions, since it was learned."""

    def __init__(self, hypothesis: Hypothesis) -> None:
        self.hypothesis = hypothesis
        self.tries = np.zeros(hypothesis.table.shape)
        """(states, letters) how often each letter was observed in each state."""
        self.wrong = np.zeros(hypothesis.table.shape)
        """(states, letters) how often another potential was shown then than the machine says."""

    def counts(self) -> dict[str, NDArray[np.float64]]:
        """All that is counted, by name."""
        return {"tries": self.tries, "wrong": self.wrong}

    def load(self, counts: Mapping[str, NDArray[np.number]]) -> None:
        """Go on from what `counts` gave."""
        for name in self.counts():
            setattr(self, name, counts[name].astype(np.float64))

    def add(self, evidence: Evidence) -> Refutation | None:
        """Take in episodes; the one that refutes the machine, the first step of all, if any does."""
        self.tries, self.wrong = (_wider(counts, evidence.letter_count) for counts in (self.tries, self.wrong))
        after = self.hypothesis.follow(evidence)
        before = evidence.before(after, 0)
        said = self.hypothesis.levels[after]
        wrong = said != evidence.levels
        np.add.at(self.tries, (before, evidence.letters), 1)
        if not wrong.any():
            return None
        np.add.at(self.wrong, (before[wrong], evidence.letters[wrong]), 1)
        refuted = improbable(self.wrong, self.tries, evidence.reward_noise)
        steps = np.flatnonzero(wrong & refuted[before, evidence.letters])
        if not len(steps):
            return None
        step = int(steps[0])
        return Refutation(*evidence.place(step), int(said[step]), int(evidence.levels[step]))


class LabelNoiseTally(Tally):
    """The same where letters may be wrong: all counts are probable ones."""

    def __init__(self, hypothesis: Hypothesis, learned_from: Evidence) -> None:
        super().__init__(hypothesis)
        self.expected = np.zeros(hypothesis.table.shape)
        """(states, letters) how often the machine would be wrong if it were the task's, or the letter observed."""
        self.pairs = observed_pairs(learned_from)
        """(letters + 1, letters) what was observed after what, as of `LetterModel`, so far."""

    def counts(self) -> dict[str, NDArray[np.float64]]:
        """What is expected too."""
        return {**super().counts(), "expected": self.expected, "pairs": self.pairs}

    def add(self, evidence: Evidence) -> Refutation | None:
        """By beliefs. A step is wrong where the letter observed does not explain the potential."""
        count = evidence.letter_count
        self.tries, self.wrong, self.expected = (
            _wider(counts, count) for counts in (self.tries, self.wrong, self.expected)
        )
        self.pairs = np.pad(self.pairs, (0, count - self.pairs.shape[1])) + observed_pairs(evidence)
        table, levels = self.hypothesis.table_over(count), self.hypothesis.levels
        through = ForwardBackward(evidence, LetterModel.of(self.pairs, evidence.label_noise))
        forward = through.forward(table, levels)
        slips = through.slips(table, levels, forward)
        chances = 1 - np.take_along_axis(through.likely, through.letters[..., None], 2) * through.shown[0, 0]
        for counts, steps in (
            (self.tries, forward.before),
            (self.wrong, slips),
            (self.expected, forward.before * chances),
        ):
            np.add.at(counts.T, through.letters[through.present], steps[through.present])
        refuted = improbable(self.wrong, self.tries, self.expected / np.maximum(self.tries, 1e-9))
        before = forward.before.argmax(2)
        said = levels[table[before, through.letters]]
        found = through.present & (slips.sum(2) > 0.5) & refuted[before, through.letters] & (said != through.levels)
        steps = through.steps[found]
        if not len(steps):
            return None
        first = int(steps.argmin())
        return Refutation(
            *evidence.place(int(steps[first])), int(said[found][first]), int(through.levels[found][first])
        )


def explained(known: Hypothesis, evidence: Evidence) -> float:
    """The share of episodes that a machine explains, as far as what is wrong in them may be chance."""
    wrong = np.add.reduceat(following(known, evidence).slips, evidence.begun)
    return float(1 - improbable(wrong, evidence.lengths, evidence.reward_noise + evidence.label_noise, 0.01).mean())


def _wider(counts: NDArray[np.float64], letters: int) -> NDArray[np.float64]:
    """Room for letters that came later."""
    missing = letters - counts.shape[1]
    return counts if missing <= 0 else np.pad(counts, ((0, 0), (0, missing)))
