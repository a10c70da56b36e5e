"""The engine as a library: what `diag_graph` offers by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

import diag_graph
from diag_graph.errors import InputError
from diag_graph.run import MAX_QUESTION_CHARS


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
        "what_if",
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


def test_bytes_that_are_no_text_do_not_end_a_run() -> None:
    """A shell hands over any bytes; half a character becomes U+FFFD, so that the run can be stored and saved."""
    assert diag_graph.diagnose("why is caf\udce9 slow?").run.question == "why is caf� slow?"


@pytest.mark.parametrize("question", ["", " \n", "x" * (MAX_QUESTION_CHARS + 1)], ids=["empty", "blank", "long"])
def test_a_question_that_cannot_be_asked_is_refused(question: str) -> None:
    """One line of what is wrong and one of what to do, before any run begins."""
    with pytest.raises(InputError) as caught:
        diag_graph.diagnose(question)
    assert caught.value.advice


def test_without_evidence_there_is_an_answer_and_no_cause() -> None:
    """D1: nothing to look at is a legal "I found nothing": no claim, no PASS, no failure."""
    document = diag_graph.diagnose("why is checkout slow?")
    assert document.run.status == "SUCCESS"
    assert document.run.verdict != "PASS"
    assert document.findings == ()
    assert document.invocations == ()
