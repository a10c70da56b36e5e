"""The engine as a library: what `diag_graph` offers by name."""

from __future__ import annotations

import subprocess
import sys

import diag_graph


def test_the_exported_names() -> None:
    """A name that is taken away, or added, is a decision, and shows here."""
    assert set(diag_graph.__all__) == {
        "DiagError",
        "ReplayResult",
        "RunDocument",
        "__version__",
        "diagnose",
        "open_folder",
        "read_run_file",
        "replay",
        "save_run_file",
    }


def test_every_exported_name_is_there() -> None:
    """The names are looked up when they are used, and none of them is a module, whatever was imported before."""
    program = (
        "import types, importlib, pkgutil, diag_graph\n"
        "for found in pkgutil.iter_modules(diag_graph.__path__): importlib.import_module('diag_graph.' + found.name)\n"
        "for name in diag_graph.__all__:\n"
        "    namespace = {}\n"
        "    exec(f'from diag_graph import {name}', namespace)\n"
        "    assert not isinstance(namespace[name], types.ModuleType), name\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """As of any other module."""
    assert not hasattr(diag_graph, "no_such_name")
