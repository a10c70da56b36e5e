"""What the index of runbooks costs at 10,000 files: indexing, indexing again, and searching.

Times are the processor's. They depend on the machine, so that each is also given as a ratio to work of the same run:
indexing to merely reading and hashing the files, a search to one over a hundredth of the files.

    python benchmarks/knowledge_scale.py [FILES]
"""

from __future__ import annotations

import hashlib
import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache, partial
from itertools import accumulate
from pathlib import Path

from diag_graph.knowledge import KnowledgeIndex

FILES = 10_000
SEARCHES = 200
SECTIONS = ("Signs", "Find the cause", "Mitigation", "Afterwards")
SYLLABLES = ("ba", "co", "di", "fu", "ga", "he", "ki", "lo", "mu", "na", "pe", "ri", "so", "ta", "vu", "ze")
PLAIN = (
    "the",
    "is",
    "to",
    "of",
    "and",
    "for",
    "in",
    "when",
    "service",
    "pod",
    "database",
    "error",
    "connection",
    "disk",
)
"""The commonest words: those that say nothing, and those of operations."""


def vocabulary(chance: random.Random) -> list[str]:
    """Ten thousand words, the commonest first."""
    return [*PLAIN, *("".join(chance.choices(SYLLABLES, k=3)) for _ in range(10_000))]


def words(chance: random.Random, known: list[str], count: int) -> str:
    """Some of them, each as often as Zipf's law has it: the hundredth is a hundredth as common as the first."""
    return " ".join(chance.choices(known, cum_weights=cumulated(len(known)), k=count))


@cache
def cumulated(count: int) -> list[float]:
    """Zipf's weights, summed up."""
    return list(accumulate(1 / rank for rank in range(1, count + 1)))


def write_library(folder: Path, files: int, chance: random.Random, known: list[str]) -> None:
    """So many runbooks, in folders of a hundred."""
    for number in range(files):
        path = folder / f"area-{number // 100}" / f"runbook-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        body = [f"# {words(chance, known, 5)}\n"]
        for section in SECTIONS:
            steps = "\n".join(f"{step}. {words(chance, known, 14)}" for step in range(1, 5))
            body.append(f"## {section}\n\n{words(chance, known, 40)}\n\n{steps}\n")
        path.write_text("\n".join(body))


def seconds(work: Callable[[], object]) -> float:
    """How much of the processor something takes: other programs run at the same time, and are none of ours."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def read_all(folder: Path) -> None:
    """The least that anybody could do to see whether something changed."""
    for path in folder.rglob("*.md"):
        hashlib.sha256(path.read_bytes()).hexdigest()


def latencies(index: KnowledgeIndex, questions: list[str]) -> tuple[float, float]:
    """Median and 95th percentile of a search, in milliseconds."""
    took = sorted(seconds(partial(index.search, question)) * 1_000 for question in questions)
    return took[len(took) // 2], took[int(len(took) * 0.95)]


def main() -> None:
    """Make the library, index it, index it again, search it."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else FILES
    chance = random.Random(7)  # noqa: S311 - the same library in each run
    known = vocabulary(chance)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_library(folder / "all", files, chance, known)
        write_library(folder / "few", files // 100, chance, known)
        questions = [words(chance, known, 8) for _ in range(SEARCHES)]
        reading = seconds(lambda: read_all(folder / "all"))
        with (
            KnowledgeIndex.open(folder / "all.db", create=True) as index,
            KnowledgeIndex.open(folder / "few.db", create=True) as small,
        ):
            first = seconds(lambda: index.add(folder / "all"))
            (folder / "all" / "area-0" / "runbook-0.md").write_text("# Changed\n\nIt says something else now.\n")
            again = seconds(lambda: index.add(folder / "all"))
            small.add(folder / "few")
            p50, p95 = latencies(index, questions)
            few50, few95 = latencies(small, questions)
            passages = index.roots()[0].passages
        size = (folder / "all.db").stat().st_size / 1e6
    print(f"{files:,} files, {passages:,} passages, index {size:.0f} MB")
    print(f"reading and hashing all files    {reading:8.2f} s")
    print(f"first indexing                   {first:8.2f} s   {first / reading:6.1f} x reading")
    print(f"again, one file changed          {again:8.2f} s   {again / reading:6.1f} x reading")
    print(f"search p50                       {p50:8.1f} ms  {p50 / few50:6.1f} x that over {files // 100:,} files")
    print(f"search p95                       {p95:8.1f} ms  {p95 / few95:6.1f} x that over {files // 100:,} files")


if __name__ == "__main__":
    main()
