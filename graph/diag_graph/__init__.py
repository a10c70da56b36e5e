"""The diagnosis engine, usable as a library: `from diag_graph import diagnose, replay`.

Names are looked up when they are used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
import logging
from typing import Any

__version__ = "0.1.0"

_EXPORTS = {
    "diagnose": "diag_graph.run",
    "replay": "diag_graph.playback",
    "what_if": "diag_graph.playback",
    "ReplayResult": "diag_graph.playback",
    "RunDocument": "diag_graph.outcome",
    "read_run_file": "diag_graph.runfile",
    "save_run_file": "diag_graph.runfile",
    "open_folder": "diag_graph.sources.folder",
    "DiagError": "diag_graph.errors",
}

__all__ = ["__version__", *sorted(_EXPORTS)]  # noqa: PLE0604 - names of the table above

logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_EXPORTS[name]), name)
