"""The server of the page: on this machine only, for whoever knows its token, about one folder."""

from __future__ import annotations

import hmac
import secrets
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from nrm.errors import ConfigError, FileError, LimitError, require
from nrm.studio.page import studio_page
from nrm.studio.questions import QUESTIONS, Home
from nrm.studio.tasks import examples
from nrm.studio.worker import AnswerError, Worker

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

HOST = "127.0.0.1"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Of every answer; the page itself says which program may run in it."""


@dataclass
class Studio:
    """One page about a folder, and the workers that answer its questions."""

    home: Home
    port: int
    title: str = "."
    """What the folder is called."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(18))

    def __post_init__(self) -> None:
        # What a formula costs nobody knows beforehand: nothing else waits for it.
        self.workers = {name: Worker(10.0, 4 << 30) for name in ("compiling", "explaining")}
        self.workers |= {"watching": Worker(120.0), "running": Worker(60.0)}

    @property
    def origin(self) -> str:
        """Whose requests are answered."""
        return f"http://{HOST}:{self.port}"

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"{self.origin}/?token={self.token}"

    def ask(self, name: str, body: bytes) -> tuple[int, Any]:
        """The HTTP status and the answer of a question; an error as its message."""
        kind, worker, function = QUESTIONS[name]
        try:
            asked = msgspec.json.decode(body, type=kind)
            return 200, {"answer": self.workers[worker].ask(function, self.home, asked)}
        except (msgspec.DecodeError, RecursionError) as error:
            return 400, {"error": f"no such question: {error}"}
        except (AnswerError, LimitError) as error:
            return 422, {"error": str(error)}

    def refusal(self, request: Request) -> str:
        """Why a request is not answered; empty where it is."""
        said = request.headers.get("x-token") or request.query_params.get("token", "")
        if not hmac.compare_digest(said.encode(), self.token.encode()):
            return "The token is wrong or missing. Open the address that 'nrm studio' has printed."
        if request.headers.get("origin", self.origin) != self.origin:
            return "Another page has asked."
        here = request.headers.get("host") == f"{HOST}:{self.port}"
        return "" if here else f"This page is at {self.origin} only."

    def app(self) -> Starlette:
        """The application."""
        from starlette.applications import Starlette
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse
        from starlette.routing import Route

        async def page(request: Request) -> Response:
            if why := self.refusal(request):
                return PlainTextResponse(why, 403, HEADERS)
            data = {"folder": self.title, "token": self.token, "examples": examples()}
            return HTMLResponse(studio_page("nrm studio", data, "'self'"), headers=HEADERS)

        async def question(request: Request) -> Response:
            if why := self.refusal(request):
                return JSONResponse({"error": why}, 403, HEADERS)
            if request.path_params["name"] not in QUESTIONS:
                return JSONResponse({"error": "There is no such question."}, 404, HEADERS)
            if int(request.headers.get("content-length", "0")) > 1 << 18:
                return JSONResponse({"error": "The question is too long."}, 413, HEADERS)
            status, answer = await run_in_threadpool(self.ask, request.path_params["name"], await request.body())
            return JSONResponse(answer, status, HEADERS)

        return Starlette(routes=[Route("/", page), Route("/ask/{name}", question, methods=["POST"])])

    def warm(self) -> None:
        """Load what the first questions need."""
        with suppress(OSError):  # the studio was stopped meanwhile
            for example in examples():
                for name in ("draw", "explain"):
                    self.ask(name, msgspec.json.encode(example))
            self.ask("agents", b"{}")

    def close(self) -> None:
        """End the workers; runs go on."""
        for worker in self.workers.values():
            worker.close()


def serve(folder: Path | str = ".", port: int = 8600, *, trust: bool = False) -> None:
    """Serve the page about a folder until Ctrl-C. `trust`: import the modules that runs name (module:name)."""
    uvicorn = require("uvicorn", "the studio needs a server", "studio")
    require("starlette", "the studio needs a server", "studio")
    root = Path(folder).resolve()
    if not root.is_dir():
        raise FileError(f"{folder} is no folder; name the folder that holds your runs, or one for new ones")
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((HOST, port))
            door.listen()  # whoever opens the address at once waits, and is not refused
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ConfigError(f"port {port} cannot be used ({reason}); choose another one: --port 0 for any") from None
        studio = Studio(Home(str(root), trust), door.getsockname()[1], str(folder))
        threading.Thread(target=studio.warm, daemon=True).start()
        print(f"nrm studio is at {studio.address}\nCtrl-C stops it; runs that are training go on.", flush=True)
        try:
            uvicorn.Server(uvicorn.Config(studio.app(), log_level="warning", lifespan="off")).run(sockets=[door])
        except KeyboardInterrupt:
            pass
        finally:
            studio.close()
