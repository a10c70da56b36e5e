"""Whether the process that began a run is still there. A process id alone says little: ids are used again.

The second half of a process's identity is when it started, as its system tells it: from `/proc` on Linux (boot id and
start in clock ticks, proc(5)), from `ps` on other Unix systems, nothing elsewhere.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_STATE, _START_TICKS = 0, 19
"""Positions in /proc/PID/stat after the command name, which ends with the last `)`."""


class ProcessIdentity(NamedTuple):
    """A process id and when that process started; `started` is empty where the system does not tell."""

    pid: int
    started: str


def _start_from_proc(pid: int) -> str | None:
    try:
        fields = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except OSError:
        return None
    # A zombie has ended; it only waits for its parent to ask how.
    return None if fields[_STATE] in {"Z", "X"} else f"{boot}:{fields[_START_TICKS]}"


def _start_from_ps(ps: str, pid: int) -> str | None:
    done = subprocess.run(  # noqa: S603 - a fixed command with a number
        [ps, "-o", "lstart=", "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    return done.stdout.strip() or None


def start_of(pid: int) -> str | None:
    """When the process of this id started; None when there is none, empty when the system does not tell."""
    if (_PROC / "self" / "stat").exists():
        return _start_from_proc(pid)
    ps = shutil.which("ps")
    return _start_from_ps(ps, pid) if ps else ""


def this_process() -> ProcessIdentity:
    """Who we are."""
    pid = os.getpid()
    return ProcessIdentity(pid, start_of(pid) or "")


def is_alive(process: ProcessIdentity) -> bool:
    """Whether that very process is still there; where the system does not tell, it is taken to be."""
    return start_of(process.pid) in ({process.started} if process.started else {""})
