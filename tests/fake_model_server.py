"""A model's server on loopback, for tests: it speaks the OpenAI protocol over real HTTP and says what a test scripts.

A script maps a role to the answers that it gets, in order. The role is read from the system prompt, as a person would
tell the agents apart. The server keeps every request that arrived, so that a test can count them and look inside.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ROLES = {
    "You plan the diagnosis": "planner",
    "You gather evidence": "executor",
    "You judge the claims": "verifier",
    "You word the answer": "composer",
}
USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


@dataclass(frozen=True)
class Answer:
    """One HTTP answer.

    Attributes:
        body: A JSON value, or text that is none.
        status: HTTP status.
        headers: Further headers.
        misbehave: What to do in place of answering: `reset`, `trickle`, `cut`.
    """

    body: Any = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    misbehave: str = ""


Request = dict[str, Any]
Script = Mapping[str, Sequence[Answer | Callable[[Request], Answer]]]


def says(content: object, finish: str = "stop", usage: Mapping[str, Any] | None = None, **message: object) -> Answer:
    """A completion; an object is said as JSON text."""
    text = content if isinstance(content, str) or content is None else json.dumps(content)
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": text, **message},
    }
    return Answer(completion([choice], usage))


def completion(choices: Sequence[object], usage: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The body of a completion."""
    used = USAGE if usage is None else usage
    return {
        "id": "c-1",
        "object": "chat.completion",
        "created": 1,
        "model": "fake",
        "choices": list(choices),
        "usage": used,
    }


def calls(*wanted: tuple[str, object], content: str | None = None) -> Answer:
    """A completion that calls tools natively; arguments that are no object are sent as they are."""
    tool_calls = [
        {
            "id": f"call-{index}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
            },
        }
        for index, (name, arguments) in enumerate(wanted, 1)
    ]
    return says(content, "tool_calls", tool_calls=tool_calls)


def fails(status: int, message: str = "no", **error: object) -> Answer:
    """An error as OpenAI words it."""
    headers = {"retry-after": "0"} if status == 429 else {}
    return Answer({"error": {"message": message, "type": None, "code": None, **error}}, status, headers)


class FakeModelServer:
    """The server, while it runs.

    Attributes:
        base: What `api_base` is to be.
        requests: Every request that arrived: path, headers, body, role.
    """

    def __init__(self, script: Script) -> None:
        self.requests: list[Request] = []
        self._script = {role: list(answers) for role, answers in script.items()}
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self.base = f"http://127.0.0.1:{self._http.server_port}/v1"

    def of(self, role: str) -> list[Request]:
        """The requests of a role, in order."""
        return [request for request in self.requests if request["role"] == role]

    def run(self) -> None:
        """Serve until `close`."""
        self._http.serve_forever(poll_interval=0.02)

    def close(self) -> None:
        """Stop, and give the port back."""
        self._http.shutdown()
        self._http.server_close()

    def answer(self, request: Request) -> Answer:
        """The next answer of the request's role; the last one is given again and again."""
        with self._lock:
            self.requests.append(request)
            answers = self._script.get(request["role"]) or self._script.get("any") or [fails(418, "nothing scripted")]
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
        return answer(request) if callable(answer) else answer


class _Handler(BaseHTTPRequestHandler):
    """One connection, which is closed after its answer, so that no client keeps it."""

    protocol_version = "HTTP/1.1"
    model_server: FakeModelServer

    def log_message(self, *_: object) -> None:
        """Say nothing on stderr."""

    def handle(self) -> None:
        """Serve; a client that gave up, and a connection that was reset on purpose, are no trouble."""
        with contextlib.suppress(OSError, ValueError):
            super().handle()

    def do_POST(self) -> None:
        """Answer as scripted."""
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length) or b"{}")
        request = {
            "path": self.path,
            "headers": {name.lower(): value for name, value in self.headers.items()},
            "role": role_of(body),
            **body,
        }
        self._send(self.model_server.answer(request))

    def _send(self, answer: Answer) -> None:
        self.close_connection = True
        if answer.misbehave == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            return
        body = (answer.body if isinstance(answer.body, str) else json.dumps(answer.body)).encode()
        promised = len(body) + (100 if answer.misbehave else 0)
        self.send_response(answer.status)
        headers = {"content-type": "application/json", "content-length": str(promised), "connection": "close"}
        for name, value in {**headers, **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if answer.misbehave == "trickle":
            self._trickle()
        self.wfile.write(body)

    def _trickle(self) -> None:
        for _ in range(60):
            self.wfile.write(b" ")
            self.wfile.flush()
            time.sleep(0.05)


def _handler(server: FakeModelServer) -> type[_Handler]:
    return type("Handler", (_Handler,), {"model_server": server})


def role_of(body: Mapping[str, Any]) -> str:
    """Whose request it is, by its system prompt."""
    messages = body.get("messages") or [{}]
    system = str(messages[0].get("content") or "")
    return next((role for start, role in ROLES.items() if system.startswith(start)), "other")


@contextmanager
def serving(script: Script) -> Iterator[FakeModelServer]:
    """A server that runs while the block does."""
    server = FakeModelServer(script)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join(5)
