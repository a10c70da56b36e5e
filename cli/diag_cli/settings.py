"""Settings: flags > environment > project file > user file > defaults. One table says what there is.

A project file is `diag.toml` in the working directory, or in a directory above it up to the root of the repository
that it lies in; the user file is `config.toml` in the user's configuration folder. Both are flat TOML tables.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from diag_cli.model_settings import MODEL_SETTINGS
from diag_cli.setting import Setting
from diag_graph.errors import ConfigError

PROJECT_FILE = "diag.toml"
USER_FILE = "config.toml"
STORE_FILE = "diag.db"
KNOWLEDGE_FILE = "knowledge.db"
SKILLS_FOLDER = "skills"
HOME_VARIABLE = "DIAG_HOME"


class Display(StrEnum):
    """How a run is shown on stderr while it runs."""

    LIVE = "live"
    PLAIN = "plain"
    NONE = "none"


class Origin(StrEnum):
    """Where a setting's value comes from, strongest first."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    PROJECT = "project file"
    USER = "user file"
    DEFAULT = "default"


class Value(NamedTuple):
    """A setting's value and where it comes from."""

    value: Any
    origin: Origin
    source: str
    """The flag, variable or file that set it; empty for a default."""


def _path(text: str) -> Path:
    if "\0" in text:
        raise ValueError("it holds a NUL character")
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise ValueError(f"{text.split('/', maxsplit=1)[0]} names no user's home") from None


def _zone(text: str) -> str:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(text).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("it is no time zone of the IANA database, such as Europe/Berlin") from None


def _display(text: str) -> Display:
    try:
        return Display(text)
    except ValueError:
        raise ValueError(f"it must be one of {', '.join(Display)}") from None


SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting(
            "db",
            "--db",
            "DIAG_DB",
            _path,
            lambda: data_folder() / STORE_FILE,
            "`diag.db` in the user's data folder",
            "The SQLite file that keeps the runs.",
        ),
        Setting(
            "knowledge",
            "--index",
            "DIAG_KNOWLEDGE",
            _path,
            lambda: data_folder() / KNOWLEDGE_FILE,
            "`knowledge.db` in the user's data folder",
            "The SQLite file that keeps the index of runbooks.",
        ),
        Setting(
            "model",
            "--model",
            "DIAG_MODEL",
            str.strip,
            lambda: None,
            "none: the built-in analyst, without a model",
            "The language model that thinks; without one, the built-in analyst does.",
        ),
        Setting(
            "display",
            "--display",
            "DIAG_DISPLAY",
            _display,
            lambda: None,
            "`live` on a terminal, else `plain`",
            "How the run is shown on stderr: live, plain or none.",
        ),
        Setting(
            "zone",
            None,
            "DIAG_ZONE",
            _zone,
            lambda: "UTC",
            "`UTC`",
            "The time zone of times that name none.",
        ),
        Setting(
            "skills",
            "--skills",
            "DIAG_SKILLS",
            _path,
            lambda: config_folder() / SKILLS_FOLDER,
            "`skills` in the user's configuration folder",
            "The folder of skills, which advise on how to go about an incident.",
        ),
        *MODEL_SETTINGS,
    )
}

OTHER_VARIABLES: dict[str, str] = {
    HOME_VARIABLE: "One folder for everything that diag keeps, in place of the user's data and configuration folders.",
    "NO_COLOR": "When set: no colours and no live view.",
    "FORCE_COLOR": "When set: colours also where there is no terminal.",
    "DIAG_LANGSMITH": "`1` lets LangSmith trace as its own variables say; without it nothing is sent there.",
}


class Settings:
    """Every setting, resolved.

    Attributes:
        values: By name: the value and where it comes from.
        files: The files that were read.
    """

    def __init__(self, values: Mapping[str, Value], files: tuple[Path, ...]) -> None:
        """See `resolve`."""
        self.values = values
        self.files = files

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - each setting has a type of its own
        """The value of a setting."""
        return self.values[name].value


def resolve(flags: Mapping[str, str | None]) -> Settings:
    """Settle every setting.

    Args:
        flags: What the command line gave, by setting; None where it gave nothing.

    Raises:
        ConfigError: a file cannot be read or names a setting that is not there, or a value cannot be used.
    """
    project, user = project_file(), user_file()
    layers: list[tuple[Origin, Mapping[str, tuple[str, str]]]] = [
        (Origin.FLAG, {name: (text, SETTINGS[name].flag or name) for name, text in flags.items() if text is not None}),
        (
            Origin.ENVIRONMENT,
            {s.name: (os.environ[s.variable], s.variable) for s in SETTINGS.values() if os.environ.get(s.variable)},
        ),
        (Origin.PROJECT, _impersonal(_read_file(project)) if project else {}),
        (Origin.USER, _read_file(user) if user.is_file() else {}),
    ]
    values = {name: _first(setting, layers) for name, setting in SETTINGS.items()}
    return Settings(values, tuple(path for path in (project, user) if path and path.is_file()))


def _first(setting: Setting, layers: list[tuple[Origin, Mapping[str, tuple[str, str]]]]) -> Value:
    for origin, layer in layers:
        if setting.name in layer:
            text, source = layer[setting.name]
            try:
                return Value(setting.read(text), origin, source)
            except ValueError as error:
                raise ConfigError(
                    f'{setting.name} is "{text}" ({source}): {error}', "Correct it, or leave it out."
                ) from None
    return Value(setting.default(), Origin.DEFAULT, "")


def _read_file(path: Path) -> dict[str, tuple[str, str]]:
    import difflib
    import tomllib

    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is no TOML: {error}", "Correct it; https://toml.io shows the format.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", "Check its permissions and that it is UTF-8.") from None
    for name, value in table.items():
        if name not in SETTINGS:
            near = difflib.get_close_matches(name, SETTINGS, 1)
            meant = f'Did you mean "{near[0]}"?' if near else f"There are: {', '.join(SETTINGS)}."
            raise ConfigError(f'{path} names a setting that does not exist: "{name}"', meant)
        if not isinstance(value, str):
            raise ConfigError(f'{path}: "{name}" must be a text in quotes', f'Write {name} = "{value}".')
    return {name: (value, str(path)) for name, value in table.items()}


def _impersonal(layer: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """A project file's settings, unless it sets one that only the user may: the folder may be somebody else's."""
    for name, (_, source) in layer.items():
        if SETTINGS[name].personal:
            raise ConfigError(
                f'{source} sets "{name}", which no project file may: it could run a program, or be sent your key',
                f"Put it into {user_file()}, or set {SETTINGS[name].variable}.",
            )
    return layer


def project_file() -> Path | None:
    """The project file that counts here; None when there is none."""
    try:
        here = Path.cwd()
    except OSError:  # the working directory is gone
        return None
    root = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)
    for folder in (here, *here.parents):
        if (folder / PROJECT_FILE).is_file():
            return folder / PROJECT_FILE
        if folder == root:
            return None
    return None


def user_file() -> Path:
    """Where the user file is looked for."""
    return config_folder() / USER_FILE


def data_folder() -> Path:
    """Where the store is kept unless a setting says otherwise."""
    import platformdirs

    return _home() or platformdirs.user_data_path("diag", appauthor=False)


def config_folder() -> Path:
    """Where the user file is looked for."""
    import platformdirs

    return _home() or platformdirs.user_config_path("diag", appauthor=False)


def _home() -> Path | None:
    home = os.environ.get(HOME_VARIABLE)
    try:
        return _path(home) if home else None
    except ValueError as error:
        raise ConfigError(f"{HOME_VARIABLE}: {error}", "Set it to a folder, or unset it.") from None


def variables_as_markdown() -> str:
    """The documentation's table of environment variables."""
    rows = [
        *((s.variable, s.flag or "", f"`{s.name}`", s.default_text, s.purpose) for s in SETTINGS.values()),
        *((name, "", "", "", purpose) for name, purpose in OTHER_VARIABLES.items()),
    ]
    head = ["| variable | flag | in the files | default | what for |", "|---|---|---|---|---|"]
    return "\n".join(
        head
        + [
            f"| `{variable}` | {f'`{flag}`' if flag else ''} | {name} | {default} | {purpose} |"
            for variable, flag, name, default, purpose in rows
        ]
    )
