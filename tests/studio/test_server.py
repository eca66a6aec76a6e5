"""Whom the studio answers, and what it refuses."""

from __future__ import annotations

import json
import socket
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from nrm.envs.registry import OwnEnvConfig
from nrm.errors import ConfigError, FileError, MissingExtraError
from nrm.studio import Studio, serve
from nrm.studio.questions import QUESTIONS
from tests.studio.conftest import NASTY


class Asker:
    """A browser that knows the token."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self.mine = {"x-token": studio.token, "origin": studio.origin}

    def send(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, dict[str, str], bytes]:
        line = HTTPConnection("127.0.0.1", self.studio.port, timeout=60)
        line.request(method, path, body, headers)
        answer = line.getresponse()
        found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        line.close()
        return found

    def status(self, name: str, body: Any = None, **headers: str) -> int:
        return self.send("POST", f"/ask/{name}", json.dumps(body or {}).encode(), **{**self.mine, **headers})[0]

    def __call__(self, what: str, /, **question: Any) -> Any:
        _, _, body = self.send("POST", f"/ask/{what}", json.dumps(question).encode(), **self.mine)
        found = json.loads(body)
        return found["error"] if "error" in found else found["answer"]


@pytest.fixture(scope="module")
def ask(live: Studio) -> Asker:
    return Asker(live)


def test_only_who_knows_the_token_is_answered(ask: Asker) -> None:
    status, headers, page = ask.send("GET", f"/?token={ask.studio.token}")
    assert status == 200
    assert headers["referrer-policy"] == "no-referrer"
    assert b"default-src 'none'" in page
    for address in ("/", "/?token=", "/?token=wrong", f"/?token={ask.studio.token}x", "/?token=%C3%A9"):
        assert ask.send("GET", address)[0] == 403
    assert ask.status("listed") == 200
    assert ask.status("listed", **{"x-token": "wrong"}) == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:8600"])
def test_other_pages_and_other_names_of_this_machine_are_refused(ask: Asker, origin: str) -> None:
    assert ask.status("listed", origin=origin) == 403
    assert ask.status("listed", host="evil.example:8600") == 403


def test_questions_that_make_no_sense(ask: Asker) -> None:
    assert ask.status("nothing") == 404
    assert ask.status("draw", {}) == 400
    assert ask.status("draw", {"text": 3}) == 400
    assert ask.status("draw", ["F a"]) == 400
    assert ask.status("draw", {"text": "a" * 300_000}) == 413
    assert ask.send("GET", f"/ask/draw?token={ask.studio.token}")[0] == 405
    assert ask.send("GET", f"/../secret?token={ask.studio.token}")[0] == 404


@pytest.mark.parametrize("place", ["..", "../../etc", "/etc", "deep/../../x", "link"])
def test_nothing_outside_of_the_folder(ask: Asker, root: Path, place: str, tmp_path: Path) -> None:
    (root / "link").unlink(missing_ok=True)
    (root / "link").symlink_to(tmp_path)
    for name in ("resume", "stop"):
        assert "not in the folder" in ask(name, name=place)
    assert "not in the folder" in ask("episode", agent=f"./{place}", text="F a")
    assert "no pretrained agent" in ask("episode", agent=place, text="F a")
    assert "letters, digits" in ask("begin", name=f"{place}/x", env="map", method="rm", amount=1, task="F gem")
    (root / "link").unlink()


def test_a_formula_is_drawn_explained_and_walked(ask: Asker) -> None:
    drawn = ask("draw", text="F a & G !b")
    assert len(drawn["machine"]["states"]) == 3
    assert drawn["symbols"] == ["a", "b"]
    said = dict(ask("explain", text="F a & G !b")["rows"])
    assert said["in words"] == "at some step a; and never b"
    walked = ask("walk", text="F a & G !b", steps=[["a"], [], ["a", "b"]])
    assert walked["rewards"] == [100.0, 0.0, -200.0]
    assert walked["status"] == "violated"
    exclusive = ask("draw", text="3", names="a,b,c,d,e", one=True)
    assert (exclusive["name"], exclusive["one"]) == ("F(a & F b)", True)
    assert "2 symbols at step 1" in ask("walk", text="F a", names="a b", one=True, steps=[["a", "b"]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("F (a &", "  F (a &\n        ^"),
        ("", "empty"),
        ("os:system: F a", "os:system"),
        ("/etc/passwd", "no files"),
        ("task.toml", "names a file"),
        ("machine.json", "names a file"),
        (" | ".join(f"(x{i} U y{i})" for i in range(40)), "too long"),
        ("F(a & " + "X " * 25 + "b)", "limit"),
        ("(" * 5000, "deep"),
    ],
)
def test_formulas_that_cannot_be_drawn(ask: Asker, text: str, said: str) -> None:
    assert said in ask("draw", text=text)
    assert "states" in ask("draw", text="F a")["machine"]


def test_an_agent_is_watched(ask: Asker) -> None:
    listed = {one["name"]: one for one in ask("agents")}
    assert {"letter", "layouts", "flat", "./many"} <= set(listed)
    assert "config.json" in listed["./damaged"]["problem"]
    assert listed["./many"]["symbols"] == ["a", "b", "c", "empty"]
    assert len(ask("formulas", name="./many")) > 3
    assert ask("formulas", name=f"./deep/{NASTY}") == []
    watched = {"agent": "./many", "text": "F(a & F b)", "seed": 3}
    shown = ask("episode", **watched)
    assert shown["task"]["name"] == "F(a & F b)"
    assert [one["greedy"] for one in shown["group"]["recordings"][0]["episodes"]] == [False, True]
    assert shown == ask("episode", **watched)
    assert shown != ask("episode", **{**watched, "seed": 4})
    assert ask("success", **watched)["episodes"] == 100
    assert ask("animation", **watched).startswith("R0lGOD")


@pytest.mark.parametrize(
    ("agent", "text", "said"),
    [
        ("./many", "F gem", "gem"),
        ("./many", "a.toml", "names a file"),
        ("./many", "F (", "^"),
        ("./many", "true", "nothing to"),
        ("./damaged", "F a", "config.json"),
        ("./nowhere", "F a", "nowhere"),
    ],
)
def test_agents_that_cannot_execute_a_formula(ask: Asker, agent: str, text: str, said: str) -> None:
    assert said in ask("episode", agent=agent, text=text)


def test_an_infinite_task_is_shown_by_its_rounds(ask: Asker) -> None:
    typed = {"text": "GF a & GF b", "logic": "ltl"}
    assert "round" in ask("draw", **typed)["notes"][0]
    assert "infinite" in dict(ask("explain", **typed)["rows"])
    assert ask("episode", agent="./many", **typed)["task"]["name"].startswith("ltl:")


def test_an_agent_of_one_task_has_its_own(ask: Asker) -> None:
    shown = ask("episode", agent=f"./deep/{NASTY}", text="F (")
    assert "pickaxe" in shown["task"]["name"]


def test_an_environment_without_pictures(ask: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nrm.envs.letter.LetterConfig.board", lambda *_: None)
    render = OwnEnvConfig.render
    monkeypatch.setattr(
        "nrm.envs.registry.OwnEnvConfig.render",
        lambda self, machine, mode, end: render(self, machine, "ansi", end),
    )
    shown = ask("episode", agent="./many", text="F a")
    (recording,) = shown["group"]["recordings"]
    assert {type(step["frame"]) for episode in recording["episodes"] for step in episode["steps"]} == {str}
    assert "renders no" in ask("animation", agent="./many", text="F a")


def test_every_question_has_a_function_that_answers_it() -> None:
    for question in QUESTIONS.values():
        module, _, name = question.function.partition(":")
        assert callable(getattr(__import__(module, fromlist=[name]), name))


def test_what_cannot_be_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=str(port)):
            serve(tmp_path, port)
    with pytest.raises(FileError, match="nowhere"):
        serve(tmp_path / "nowhere")
    monkeypatch.setitem(__import__("sys").modules, "uvicorn", None)
    with pytest.raises(MissingExtraError, match=r"\[studio\]"):
        serve(tmp_path)
