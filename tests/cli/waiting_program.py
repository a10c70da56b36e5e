"""The program, made to wait at one place: `waiting_program.py PLACE READY,GATE ARGUMENTS...`.

Both are file descriptors: it writes to READY when it gets there, so that a test knows where it is, and goes on when
GATE gives something or is closed. `broken` in their place makes that place raise an error instead.
"""

from __future__ import annotations

import dataclasses
import os
import select
import sys

from diag_cli.app import main

_BREATH_S = 0.1
"""Python looks for a signal between two steps: one that comes just before a system call would wait for its end."""


def arrange(place: str, pipes: str) -> None:  # noqa: C901 - a case a place
    """Put the waiting, or the error, where it belongs."""

    def wait(*_: object, **__: object) -> None:
        if pipes == "broken":
            raise ZeroDivisionError(place)
        ready, gate = map(int, pipes.split(","))
        os.write(ready, b".")
        while not select.select([gate], [], [], _BREATH_S)[0]:
            pass

    match place:
        case "evidence":
            from diag_graph.sources import folder

            folder.open_folder = wait  # type: ignore[assignment]
        case "tool":
            from diag_graph.tools import catalogue

            catalogue.ALL_TOOLS = tuple(
                dataclasses.replace(tool, run=wait) if tool.name == "find_log_patterns" else tool
                for tool in catalogue.ALL_TOOLS
            )
        case "planner" | "composer":
            from diag_graph.agents import analyst

            original = analyst.built_in_analyst
            waiting = type("Waiting", (), {"plan": wait, "compose": wait})()
            analyst.built_in_analyst = lambda *given, **named: dataclasses.replace(
                original(*given, **named), **{place: waiting}
            )
        case "gatekeeper":
            from diag_graph.nodes import gatekeeper

            gatekeeper.run = wait  # type: ignore[assignment]
        case "store":
            from diag_graph.store import Store

            Store.finish_run = wait  # type: ignore[method-assign]
        case "display":
            from diag_cli.render.plain import PlainDisplay

            PlainDisplay.__call__ = wait  # type: ignore[method-assign]
        case "answer":
            from diag_cli import conclusion

            conclusion.print_answer = wait  # type: ignore[assignment]


if __name__ == "__main__":
    arrange(*sys.argv[1:3])
    sys.argv[1:] = sys.argv[3:]
    main()
