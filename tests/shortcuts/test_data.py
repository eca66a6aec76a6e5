"""Shortcuts that data leaves, against trying all maps on the data."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nrm
from nrm.errors import LimitError, TraceError, UnknownSymbolError
from nrm.machines import MooreMachine
from nrm.shortcuts import shortcuts
from nrm.shortcuts.data_shortcuts import DataShortcuts, Prefixes
from tests.shortcuts.planted import planted


@settings(max_examples=120, deadline=None)
@given(planted(), st.data())
def test_data_sets(machine: MooreMachine, data: st.DataObject) -> None:
    symbols = machine.alphabet.symbols
    trace = st.lists(st.sampled_from(symbols), max_size=6)
    traces = [*data.draw(st.lists(trace, max_size=5)), [symbols[0]]]
    left = shortcuts(machine).left_by(traces)
    count = 0
    for images in product(symbols, repeat=len(symbols)):
        mapping = dict(zip(symbols, images, strict=True))
        works = all(
            machine.run(trace).outputs == machine.run([mapping[symbol] for symbol in trace]).outputs for trace in traces
        )
        assert (mapping in left) == works
        count += works
    assert left.count == count


def test_data_of_many_symbols() -> None:
    names = [f"s{number}" for number in range(400)]
    machine = nrm.compile("F s0 & F s1", names)
    # Each symbol once before anything is found; then the two that matter.
    left = shortcuts(machine).left_by([[name, "s0", "s1"] for name in names[2:]])
    assert left.count == 2 * 398**398
    assert len(left.seen) == 400


def test_symbols_without_data_may_be_anything() -> None:
    machine = nrm.compile("F a & F b", nrm.logic.PAPER_SYMBOLS)
    left = shortcuts(machine).left_by([["a"]])
    assert left.seen == ("a",)
    assert left.count == 2 * 5**4


def test_bad_data_is_told() -> None:
    found = shortcuts(nrm.compile("F a & F b", nrm.logic.PAPER_SYMBOLS))
    with pytest.raises(TraceError, match="data set is empty"):
        found.left_by([])
    with pytest.raises(TraceError, match="data set is empty"):
        found.left_by([[], []])
    with pytest.raises(UnknownSymbolError, match=r"trace 2.*'z'.*step 1"):
        found.left_by([["a"], ["z"]])
    with pytest.raises(TraceError, match="trace 2: "):
        found.left_by([["a"], [("a", "b")]])
    tree = Prefixes.of(found.machine, [["a", "b", "c"]])
    with pytest.raises(LimitError, match="visits"):
        _ = DataShortcuts(found.machine, tree, visits=3).count


@pytest.mark.parametrize("formula", ["F(a & F b) & G !c", "F a & F b"])
def test_verdicts_at_the_end_leave_what_all_maps_leave(formula: str) -> None:
    names = ("a", "b", "c", "d")
    machine = nrm.compile(formula, names, reward="acceptance")
    generator = np.random.default_rng(0)
    traces = [[names[letter] for letter in generator.integers(4, size=length)] for length in (1, 2, 3, 3, 4, 5)]
    left = shortcuts(machine).left_by(traces, ends_only=True)
    every = [dict(zip(names, image, strict=True)) for image in product(names, repeat=4)]
    kept = [
        one
        for one in every
        if all(machine.accepts([one[name] for name in trace]) == machine.accepts(trace) for trace in traces)
    ]
    assert left.count == len(kept) >= shortcuts(machine).left_by(traces).count
    assert all((one in left) == (one in kept) for one in every)
