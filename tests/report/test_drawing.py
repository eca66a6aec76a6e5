"""The machine on a page: as a drawing, and as a table."""

from __future__ import annotations

import pytest

import nrm
from nrm.errors import MissingExtraError
from nrm.report import drawing


def test_the_drawing_has_every_state_and_move() -> None:
    pytest.importorskip("pygraphviz")
    machine = nrm.compile("F a & F b & G !c", "a b c d")
    shown = drawing.drawing(machine)
    assert shown is not None
    assert sorted(node["state"] for node in shown["nodes"]) == list(range(machine.states))
    pairs = {(state, int(target)) for state in range(machine.states) for target in machine.columns[state]}
    assert {(edge["from"], edge["to"]) for edge in shown["edges"]} == pairs | {(-1, machine.initial)}
    for node in shown["nodes"]:
        x, y = node["at"]
        assert 0 <= x <= shown["width"]
        assert 0 <= y <= shown["height"]


def test_without_graphviz_there_is_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise MissingExtraError("no pygraphviz")

    monkeypatch.setattr(drawing, "graphviz", missing)
    data = drawing.machine_data(nrm.compile("F a", "a b"))
    assert data["drawing"] is None
    assert data["moves"] == [[[1, "a"], [0, "b"]], [[1, "true"]]]
    assert [state["level"] for state in data["states"]] == [0, 100]
