"""How fast log patterns are mined, against drain3's own template miner on the same lines.

    python benchmarks/log_patterns.py                   # 200,000 lines; drain3 gets the first 20,000
    python benchmarks/log_patterns.py --lines 2000000

Lines are made here and held in memory: what is measured is mining, not reading. Seconds are CPU seconds of one process,
so that a busy machine does not decide; Polars' threads count too. "Distinct" lines share no word but the last three,
the worst that can come.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Callable, Sequence
from functools import partial

from diag_graph.analysis.log_patterns import count_patterns
from diag_graph.analysis.records import LogRecord

LETTERS = "ghijklmnopqrstuvwxyz"


def ordinary(number: int, rng: random.Random) -> str:
    """A line of a web shop."""
    kind = number % 5
    if kind == 0:
        return f"GET /items/{rng.randrange(10**6)} 200 in {rng.randrange(500)} ms for user u-{rng.randrange(10**5)}"
    if kind == 1:
        return f"order {rng.getrandbits(64):016x} accepted from 10.0.{rng.randrange(256)}.{rng.randrange(256)}"
    if kind == 2:
        return f"cache hit ratio {rng.random():.4f} key session:{rng.randrange(10**8)}"
    if kind == 3:
        return f"slow query took {rng.randrange(2000)}ms on shard-{rng.randrange(16)}"
    return f"2026-07-16T06:05:{number % 60:02d}Z could not reserve item {rng.randrange(10**5)}: deadlock detected"


def distinct(number: int, rng: random.Random) -> str:  # noqa: ARG001 - as `ordinary`
    """A line unlike any other."""
    return f"{''.join(rng.choices(LETTERS, k=12))} {''.join(rng.choices(LETTERS, k=12))} did it again"


def made(count: int, line: Callable[[int, random.Random], str]) -> list[LogRecord]:
    """So many lines of five services."""
    rng = random.Random(1)  # noqa: S311 - the same made-up data each time
    return [
        LogRecord(line(n, rng), 1.8e9 + 0.001 * n, f"service-{n % 5}", ("INFO", "WARN")[n % 2]) for n in range(count)
    ]


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def drain3(records: Sequence[LogRecord]) -> int:
    """drain3's template miner, a line at a time, with its usual masks for numbers, addresses and identifiers."""
    from drain3 import TemplateMiner
    from drain3.masking import MaskingInstruction
    from drain3.template_miner_config import TemplateMinerConfig

    config = TemplateMinerConfig()
    config.masking_instructions = [
        MaskingInstruction(r"((?<=[^A-Za-z0-9])|^)(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})((?=[^A-Za-z0-9])|$)", "IP"),
        MaskingInstruction(r"((?<=[^A-Za-z0-9])|^)([0-9a-f]{6,})((?=[^A-Za-z0-9])|$)", "SEQ"),
        MaskingInstruction(r"((?<=[^A-Za-z0-9])|^)([\-\+]?\d+)((?=[^A-Za-z0-9])|$)", "NUM"),
    ]
    miner = TemplateMiner(config=config)
    for record in records:
        miner.add_log_message(record.message)
    return len(miner.drain.clusters)


def main() -> None:
    """Print a row a kind of log."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=200_000)
    count = parser.parse_args().lines
    count_patterns(made(1_000, ordinary))  # imports are not what is measured
    print(f"{'lines':>10} {'kind':<9} {'patterns':>8} {'lines/s/core':>13} {'drain3':>9} {'times as fast':>13}")
    for line in (ordinary, distinct):
        records = made(count, line)
        patterns = len(count_patterns(records).patterns)
        rate = count / cpu_seconds(partial(count_patterns, records))
        some = records[:20_000]
        other = len(some) / cpu_seconds(partial(drain3, some))
        print(f"{count:>10,} {line.__name__:<9} {patterns:>8,} {rate:>13,.0f} {other:>9,.0f} {rate / other:>13.1f}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB, the lines included")


if __name__ == "__main__":
    main()
