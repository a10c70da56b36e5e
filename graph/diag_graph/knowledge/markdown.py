"""A Markdown file, read for what it says and where: title, domain, tags, and sections of blocks.

Blocks are found by markdown-it-py, a CommonMark parser (https://spec.commonmark.org/0.31.2/) that knows the lines of
each; their text is the file's own. Front matter is YAML between lines of `---`, as in most tools for Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from textwrap import dedent
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_FRONT_MATTER = 8_000
"""Characters of front matter that are read as such, so that no YAML can be large enough to be slow."""
MAX_TITLE = 120
MAX_TAGS = 20

WRAPPED = 50
"""Bytes of a line of a paragraph that was wrapped for its width; a shorter one ends where its author wanted it to."""

Unit = tuple[int, int, str]
"""First line, last line, text: what is not torn apart while it can be helped."""

_FENCE = "---"
_QUOTED_LINE = " \t>"
_CONTAINERS = frozenset({"bullet_list_open", "ordered_list_open", "blockquote_open", "table_open"})
_LEAVES = frozenset({"paragraph_open", "fence", "code_block", "html_block"})
_CODE = frozenset({"fence", "code_block"})
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)|\A#+\s|\s#+\Z")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list, table or piece of code.

    Attributes:
        first: Its first line in the file, counted from 1.
        last: Its last line.
        units: Its parts that are not to be torn apart, each with its own first and last line: the items of a list,
            the rows of a table, the lines of code; of anything else, the whole. Lines stay lines, with their indent:
            commands that stand below one another are not one command, and YAML is not YAML without it.
        whole: Its units belong together, as those of code and tables do.
    """

    first: int
    last: int
    units: tuple[Unit, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one heading.

    Attributes:
        headings: The headings above it, outermost first, the title among them.
        blocks: Its blocks, in their order.
    """

    headings: tuple[str, ...]
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A Markdown file as it is indexed.

    Attributes:
        title: Of the front matter, or the first heading; empty when there is neither.
        domain: Of the front matter; empty when it names none.
        tags: Of the front matter.
        sections: In their order; sections without text are left out.
    """

    title: str
    domain: str
    tags: tuple[str, ...]
    sections: tuple[Section, ...]


def read_markdown(text: str) -> Document:
    """Read a file's text. Anything is Markdown: what is written oddly is read as a paragraph."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    front, start = _front_matter(lines)
    sections = tuple(_sections(lines, start))
    headings = (section.headings[0] for section in sections if section.headings)
    return Document(
        title=_said(front.get("title")) or next(headings, ""),
        domain=_said(front.get("domain")),
        tags=tuple(_listed(front.get("tags")))[:MAX_TAGS],
        sections=tuple(section for section in sections if section.blocks),
    )


def _front_matter(lines: Sequence[str]) -> tuple[Mapping[Any, Any], int]:
    """The fields of the front matter, and the index of the line after it; YAML that cannot be read has no fields."""
    if lines[0].rstrip() != _FENCE:
        return {}, 0
    end = next((index for index, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if end is None or sum(map(len, lines[:end])) > MAX_FRONT_MATTER:
        return {}, 0
    import yaml

    try:
        fields = yaml.safe_load("\n".join(lines[1:end]))
    except (yaml.YAMLError, ValueError, RecursionError):  # a date that is none, a number that is too long, depth
        return {}, end + 1
    return (fields if isinstance(fields, dict) else {}), end + 1


def _said(value: object) -> str:
    return plain(str(value))[:MAX_TITLE] if isinstance(value, str | int | float) else ""


def _listed(value: object) -> Iterator[str]:
    parts = value.split(",") if isinstance(value, str) else value
    for part in parts if isinstance(parts, list) else ():
        said = _said(part)
        if said:
            yield said


def plain(text: str) -> str:
    """A text of one line without the marks of Markdown: emphasis, code, links."""
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", text)).split())


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable("inline")  # half of the time, for marks that we keep as they stand
    return parser


def _sections(lines: Sequence[str], start: int) -> Iterator[Section]:
    # A blank line in place of each of the front matter's keeps the line numbers those of the file.
    tokens = _parser().parse("\n".join([*[""] * start, *lines[start:]]))
    path: dict[int, str] = {}
    blocks: list[Block] = []
    for index, token in enumerate(tokens):
        if token.level > 0 or token.map is None:
            continue
        if token.type == "heading_open":
            yield Section(tuple(path[level] for level in sorted(path)), tuple(blocks))
            blocks = []
            level = int(token.tag[1:])
            path = {above: heading for above, heading in path.items() if above < level}
            path[level] = plain(tokens[index + 1].content)[:MAX_TITLE]
        elif token.type in _CONTAINERS or token.type in _LEAVES:
            block = _block(lines, tokens, index)
            if block is not None:
                blocks.append(block)
    yield Section(tuple(path[level] for level in sorted(path)), tuple(blocks))


def _block(lines: Sequence[str], tokens: Sequence[Token], index: int) -> Block | None:
    """A block; None when nothing of it is to be read (a comment, a fence without code)."""
    token = tokens[index]
    first, last = token.map or [0, 0]
    if token.type in _CODE:
        inside = range(first, last)
        if token.type == "fence":
            inside = range(first + 1, last - 1 if _closes(lines[last - 1], token.markup) else last)
        units = _code(lines, inside)
    elif token.type == "table_open":
        units = [(line + 1, line + 1, lines[line].strip()) for line in range(first, last) if line != first + 1]
    elif token.type in {"bullet_list_open", "ordered_list_open"}:
        units = [
            (begin + 1, end, _unwrapped(lines, begin, end, _wrapped(tokens, index)))
            for begin, end in _items(tokens, index)
        ]
    else:
        text = _unwrapped(lines, first, last, _wrapped(tokens, index))
        units = [(first + 1, last, _COMMENT.sub(" ", text).strip())]
    kept = tuple(unit for unit in units if unit[2] or token.type in _CODE)
    return Block(kept[0][0], kept[-1][1], kept, token.type in _CODE or token.type == "table_open") if kept else None


def _code(lines: Sequence[str], inside: range) -> list[Unit]:
    """The lines of code under their common indent, without blank ones before and behind."""
    written = [line for line in inside if lines[line].strip()]
    if not written:
        return []
    body = range(written[0], written[-1] + 1)
    text = dedent("\n".join(lines[line] for line in body))
    return [(line + 1, line + 1, said.rstrip()) for line, said in zip(body, text.split("\n"), strict=True)]


def _closes(line: str, markup: str) -> bool:
    return line.strip().startswith(markup) and not line.strip().strip(markup[0])


def _items(tokens: Sequence[Token], index: int) -> Iterator[tuple[int, int]]:
    """The lines of a list's own items; an item's nested lists are part of it."""
    for token in tokens[index + 1 :]:
        if token.level <= tokens[index].level:
            return
        if token.type == "list_item_open" and token.level == tokens[index].level + 1 and token.map:
            yield token.map[0], token.map[1]


def _wrapped(tokens: Sequence[Token], index: int) -> frozenset[int]:
    """The lines within a block that go on with a paragraph."""
    inner = [tokens[index]]
    for token in tokens[index + 1 :]:
        if token.level <= tokens[index].level:
            break
        inner.append(token)
    ranges = [token.map for token in inner if token.type == "paragraph_open" and token.map]
    return frozenset(line for first, last in ranges for line in range(first + 1, last))


def _unwrapped(lines: Sequence[str], first: int, last: int, wrapped: Container[int]) -> str:
    """Lines as they stand under their common indent; prose that was wrapped for its width goes on after a blank."""
    made: list[str] = []
    for number in range(first, last):
        line = lines[number].rstrip()
        before = lines[number - 1] if made else ""
        hard = before.endswith(("  ", "\\"))
        if made and number in wrapped and not hard and len(before.strip().encode("utf-8", "replace")) >= WRAPPED:
            made[-1] += f" {line.lstrip(_QUOTED_LINE)}"
        else:
            made.append(line)
    return dedent("\n".join(made)).strip()
