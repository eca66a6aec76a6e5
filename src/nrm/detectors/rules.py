"""The rules that verdicts are about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nrm.errors import AlphabetError, EpisodeError, LearningError, listing
from nrm.machines import MachineLike, TaskSet, alphabet_of, as_machine, compile_formula


def compiled_rules(tasks: MachineLike | Sequence[MachineLike], symbols: Sequence[str] | str, reward: str) -> TaskSet:
    """The rules as machines over symbols of which one holds at each step; an error where verdicts teach nothing."""
    alphabet = alphabet_of(symbols)
    if alphabet is None or len(alphabet.symbols) < 2:
        raise AlphabetError(f"give the names of at least two symbols, not {symbols!r}")
    rules = tasks if isinstance(tasks, Sequence) and not isinstance(tasks, str) else [tasks]
    if not rules or "" in rules:
        raise LearningError("a detector needs a rule: EventDetector('F(a & F b)', symbols=['a', 'b', 'c'])")
    machines = [
        compile_formula(rule, alphabet, reward=reward) if isinstance(rule, str) else as_machine(rule, alphabet)
        for rule in rules
    ]
    found = TaskSet(tuple(machines), tuple(map(str, rules)))
    for rule, machine in zip(found.names, machines, strict=True):
        if machine.accepting.all() or not machine.accepting.any():
            kind = "passes" if machine.accepting.all() else "fails"
            raise LearningError(f"every recording {kind} '{rule}', so that its verdict teaches nothing")
        if machine.classes == 1:
            raise LearningError(
                f"'{rule}' treats all of {listing(alphabet.symbols)} alike, so that no verdict tells them apart"
            )
    return found


def rule_numbers(rules: TaskSet, given: Sequence[Any] | None, count: int) -> list[int]:
    """(recordings,) the number of each recording's rule, which is given by its text or its number."""
    named = rules.either([0] * count, None) if given is None else given
    if named is None:
        raise EpisodeError(f"there are {len(rules)} rules; say which each recording is of: tasks=[…]")
    if len(named) != count:
        raise EpisodeError(f"rules of {len(named)} recordings, but there are {count}")
    places = {name: number for number, name in enumerate(rules.names)}
    found = [places.get(rule, -1) if isinstance(rule, str) else int(rule) for rule in named]
    for number, rule in enumerate(found):
        if not 0 <= rule < len(rules):
            raise EpisodeError(f"recording {number} is of rule {named[number]!r}, not of {listing(rules.names)}")
    return found
