"""What advises a run beside its evidence: the index of runbooks, when there is one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from diag_cli.render.streams import complain

if TYPE_CHECKING:
    from diag_graph.knowledge import KnowledgeIndex


@contextmanager
def runbooks(path: Path, *, wanted: bool) -> Iterator[KnowledgeIndex | None]:
    """The index at a path, open; None when there is none, or nothing is in it.

    An index that cannot be used costs its advice and not the answer.

    Args:
        path: The index.
        wanted: Whether runbooks are to be looked into at all.
    """
    if not wanted or not path.exists():
        yield None
        return
    from diag_graph.knowledge import KnowledgeError, KnowledgeIndex

    try:
        index = KnowledgeIndex.open(path, wait_s=2)
    except KnowledgeError as error:
        complain(f"no runbooks are looked into: {error.message}", error.advice)
        yield None
        return
    with index:
        try:
            usable = index if index.domains() else None
        except KnowledgeError as error:
            complain(f"no runbooks are looked into: {error.message}", error.advice)
            usable = None
        yield usable
