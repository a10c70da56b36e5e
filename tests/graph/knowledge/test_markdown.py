"""Markdown into passages: whole blocks, heading paths, lines, pieces that can be quoted."""

from __future__ import annotations

import pytest

from diag_graph.knowledge.markdown import read_markdown
from diag_graph.knowledge.passages import MAX_PASSAGE, passages_of, pieces

RUNBOOK = """---
title: Pools
domain: databases
tags: [postgres, pool]
---
# Connection pool exhausted

Callers wait
for a connection.

## Mitigation

1. End idle sessions
   - older than an hour
2. Raise `max_connections`

```sql
select pid
from pg_stat_activity;
```

| who | what |
|---|---|
| dba | ends them |

<!-- not shown -->
"""


def test_a_file_is_read_with_its_front_matter() -> None:
    """Section 13: title, domain and tags are the front matter's own."""
    document = read_markdown(RUNBOOK)
    assert (document.title, document.domain, document.tags) == ("Pools", "databases", ("postgres", "pool"))


def test_passages_hold_whole_blocks_with_headings_and_lines() -> None:
    """A list item with what is nested in it, a piece of code and the rows of a table stay whole."""
    first, second = passages_of(read_markdown(RUNBOOK))
    assert (first.headings, first.first, first.last) == (("Connection pool exhausted",), 8, 9)
    assert first.units == ("Callers wait\nfor a connection.",)
    assert (second.headings, second.first, second.last) == (("Connection pool exhausted", "Mitigation"), 13, 24)
    assert second.units == (
        "1. End idle sessions\n   - older than an hour",
        "2. Raise `max_connections`",
        "select pid\nfrom pg_stat_activity;",
        "| who | what |\n| dba | ends them |",
    )


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# First\n\ntext\n# Second\n\nmore", "First"),
        ("Setext title\n===\n\ntext", "Setext title"),
        ("just text", ""),
        ("---\n: [broken\n---\n# Kept\n\ntext", "Kept"),
        ("---\nno end of it", ""),
        ("---\ntitle: 2026-01-01x\n---\ntext", "2026-01-01x"),
        ("## **Bold** [link](http://x) `code`\n\ntext", "Bold link code"),
    ],
)
def test_the_title_is_the_front_matters_or_the_first_heading(text: str, title: str) -> None:
    """Front matter that cannot be read is no reason to lose the runbook."""
    document = read_markdown(text)
    assert document.title == title
    assert sum(len(passage.units) for passage in passages_of(document)) >= 1


def test_a_long_section_is_divided_between_blocks() -> None:
    """No passage is longer than its limit, and none of the text is lost."""
    steps = [f"{number}. Step {number} " + "word " * 30 for number in range(1, 30)]
    passages = passages_of(read_markdown("# Long\n\n" + "\n".join(steps) + "\n\n" + "x" * 5_000))
    assert all(len(passage.text) <= MAX_PASSAGE for passage in passages)
    together = "".join(passage.text for passage in passages).replace(" ", "").replace("\n", "")
    assert together == "".join([*steps, "x" * 5_000]).replace(" ", "").replace("\n", "")


CODE = """# Queue

```sh
kubectl get deploy -o name
kubectl delete pod widget \\
  --grace-period=0
cat <<END
spec:
  replicas: 2

  paused: false
END
```

1. Apply

   ```yaml
   spec:
     replicas: 3
   ```

> - first
> - second

This paragraph was wrapped by its author, for its lines
were getting long.
"""


def test_lines_stay_lines_with_their_indent() -> None:
    """Commands below one another are no pipeline, YAML keeps its shape; only prose that was wrapped is joined."""
    (passage,) = passages_of(read_markdown(CODE))
    assert passage.units == (
        CODE.partition("```sh\n")[2].partition("\n```")[0],
        "1. Apply\n\n   ```yaml\n   spec:\n     replicas: 3\n   ```",
        "> - first\n> - second",
        "This paragraph was wrapped by its author, for its lines were getting long.",
    )


def test_code_that_is_too_long_is_cut_between_its_commands() -> None:
    """A command that goes on behind a backslash is not torn apart, and what is indented stays so."""
    assert pieces(("first --long\nsecond \\\n  --more\n  third: 3",), 24) == [
        "first --long",
        "second \\\n  --more",
        "  third: 3",
    ]


@pytest.mark.parametrize("limit", [20, 50, 120])
def test_pieces_are_short_and_lose_nothing(limit: int) -> None:
    """Each can be quoted whole; together they are the text."""
    units = (
        "First sentence. Second one that is longer than the others! Third",
        "select 1\nfrom there\nwhere x",
        "連" * 70,
    )
    made = pieces(units, limit)
    assert all(0 < len(piece) <= limit for piece in made)
    assert "".join(made).replace(" ", "").replace("\n", "") == "".join(units).replace(" ", "").replace("\n", "")
