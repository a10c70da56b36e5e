"""The conversation that a question belongs to: which one is meant, what was said in it, what it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from diag_cli.render.safe import one_line, shortened
from diag_cli.render.streams import complain
from diag_graph.errors import InputError

if TYPE_CHECKING:
    from diag_graph.contracts import Turn
    from diag_graph.store import Store

LATEST = "last"
_SHOWN_TITLE = 45
_ID = re.compile("[0-9a-f]{4,16}")


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a question goes on with.

    Attributes:
        session_id: Its id; None begins a conversation.
        title: Its first question; empty when it begins.
        history: Earlier questions and answers, oldest first.
        incident: The folder of evidence that it is about; None when there is none.
    """

    session_id: str | None = None
    title: str = ""
    history: tuple[Turn, ...] = ()
    incident: Path | None = None

    def with_turn(self, session_id: str, question: str, answer: str | None) -> Conversation:
        """The same after a question was asked in it; one without an answer is not told of."""
        from diag_graph.contracts import Turn

        turn = (Turn(question=question, answer=answer),) if answer else ()
        return replace(self, session_id=session_id, history=(*self.history, *turn))


NEW = Conversation()


def wanted(session: str | None, *, go_on: bool) -> str | None:
    """The conversation that the options of a command name: an id or a beginning of one, `last`, or None.

    Raises:
        InputError: they contradict each other.
    """
    if go_on and session not in {None, LATEST}:
        raise InputError("--continue goes on with the last conversation, --session names another", "Give one of them.")
    return LATEST if go_on else session


def go_on_with(db: Path, reference: str | None, *, quiet: bool, may_begin: bool = True) -> Conversation:
    """The conversation that is meant, as it stands in the store.

    A name that nobody has used begins a conversation of that name, which is said also when quiet: it may be a typing
    error. What can only be an id of ours, or a part of one, begins none.
    A store that cannot be read costs the conversation and not the answer (D3): why is said where the run
    cannot be kept.

    Args:
        db: The store's file.
        reference: See `wanted`.
        quiet: Say nothing of which conversation it goes on with.
        may_begin: Whether a name that nobody has used may begin a conversation.

    Raises:
        StoreError: there is no such conversation to go on with, or several begin so.
    """
    if reference is None:
        return NEW
    from diag_graph.database.problems import FileProblem
    from diag_graph.store import Store, StoreError, StoreProblem

    try:
        with Store.open(db, create=False) as store:
            found = _read(store, store.resolve_session(reference))
    except StoreError as error:
        if error.problem is StoreProblem.NO_SUCH_SESSION or (
            error.problem is FileProblem.MISSING and reference != LATEST
        ):
            if not may_begin or _is_id(reference):
                raise StoreError(StoreProblem.NO_SUCH_SESSION, db, reference) from None
            complain(f"a new conversation begins: {reference}", "`diag sessions` shows those that there are.")
            return Conversation(session_id=reference)
        if error.problem is FileProblem.MISSING:
            raise StoreError(StoreProblem.NO_SESSIONS, db) from None
        if error.problem in {StoreProblem.NO_SESSIONS, StoreProblem.AMBIGUOUS_SESSION}:
            raise
        complain("the conversation cannot be read, and the question is asked alone")
        return Conversation(session_id=None if reference == LATEST else reference)
    if not quiet and reference != found.session_id:
        complain(f'goes on with conversation {found.session_id}: "{shortened(one_line(found.title), _SHOWN_TITLE)}"')
    return found


def _is_id(reference: str) -> bool:
    """Whether this looks like an id that diag gave, or its beginning: hexadecimal, of digits and letters."""
    return bool(_ID.fullmatch(reference)) and not reference.isdigit() and not reference.isalpha()


def _read(store: Store, session_id: str) -> Conversation:
    from diag_graph.history import MAX_TURNS

    known = store.session(session_id)
    return Conversation(
        session_id=session_id,
        title=known.title,
        history=tuple(store.history(session_id, MAX_TURNS)),
        incident=Path(known.incident) if known.incident else None,
    )
