"""LangSmith's tracing stays off, whatever its own variables say (X6)."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from diag_graph.telemetry import tracing_as_configured

REPLAY = Path(__file__).parents[2] / "fixtures" / "runs" / "passed-with-root-cause.json"
PROGRAM = """
import sys, threading, warnings
warnings.simplefilter("error")
from pathlib import Path
from diag_graph import read_run_file, replay
result = replay(read_run_file(Path(sys.argv[1])))
assert result.matches, result
if "wait" in sys.argv:
    from langchain_core.tracers.langchain import wait_for_all_tracers
    wait_for_all_tracers()
"""


class Server:
    """Counts who connects, and hangs up."""

    def __init__(self) -> None:
        self.connections = 0
        self.connected = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            self.connected.set()
            connection.close()

    def close(self) -> None:
        """No more connections."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def server() -> Iterator[Server]:
    """A place that LangSmith is told to send to."""
    opened = Server()
    yield opened
    opened.close()


def started(server: Server, *arguments: str, **variables: str) -> subprocess.Popen[bytes]:
    """A process that replays a run, with everything set that would turn tracing on."""
    address = f"http://127.0.0.1:{server.port}"
    environment = os.environ | {
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_TRACING_V2": "true",
        "LANGCHAIN_TRACING_V2": "true",
        "LANGSMITH_API_KEY": "lsv2_made_up",
        "LANGCHAIN_API_KEY": "lsv2_made_up",
        "LANGSMITH_ENDPOINT": address,
        "LANGCHAIN_ENDPOINT": address,
        "no_proxy": "*",
        **variables,
    }
    return subprocess.Popen([sys.executable, "-c", PROGRAM, str(REPLAY), *arguments], env=environment)


def test_nothing_is_sent_when_langsmiths_own_variables_are_set(server: Server) -> None:
    """X6: a key, an endpoint and the switch in the environment are not diag's own setting."""
    assert started(server, "wait").wait(120) == 0
    assert server.connections == 0


def test_diags_own_setting_lets_tracing_through(server: Server) -> None:
    """X6: and so the test above counts connections that would be made."""
    process = started(server, DIAG_LANGSMITH="1")
    try:
        assert server.connected.wait(60)
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("name", ["LANGCHAIN_TRACING", "LANGCHAIN_HANDLER"])
def test_an_obsolete_variable_does_not_end_the_run(server: Server, name: str) -> None:
    """LangChain refuses to run while one of these is set and tracing is off."""
    assert started(server, "wait", **{name: "true"}).wait(120) == 0
    assert server.connections == 0


@pytest.mark.parametrize("value", ["0", "", "true", "yes"])
def test_only_one_value_turns_tracing_on(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """X6: diag's own setting is `1` and nothing else."""
    from langsmith.utils import get_env_var, tracing_is_enabled

    get_env_var.cache_clear()
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setenv("DIAG_LANGSMITH", value)
    with tracing_as_configured():
        assert tracing_is_enabled() is False
    monkeypatch.setenv("DIAG_LANGSMITH", "1")
    with tracing_as_configured():
        assert tracing_is_enabled() is True
    get_env_var.cache_clear()
