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


@pytest.mark.parametrize(
    "formula", ["F {0} & F {1} & G !{2}", "F({0} & F({1} & F {3})) & G !{2}", "F {0} & F {1} & F {3}"]
)
def test_labels_do_not_collide(formula: str) -> None:
    pytest.importorskip("pygraphviz")
    shown = drawing.drawing(nrm.compile(formula.format(*nrm.envs.MINECRAFT_SYMBOLS), nrm.envs.MINECRAFT_SYMBOLS))
    assert shown is not None
    boxes = [box for edge in shown["edges"] for box in drawing._boxes(edge["label"])]
    for number, box in enumerate(boxes):
        assert not drawing._covered([box], boxes[:number])


def test_without_graphviz_there_is_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise MissingExtraError("no pygraphviz")

    monkeypatch.setattr(drawing, "graphviz", missing)
    data = drawing.machine_data(nrm.compile("F a", "a b"))
    assert data["drawing"] is None
    assert data["moves"] == [[[1, "a"], [0, "b"]], [[1, "true"]]]
    assert [state["level"] for state in data["states"]] == [0, 100]
