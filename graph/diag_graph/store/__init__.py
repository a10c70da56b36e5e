"""What runs leave behind: one SQLite file that anyone can query (contract section 9).

    problems.py     StoreError: what can be wrong, beside what can be with any file (`database`)
    migrations.py   the schema, as an append-only list
    rows.py         contracts <-> rows
    process.py      whether the process that owns a run is still there
    runs.py         Store: writing and reading runs
    sessions.py     the conversations that runs belong to
    listener.py     StoreListener: writes a run down as it happens

Importing this package loads nothing heavy; sqlite-utils comes in when a store is opened.
"""

from __future__ import annotations

from diag_graph.store.listener import StoreListener
from diag_graph.store.problems import StoreError, StoreProblem
from diag_graph.store.runs import Store

__all__ = ["Store", "StoreError", "StoreListener", "StoreProblem"]
