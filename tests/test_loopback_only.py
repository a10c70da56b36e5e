from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest
from loopback_only import NotLoopbackError, is_loopback

ELSEWHERE = ("192.0.2.1", 443)
"""An address that RFC 5737 keeps for documentation: nobody answers there."""


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost", "LOCALHOST.", b"localhost", None, ""])
def test_this_machine_can_be_reached(host: object) -> None:
    """Tests talk to servers of their own."""
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["192.0.2.1", "example.org", "2001:db8::1", "localhost.example.org", "0.0.0.0"])  # noqa: S104
def test_no_other_machine_can(host: str) -> None:
    """Whatever is not this machine counts as another."""
    assert not is_loopback(host)


def test_a_connection_to_another_machine_is_refused() -> None:
    """The guard is installed in the suite's process, below every HTTP library."""
    with socket.socket() as out, pytest.raises(NotLoopbackError):
        out.connect(ELSEWHERE)


def test_the_name_of_another_machine_is_not_even_looked_up() -> None:
    """A name server is another machine, too."""
    with pytest.raises(NotLoopbackError):
        socket.getaddrinfo("api.example.org", 443)


def test_a_program_that_a_test_starts_is_held_too() -> None:
    """Child processes inherit the guard."""
    script = f"import socket; socket.create_connection({ELSEWHERE!r}, timeout=5)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "NotLoopbackError" in done.stderr


def test_no_key_of_the_person_who_runs_the_suite_is_seen() -> None:
    """A forgotten key in the environment can neither be used nor leak into a recording."""
    assert not [name for name in os.environ if name.endswith("_API_KEY")]
