from __future__ import annotations

from pathlib import Path

import pytest
from cli_samples import Command

from diag_cli import settings
from diag_cli.settings import Display, Origin, resolve
from diag_graph.errors import ConfigError


def test_flags_come_before_environment_before_project_before_user_before_default(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each layer hides the ones below; taking it away uncovers the next."""
    seen = []
    (home / "config.toml").write_text('zone = "Europe/Rome"\ndb = "user.db"')
    (home / "diag.toml").write_text('db = "project.db"')
    monkeypatch.setenv("DIAG_DB", "environment.db")
    seen.append(resolve({"db": "flag.db"}).values["db"])
    seen.append(resolve({"db": None}).values["db"])
    monkeypatch.setenv("DIAG_DB", "")  # set and empty is not set
    seen.append(resolve({}).values["db"])
    (home / "diag.toml").unlink()
    seen.append(resolve({}).values["db"])
    (home / "config.toml").unlink()
    seen.append(resolve({}).values["db"])
    assert [str(found.value) for found in seen[:4]] == ["flag.db", "environment.db", "project.db", "user.db"]
    assert seen[4].value == home / "diag.db"
    assert [found.origin for found in seen] == list(Origin)
    assert seen[1].source == "DIAG_DB"


def test_a_project_file_counts_up_to_the_root_of_its_repository(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the repository, and above a directory that is in none, nobody else's file is read."""
    (home / "diag.toml").write_text('display = "plain"')
    inner = home / "repository" / "deep"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    assert resolve({})["display"] is None
    (home / ".git").mkdir()
    assert resolve({})["display"] is Display.PLAIN
    (home / "repository" / ".git").mkdir()
    assert resolve({})["display"] is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('modle = "gpt"', 'Did you mean "model"?'),
        ('colour = "red"', "There are: db, knowledge, model, display, zone, "),
        ("zone = 3", 'Write zone = "3".'),
        ("zone =", "https://toml.io"),
        ('zone = "Mars/Olympus"', "Correct it"),
        ('display = "loud"', "Correct it"),
    ],
)
def test_a_wrong_settings_file_is_named_with_what_to_do(home: Path, content: str, said: str) -> None:
    """A typo in a file is an error, not a setting that is silently ignored."""
    (home / "diag.toml").write_text(content)
    with pytest.raises(ConfigError) as caught:
        resolve({})
    assert str(home / "diag.toml") in caught.value.message
    assert said in caught.value.advice


def test_a_tilde_is_the_users_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file has no shell to expand it."""
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("DIAG_DB", "~/x.db")
    assert resolve({})["db"] == home / "x.db"


def test_without_a_home_variable_files_go_to_the_users_folders(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The names are those of platformdirs; on Linux by the XDG variables."""
    monkeypatch.delenv("DIAG_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("HOME", str(home))
    assert home in settings.data_folder().parents
    assert settings.data_folder().name == "diag"
    assert home in settings.user_file().parents


def test_the_table_for_the_documentation_names_every_variable_and_flag() -> None:
    """The documentation's list is made of the table that the program reads."""
    table = settings.variables_as_markdown()
    for setting in settings.SETTINGS.values():
        assert f"| `{setting.variable}` |" in table
    for variable in settings.OTHER_VARIABLES:
        assert f"| `{variable}` |" in table
    assert {line.count("|") for line in table.splitlines()} == {6}


def test_a_place_that_cannot_be_one_is_said_in_two_lines(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Section 10: a home of nobody is a wrong setting (exit 2), not a fault of the program."""
    outcome = command("runs", "--db", "~nobody-of-this-name/diag.db")
    assert (outcome.status, outcome.out) == (2, "")
    assert "names no user's home" in outcome.err
    monkeypatch.setenv("DIAG_HOME", "~nobody-of-this-name")
    outcome = command("runs")
    assert outcome.status == 2
    assert "DIAG_HOME" in outcome.err


def test_times_without_a_zone_are_read_in_the_users_zone(
    command: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Section 13: `DIAG_ZONE` counts for the evidence as for the question."""
    folder = home / "incident"
    folder.mkdir()
    (folder / "app.log").write_text("2026-07-16 08:00:00 ERROR it broke\n")
    monkeypatch.setenv("DIAG_ZONE", "Europe/Berlin")
    outcome = command("ask", "what broke?", "--incident", folder, "--json")
    assert "2026-07-16T06:00:00Z" in outcome.out


def test_a_window_that_holds_no_evidence_is_said(command: Command, home: Path) -> None:
    """Section 13: an hour ago is no time of a folder of last summer; short lengths of time are understood."""
    folder = home / "incident"
    folder.mkdir()
    (folder / "app.log").write_text("2026-07-16T08:00:00Z ERROR it broke\n2026-07-16T08:01:00Z INFO it works\n")
    outcome = command("ask", "what broke?", "--incident", folder, "--since", "2020-01-01", "--until", "2020-01-02")
    assert outcome.status == 2
    outcome = command("ask", "what broke?", "--incident", folder, "--since", "30m", "--quiet")
    assert "is no time" not in outcome.err


def test_what_was_assumed_of_times_is_said(command: Command, home: Path) -> None:
    """Section 13: local times without a zone are read as UTC, in clear words, by ask and by doctor."""
    folder = home / "incident"
    folder.mkdir()
    (folder / "app.log").write_text("2026-07-16 08:00:00 ERROR it broke\n")
    asked = command("ask", "what broke?", "--incident", folder)
    assert "assumed in 1 file: times without a zone read as UTC" in asked.err
    looked = command("doctor", "--incident", folder)
    assert "times without a zone" in " ".join(looked.out.split())
