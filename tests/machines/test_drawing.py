from __future__ import annotations

import sys
from pathlib import Path

import pytest

import nrm
from nrm import Task
from nrm.errors import FileError, LimitError, MissingExtraError
from nrm.machines import draw, render, text_picture


def test_pictures(tmp_path: Path) -> None:
    machine = nrm.compile('F a & G !b & F "odd name"', ["a", "b", "odd name"])
    draw(machine, tmp_path / "machine.svg", title="<a & b>")
    draw(machine, tmp_path / "machine.png")
    svg = (tmp_path / "machine.svg").read_text()
    assert "&lt;a &amp; b&gt;" in svg
    assert (tmp_path / "machine.png").read_bytes().startswith(b"\x89PNG")
    for state in range(machine.states):
        assert f">{state}</text>" in svg


def test_the_text_picture_names_every_state_and_move() -> None:
    text = text_picture(nrm.compile("F a & G !b", "a b c"))
    assert text.splitlines() == [
        "    (0)  potential 0   start",
        "         ├─ a                    → (1)",
        "         ├─ b                    → (2)",
        "         └─ c                    → stay",
        "  ((1))  potential 100   accepting",
        "         ├─ a | c                → stay",
        "         └─ b                    → (2)",
        "    (2)  potential -100   failure",
        "         └─ true                 → stay",
    ]


def test_large_machines_are_not_drawn() -> None:
    machine = nrm.compile("visit(a, b, c, d, e, f, g, h)", "a b c d e f g h")
    with pytest.raises(LimitError, match=r"256 states.*200"):
        render(machine, "svg")
    assert "and 196 more states" in text_picture(machine)
    assert "… to 1 more states" in text_picture(nrm.compile("F a & F b", "a b c"), most_moves=2)


def test_a_picture_shows_itself_and_can_be_saved(tmp_path: Path) -> None:
    task = Task(nrm.parse("F a & G !b"), nrm.Alphabet.exclusive("abc"))
    picture = draw(task)
    assert picture.svg.count("<ellipse") >= 3
    assert picture._repr_svg_() == picture.svg == task.machine()._repr_svg_()
    picture.save(tmp_path / "machine.svg")
    assert (tmp_path / "machine.svg").read_text() == picture.svg
    with pytest.raises(FileError, match=r"\.svg.*\.png.*'machine\.pdf'"):
        picture.save(tmp_path / "machine.pdf")
    assert "F a &amp; G !b" in (task._repr_svg_() or "")


def test_what_cannot_be_drawn_shows_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    assert nrm.compile("visit(a, b, c, d, e, f, g, h)", "a b c d e f g h")._repr_svg_() is None
    machine = nrm.compile("F a")

    def missing(*_: object, **__: object) -> None:
        raise ValueError("Program dot not found in path.")

    monkeypatch.setattr("pygraphviz.AGraph.draw", missing)
    with pytest.raises(MissingExtraError, match="Graphviz's program dot"):
        draw(machine).svg  # noqa: B018 - it is drawn when it is looked at
    assert machine._repr_svg_() is None


def test_without_pygraphviz_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    with pytest.raises(MissingExtraError, match=r"neural-reward-machines\[draw\]"):
        render(nrm.compile("F a"), "svg")
    assert nrm.compile("F a")._repr_svg_() is None
