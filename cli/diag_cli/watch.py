"""A run under the eyes of the store and of a display, from before it starts until both are put away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from diag_cli.render.display import RunDisplay, display_for
from diag_cli.render.streams import complain
from diag_cli.settings import Display

if TYPE_CHECKING:
    from diag_graph.events import Event, Listener
    from diag_graph.store import Store, StoreError, StoreListener


class RunInterruptedError(Exception):
    """Ctrl-C ended a run.

    Attributes:
        run_id: The run, when it had begun and was kept; else None.
        advice: Where what had happened can be seen, or that there is nothing.
    """

    def __init__(self, run_id: str | None, *, begun: bool) -> None:
        super().__init__("interrupted")
        self.run_id = run_id
        self.advice = "" if begun else "The run had not begun, and nothing of it is kept."
        if run_id:
            self.advice = f"Its trace, as far as it got: diag trace {run_id}"


class Watch:
    """What watches one run.

    Attributes:
        store: The open store; None when it cannot be used.
        run_id: The run's id, as soon as it has begun.
    """

    def __init__(self, store: Store | None, keeper: StoreListener | None, display: RunDisplay) -> None:
        self.store = store
        self.run_id: str | None = None
        self._keeper = keeper
        self._display = display

    @property
    def listeners(self) -> Sequence[Listener]:
        """Whom the run is to tell: first who keeps, then who shows."""
        return tuple(listener for listener in (self._note, self._keeper, self._display) if listener is not None)

    @property
    def kept(self) -> bool:
        """Whether the run, as far as it got, stands in the store."""
        return self._keeper is not None and self._keeper.problem is None

    def _note(self, event: Event) -> None:
        from diag_graph.events import RunStarted

        if isinstance(event, RunStarted):
            self.run_id = event.run.run_id


@contextmanager
def watching(db: Path, wanted: Display | None, *, quiet: bool, incident: str | None = None) -> Iterator[Watch]:
    """Open the store, if it can be used, and a display, for one run.

    A store that cannot be used costs one line on stderr and never the answer (D3). `incident` is the folder of evidence
    that the conversation is about, to be remembered with it.

    Raises:
        RunInterruptedError: the user pressed Ctrl-C.
    """
    from diag_graph.store import StoreListener

    store, problem = _open(db)
    keeper = StoreListener(store, incident) if store else None
    display = display_for(wanted, quiet=quiet)
    watch = Watch(store, keeper, display)
    try:
        with display:
            yield watch
    except KeyboardInterrupt:
        raise RunInterruptedError(watch.run_id if watch.kept else None, begun=watch.run_id is not None) from None
    finally:
        if keeper is not None:
            keeper.close()
            problem = keeper.problem
        if store is not None:
            store.close()
        if problem is not None:
            complain(f"this run was not kept: {problem.message}", problem.advice)


def _open(db: Path) -> tuple[Store | None, StoreError | None]:
    from diag_graph.store import Store, StoreError

    try:
        return Store.open(db), None
    except StoreError as error:
        return None, error
