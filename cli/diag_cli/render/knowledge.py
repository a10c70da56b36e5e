"""What was found in the runbooks, for people: passages with their relevance, and how they were found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from diag_cli.render.safe import harmless, one_line
from diag_cli.render.words import Tone

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from diag_graph.contracts import Invocation

_TONES = {"high": Tone.GOOD, "medium": Tone.DOUBTFUL}


def found(invocation: Invocation) -> RenderableType:
    """The items of a lookup, and how they were found."""
    from rich.console import Group
    from rich.text import Text

    lines: list[Text] = []
    for item in invocation.result["items"]:
        relevance = str(item.get("relevance") or "")
        if relevance:
            head = Text(f"{one_line(str(item['source']))}:{item['lines']}  ", "bold")
            head.append(f"{relevance} ({item['share']:.0%} of the query)", _TONES.get(relevance, "dim"))
            lines.append(head)
        lines += [Text(f"  {line}") for line in harmless(str(item["text"])).split("\n")]
        lines.append(Text(""))
    return Group(*lines, *(Text(line, "dim") for line in how_found(invocation.retrieval_details or {})))


def how_found(details: Mapping[str, Any]) -> Iterator[str]:
    """Retrieval details, a line each; what is of another shape than ours is shown as it is."""
    known = dict(details)
    terms = known.pop("searched_for", None)
    if isinstance(terms, list):
        yield one_line(f"searched for: {', '.join(map(str, terms))}")
    plain = {name: value for name, value in known.items() if not isinstance(value, list | dict)}
    if plain:
        yield one_line(", ".join(f"{_words(name)} {value}" for name, value in plain.items()))
    for name, value in known.items():
        if name in plain:
            continue
        entries = value if isinstance(value, list) else [value]
        yield one_line(f"{_words(name)}: {'; '.join(map(_entry, entries)) or 'none'}")


def _words(name: str) -> str:
    return str(name).replace("_", " ")


def _entry(entry: Any) -> str:  # noqa: ANN401 - any JSON value
    if not isinstance(entry, dict):
        return str(entry)
    return ", ".join(
        f"{_words(name)} {value}" if index else str(value) for index, (name, value) in enumerate(entry.items())
    )
