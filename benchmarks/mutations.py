"""The mutations that `mutate.py` tries: those of `mutations.txt`, and one for each row of the tables that decide."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

from diag_graph.contracts import ClaimKind, FailureCode, Verification
from diag_graph.topology import ROUTES, Condition, Verdict

LIST = Path(__file__).with_name("mutations.txt")
CHECK, VERDICTS, ROUTING, TOPOLOGY = "gate/check.py", "gate/verdicts.py", "routing.py", "topology.py"


class Mutation(NamedTuple):
    """One thing switched off.

    Attributes:
        group: Which tests are to notice.
        name: What is switched off, in words.
        file: Where, in `graph/diag_graph`.
        old: What stands there, just once; empty: `new` is added at the file's end.
        new: What stands there instead.
    """

    group: str
    name: str
    file: str
    old: str
    new: str


def mutations() -> Iterator[Mutation]:
    """All of them."""
    yield from _listed()
    yield from _severities()
    yield from _standings()
    yield from _guards()
    yield from _rows()


def _listed() -> Iterator[Mutation]:
    """Those of the list, whose form is told at its head."""
    group = name = file = ""
    old: list[str] = []
    new: list[str] = []
    for line in [*LIST.read_text(encoding="utf-8").splitlines(), "="]:
        sign, text = line[:1], line[2:]
        if sign in ("=", "[") and old:
            yield Mutation(group, name, file, "\n".join(old), "\n".join(new))
            old, new = [], []
        if sign == "[":
            group = line.strip("[]")
        elif sign == "=":
            name = text
        elif sign == "@":
            file = text
        elif sign in ("-", "+"):
            (old if sign == "-" else new).append(text)


def _severities() -> Iterator[Mutation]:
    for code in FailureCode:
        of = f"SEVERITY[FailureCode.{code.name}]"
        change = f"{of} = next(other for other in Severity if other is not {of})"
        yield Mutation("gate", f"severity of {code}", CHECK, "", change)


def _standings() -> Iterator[Mutation]:
    """Each cell of the table of allowed claims: taken away, firmer than it is, or there though it is not."""
    for judged, verdict, kind in product(Verification, Verdict, ClaimKind):
        cell = f"_STANDINGS.setdefault((Verification.{judged.name}, Verdict.{verdict.name}), {{}})"
        is_ = f"{cell}.get(ClaimKind.{kind.name})"
        other = (
            f"{cell}[ClaimKind.{kind.name}] = Standing.LIKELY if {is_} is not Standing.LIKELY else Standing.CONFIRMED"
        )
        name = f"{kind} judged {judged} under {verdict}"
        yield Mutation("gate", f"{name}: otherwise", VERDICTS, "", other)


def _guards() -> Iterator[Mutation]:
    for condition in Condition:
        never = f"CONDITIONS[Condition.{condition.name}] = lambda source, state: False"
        yield Mutation("routing", f"guard '{condition}' never holds", ROUTING, "", never)
        if condition is not Condition.ALWAYS:
            always = f"CONDITIONS[Condition.{condition.name}] = always"
            yield Mutation("routing", f"guard '{condition}' always holds", ROUTING, "", always)


def _rows() -> Iterator[Mutation]:
    """Each row of the routing table, and each of its statuses, taken away."""
    for at, route in enumerate(ROUTES):
        name = f"row {at}, {route.source} -> {route.target} ({route.condition})"
        yield Mutation("routing", name, TOPOLOGY, "", f"ROUTES = ROUTES[:{at}] + ROUTES[{at + 1} :]")
        for status in route.statuses if len(route.statuses) > 1 else ():
            left = tuple(str(other) for other in route.statuses if other != status)
            change = f"ROUTES = (*ROUTES[:{at}], ROUTES[{at}]._replace(statuses={left!r}), *ROUTES[{at + 1} :])"
            yield Mutation("routing", f"row {at}, {route.source} {status} -> {route.target}", TOPOLOGY, "", change)
