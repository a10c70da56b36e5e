from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_samples import Command, diag

COMMANDS = ["ask", "chat", "replay", "trace", "runs", "sessions", "skills", "doctor", "eval", "knowledge"]
WITHOUT_STORE = {"skills"}


def test_the_first_screen_shows_a_newcomer_what_to_type(command: Command) -> None:
    """`diag` alone is its help: an example, each command in one whole line, all on a screen of 80 by 30."""
    alone, asked = command(), command("--help")
    assert (alone.status, asked.status) == (0, 0)
    assert alone.out == asked.out
    assert 'diag ask "why did checkout latency jump at 14:05?" --incident' in alone.out
    listed = re.findall(r"^  (\w+) +\S.*\.$", alone.out.split("Commands:")[1], re.MULTILINE)
    assert listed == COMMANDS
    lines = alone.out.splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "knowledge"])
def test_every_command_explains_its_options(command: Command, name: str) -> None:
    """Every option has a text, and the shared ones are there."""
    shown = command(name, "--help")
    assert shown.status == 0
    options = re.findall(r"^  (?:-\w, )?(--[\w-]+)(.*)$", shown.out, re.MULTILINE)
    shared = {"--debug", "--help"} if name in WITHOUT_STORE else {"--db", "--debug", "--help"}
    assert shared <= {option for option, _ in options}
    assert ("DIAG_SKILLS" if name in WITHOUT_STORE else "DIAG_DB") in shown.out


@pytest.mark.parametrize("name", ["add", "search", "list", "remove"])
def test_every_command_of_knowledge_explains_its_options(command: Command, name: str) -> None:
    """They have an index of their own in place of the store."""
    shown = command("knowledge", name, "--help")
    options = re.findall(r"^  (?:-\w, )?(--[\w-]+)", shown.out, re.MULTILINE)
    assert {"--index", "--debug", "--help"} <= set(options)
    assert "DIAG_KNOWLEDGE" in shown.out.replace("\n", " ")


def test_ask_has_the_options_of_the_specification(command: Command) -> None:
    """Section 10's list for `diag ask`."""
    shown = command("ask", "--help").out
    for option in (
        "--session",
        "--json",
        "--model",
        "--incident",
        "--since",
        "--until",
        "--save",
        "--strict",
        "--quiet",
    ):
        assert re.search(rf"^  (-q, )?{option}\b", shown, re.MULTILINE), option


def test_a_mistyped_command_is_a_usage_error_with_a_suggestion(command: Command) -> None:
    """Section 10: exit 2, one line of what went wrong and one of what to do."""
    outcome = command("aks", "why?")
    assert outcome.status == 2
    assert outcome.err == "diag: No such command 'aks'. Did you mean 'ask'?\n      See `diag --help`.\n"


def test_a_mistyped_option_names_the_command_whose_help_to_read(command: Command) -> None:
    """The advice leads to the right help."""
    outcome = command("runs", "--limt", "3")
    assert outcome.status == 2
    assert outcome.err.splitlines()[1].strip() == "See `diag runs --help`."


def test_the_version_is_the_packages(command: Command) -> None:
    """`diag --version` tells what to put into a bug report."""
    from diag_graph import __version__

    assert command("--version").out == f"diag {__version__}\n"


def test_completion_can_be_installed(home: Path) -> None:
    """Typer's completion stays on."""
    shown = diag(home, "--show-completion", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "Usage" not in shown.stderr
    assert diag(home, "--help").stdout.count("--install-completion") == 1
