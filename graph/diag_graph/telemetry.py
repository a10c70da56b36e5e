"""Keeps LangGraph's tracing to LangSmith off, whatever the environment says (X6)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

OWN_SETTING = "DIAG_LANGSMITH"
"""diag's own switch: set to 1 to let LangSmith trace as its own variables say."""

_OBSOLETE = ("LANGCHAIN_TRACING", "LANGCHAIN_HANDLER")
"""LangChain refuses to run at all while one of these is set and tracing is off; nothing else reads them any more."""


@contextmanager
def tracing_as_configured() -> Iterator[None]:
    """Within it, LangSmith traces nothing unless diag's own setting turns it on."""
    if os.environ.get(OWN_SETTING) == "1":
        yield
        return
    from langsmith.run_helpers import tracing_context

    for name in _OBSOLETE:
        os.environ.pop(name, None)
    with tracing_context(enabled=False):
        yield
