"""Where failure signatures come from: the files that ship with the program, the user's own, the incident's own."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from pathlib import Path

from diag_graph.analysis.failure_signatures import Catalogue, Signature, SignatureError, read_signatures
from diag_graph.sources.ports import Evidence

OWN_FILE = "signatures.toml"
"""The user's own signatures, in the settings folder; they are tried first, and replace built-in ones of their id."""


@cache
def built_in_signatures() -> tuple[Signature, ...]:
    """The signatures that ship with the program, in the order of their files' names and within each file."""
    folder = resources.files("diag_graph.analysis") / "signatures"
    files = sorted((one for one in folder.iterdir() if one.name.endswith(".toml")), key=lambda one: one.name)
    return tuple(
        signature
        for file in files
        for signature in read_signatures(tomllib.loads(file.read_text("utf-8")), f"built-in {file.name}", tested=True)
    )


def own_signatures(folder: Path) -> tuple[Signature, ...]:
    """The user's own signatures in a folder; none when the file is not there.

    Raises:
        SignatureError: the file cannot be read or is wrong; the message says where.
    """
    path = folder / OWN_FILE
    try:
        table = tomllib.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SignatureError(f"{path} cannot be read: {error}") from error
    return tuple(read_signatures(table, str(path)))


@cache
def built_in_catalogue() -> Catalogue:
    """The catalogue of the built-in signatures."""
    return Catalogue(built_in_signatures())


def catalogue_of(evidence: Evidence) -> Catalogue:
    """The signatures for a body of evidence: those that come with it or with its user first, then the built-in ones."""
    if not evidence.signatures:
        return built_in_catalogue()
    own = {signature.id for signature in evidence.signatures}
    return Catalogue([*evidence.signatures, *(one for one in built_in_signatures() if one.id not in own)])
