"""From episodes to a machine: idle letters are dropped, states are merged, letters become symbols.

Letters at which the potential never changes are left out at first, and let in one by one where episodes contradict each
other without them: a letter may move the machine at once and show it later.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nrm.errors import ContradictionError, LearningError
from nrm.inference.evidence import Evidence, Ints
from nrm.inference.hypothesis import IDLE, Hypothesis, following, improbable
from nrm.inference.label_noise import LabelNoiseSearch
from nrm.inference.merging import (
    UNSEEN,
    Candidate,
    Merged,
    PrefixTree,
    fewer_states,
    merge,
    prefix_tree,
    search_order,
)
from nrm.inference.search import RewardNoiseSearch


class TooManyStatesError(LearningError):
    """No machine with so few states was found that explains the episodes."""


def learn_machine(evidence: Evidence, max_states: int = 32) -> Hypothesis:
    """The smallest machine that is found to explain the episodes."""
    shown = len(np.union1d(evidence.levels, [evidence.initial]))
    if shown > max_states and not evidence.reward_noise:
        raise TooManyStatesError(
            f"the rewards of the {len(evidence.lengths)} episodes add up to {shown} different potentials, each "
            f"needs a state, and at most {max_states} are allowed; give it more states, or see whether rewards are a "
            "unbounded sum, which no machine pays"
        )
    if evidence.reward_noise or evidence.label_noise:
        return _despite_slips(evidence, max_states)
    tree = explaining_tree(evidence)
    merged = merge(tree, max_states)
    smaller: Merged | None = merged
    while smaller is not None and smaller.states > 1:
        merged = smaller
        smaller = fewer_states(tree, min(merged.states - 1, max_states))
    return _completed(smaller or merged, tree, evidence, max_states)


def _despite_slips(evidence: Evidence, max_states: int) -> Hypothesis:
    """The same where potentials or letters are sometimes wrong, so that single episodes say little."""
    kind = LabelNoiseSearch if evidence.label_noise else RewardNoiseSearch
    fit = kind.shortest(evidence, max_states, _as_if_right(evidence, max_states))
    letters = tuple(np.flatnonzero(fit.moves.any(0)).tolist())
    symbols, whole = alike(np.where(fit.seen > 0, fit.candidate.table, UNSEEN), fit.seen, letters)
    order, place = search_order(whole)
    found = Hypothesis(place[whole[order]], fit.candidate.levels[order], fit.seen[order], symbols)
    _check_levels(found, evidence, max_states)
    slips, chance = following(found, evidence).slips.sum(), evidence.reward_noise + evidence.label_noise
    if improbable(slips, np.array(len(evidence.levels)), 1.5 * chance):
        names = " and ".join(name for name in ("reward_noise", "label_noise") if getattr(evidence, name))
        raise TooManyStatesError(
            f"the best machine of at most {max_states} states that was found takes {slips:.0f} of "
            f"{len(evidence.levels)} steps for wrong, more than {chance:g} of them ({names}) explains; give it more "
            "states, or say that rewards or symbols are wrong oftener"
        )
    return found


def _check_levels(found: Hypothesis, evidence: Evidence, max_states: int) -> None:
    """Raise where a potential was shown that no state has, oftener than wrong potentials explain."""
    shown = np.bincount(evidence.levels, minlength=evidence.level_count)
    shown[found.levels] = 0
    by_chance = evidence.reward_noise / max(1, evidence.level_count - 1)
    missing = np.flatnonzero(improbable(shown, np.full(len(shown), len(evidence.levels)), by_chance))
    if len(missing):
        raise TooManyStatesError(
            f"{shown[missing].sum()} of {len(evidence.levels)} steps show potentials ({len(missing)} of "
            f"{evidence.level_count}) for which the best machine of at most {max_states} states that was found has no "
            "state, and wrong rewards (reward_noise) do not explain so many; give it more states or more episodes"
        )


def _as_if_right(evidence: Evidence, max_states: int) -> list[Candidate]:
    """The machine that merging finds, where nothing contradicts itself: less may be wrong than is said."""
    right = replace(evidence, reward_noise=0.0, label_noise=0.0)
    if prefix_tree(right, right.active).slips.any():
        return []
    try:
        found = learn_machine(right, max_states)
    except TooManyStatesError:
        return []
    return [Candidate(found.table_over(evidence.letter_count), found.levels)]


def explaining_tree(evidence: Evidence) -> PrefixTree:
    """Over the letters without which histories that look the same show different potentials."""
    tree = prefix_tree(evidence, evidence.active)
    while tree.slips.any():
        candidates = _candidates(evidence, tree)
        if not candidates:
            raise _contradiction(evidence, tree)
        trees = [prefix_tree(evidence, tuple(sorted((*tree.letters, one)))) for one in candidates]
        tree = trees[int(np.argmin([4 * int(one.slips.sum()) + len(one.children) for one in trees]))]
    return tree


def _completed(merged: Merged, tree: PrefixTree, evidence: Evidence, max_states: int) -> Hypothesis:
    """With counts, symbols and all transitions."""
    if merged.states > max_states:
        raise TooManyStatesError(
            f"no machine of at most {max_states} states was found that explains the {len(evidence.lengths)} episodes; "
            "give it more states, or, if rewards or symbols are sometimes wrong, say how often (reward_noise, "
            "label_noise)"
        )
    after = merged.of_node[tree.of_step]
    seen = np.zeros((merged.states, evidence.letter_count), dtype=np.int64)
    np.add.at(seen, (evidence.before(after, 0), evidence.letters), 1)
    symbols, table = alike(merged.table, seen, tree.letters)
    return Hypothesis(table, merged.levels, seen, symbols)


def alike(table: Ints, seen: Ints, letters: tuple[int, ...]) -> tuple[Ints, Ints]:
    """Symbols (letters,) of all letters, and the complete table (states, letters) that follows from them.

    `table`: with open transitions; `seen`: how often each was taken; `letters`: those that count. Two of them are one
    symbol when no state tells them apart and some move is common to both. An open transition is that of a letter alike,
    else it does nothing; letters that do not count are idle.
    """
    stay = np.arange(len(table))
    classes: list[list[int]] = []
    columns: list[Ints] = []
    # Letters with the most evidence first: they differ most clearly.
    for letter in sorted(letters, key=lambda one: (-int(seen[:, one].sum()), one)):
        column = table[:, letter]
        best, most = -1, 0
        for number, known in enumerate(columns):
            both = (known != UNSEEN) & (column != UNSEEN)
            if (known[both] != column[both]).any():
                continue
            common = int((both & (column != stay)).sum())
            if common > most:
                best, most = number, common
        if best < 0:
            classes.append([letter])
            columns.append(column.copy())
        else:
            classes[best].append(letter)
            columns[best] = np.where(columns[best] == UNSEEN, column, columns[best])
    symbols = np.full(table.shape[1], IDLE, dtype=np.int64)
    whole = np.repeat(stay[:, None], table.shape[1], 1)
    # Symbols are numbered by their first letter.
    order = sorted(range(len(classes)), key=lambda number: min(classes[number]))
    for symbol, number in enumerate(order, IDLE + 1):
        symbols[classes[number]] = symbol
        whole[:, classes[number]] = np.where(columns[number] == UNSEEN, stay, columns[number])[:, None]
    return symbols, whole


def _candidates(evidence: Evidence, tree: PrefixTree) -> list[int]:
    """Idle letters whose presence in the history tells most about the potential where histories clash, best first."""
    steps = np.flatnonzero(tree.slips[tree.of_step])
    odd = evidence.levels[steps] != tree.levels[tree.of_step[steps]]
    episode = np.searchsorted(evidence.begun, np.arange(len(evidence.letters)), side="right") - 1
    # (episodes, letters) the step at which each was read first.
    first = np.full((len(evidence.lengths), evidence.letter_count), len(evidence.letters))
    np.minimum.at(first, (episode, evidence.letters), np.arange(len(evidence.letters)))
    read = first[episode[steps]] <= steps[:, None]
    idle = [letter for letter in np.unique(evidence.letters).tolist() if letter not in tree.letters]
    gains = {letter: _information(read[:, letter], odd) for letter in idle}
    return sorted(idle, key=lambda letter: (-gains[letter], letter))[:8]


def _information(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """Nats that one condition (n,) tells about another (n,)."""
    table = np.array([[(one & other).sum(), (one & ~other).sum()], [(~one & other).sum(), (~one & ~other).sum()]])
    joint = table / max(1, table.sum())
    apart = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    known = joint > 0
    return float((joint[known] * np.log(joint[known] / apart[known])).sum())


def _contradiction(evidence: Evidence, tree: PrefixTree) -> ContradictionError:
    """Two episodes that read the same letters and show different potentials, by name."""
    node = int(np.flatnonzero(tree.slips)[0])
    steps = np.flatnonzero(tree.of_step == node)
    usual = int(evidence.levels[steps[0]]) if node else evidence.initial
    one = int(steps[0])
    other = int(steps[evidence.levels[steps] != usual][0])
    (left, _), (right, step) = evidence.place(one), evidence.place(other)
    return ContradictionError(
        f"episodes {left + 1} and {right + 1} read the same up to step {step + 1} of the latter (counting from 1) and "
        "are paid differently, so no machine over what is observed explains both; if rewards or symbols are sometimes "
        "wrong, say how often (reward_noise, label_noise)",
        right + 1,
        step + 1,
    )
