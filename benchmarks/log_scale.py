"""How fast a folder of many log lines becomes an answer, and in how much memory.

    python benchmarks/log_scale.py                     # 1 million lines
    python benchmarks/log_scale.py --lines 10000000    # ten million, about 1.5 GB of disk while it runs
    python benchmarks/log_scale.py --make DIR          # only make the folder, and keep it

The folder is made here: an hour of a shop's logs in the formats that services, Kubernetes and collectors write, with a
fault in it from the fortieth minute on. Each stage runs in a process of its own and is told as lines a second of CPU
time (threads count too), and as a ratio to what reading the same lines costs in plain Python, on the same machine at
the same time. "ask" is the whole command that a user types.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

START = 1_796_040_000
SECONDS = 3_600
ONSET = 2_400
QUESTION = "why do checkouts fail?"
TRACE = (
    "org.springframework.web.util.NestedServletException: Request processing failed\n"
    "\tat org.springframework.web.servlet.FrameworkServlet.processRequest(FrameworkServlet.java:1014)\n"
    "\tat shop.checkout.PayController.pay(PayController.java:{line})\n"
    "Caused by: shop.payment.PoolExhaustedException: no connection to payments-db within {wait} ms\n"
    "\tat shop.payment.Pool.take(Pool.java:88)\n"
    "\t... 23 more\n"
)
Line = tuple[str, str]
"""Level and message."""


def message(rng: random.Random, number: int, *, broken: bool) -> Line:
    """What a service of a shop says."""
    if broken and rng.randrange(10) == 0:
        return "ERROR", f"payment of order {number} failed after {rng.randrange(3000)} ms"
    level, form = rng.choices(ORDINARY, SHARES)[0]
    return level, form(rng, number)


ORDINARY: tuple[tuple[str, Callable[[random.Random, int], str]], ...] = (
    ("INFO", lambda r, _: f"GET /items/{r.randrange(10**6)} 200 in {r.randrange(500)} ms for u-{r.randrange(10**5)}"),
    ("INFO", lambda r, _: f"order {r.getrandbits(64):016x} accepted from 10.0.{r.randrange(256)}.{r.randrange(256)}"),
    ("DEBUG", lambda r, _: f"cache hit ratio {r.random():.4f} key session:{r.randrange(10**8)}"),
    ("INFO", lambda r, n: f"published event {n} to topic orders partition {r.randrange(12)} offset {n * 7}"),
    ("WARN", lambda r, _: f"slow query took {r.randrange(400, 2000)} ms on shard-{r.randrange(16)}"),
    ("ERROR", lambda r, _: f"could not reserve item {r.randrange(10**5)}: deadlock detected"),
)
SHARES = (300, 300, 200, 170, 29, 1)


def text_line(moment: float, service: str, said: Line, rng: random.Random) -> str:
    """As Java's and Python's loggers write it, with a stack trace behind an error of the fault."""
    level, text = said
    when = datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S") + f",{int(moment % 1 * 1000):03d}"
    line = f"{when} {level} [{service}] {text}\n"
    if level == "ERROR" and text.startswith("payment"):
        line += TRACE.format(line=rng.randrange(400), wait=rng.randrange(30_000))
    return line


def json_line(moment: float, service: str, said: Line, rng: random.Random) -> str:
    """As structured loggers write it."""
    level, text = said
    record = {
        "timestamp": datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z"),
        "level": level.lower(),
        "service": service,
        "message": text,
        "trace_id": f"{rng.getrandbits(128):032x}",
        "attributes": {"status": 500 if level == "ERROR" else 200, "bytes": rng.randrange(10**5)},
    }
    if level == "ERROR":
        record["error"] = {"type": "PoolExhaustedException", "message": "no connection to payments-db"}
    return json.dumps(record) + "\n"


def pod_line(moment: float, service: str, said: Line, rng: random.Random) -> str:  # noqa: ARG001 - as the others
    """As Kubernetes keeps it: a container's standard output under the runtime's prefix."""
    level, text = said
    when = datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
    return f"{when}123Z stdout F {level} {text}\n"


FILES: tuple[tuple[str, str, int, Callable[[float, str, Line, random.Random], str]], ...] = (
    ("checkout/checkout.log", "checkout", 25, text_line),
    ("payment.log", "payment", 15, text_line),
    ("catalogue.log", "catalogue", 10, text_line),
    ("gateway.jsonl", "gateway", 25, json_line),
    ("pods/cart.log", "cart", 15, pod_line),
    ("pods/shipping.log", "shipping", 10, pod_line),
)
"""Each file's name, its service, its share of the lines in per cent, and its format."""


def make_folder(folder: Path, lines: int) -> None:
    """Write a folder with about so many events."""
    for number, (name, service, share, form) in enumerate(FILES):
        rng = random.Random(number)  # noqa: S311 - the same made-up data each time
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        total = lines * share // 100
        broken = service in {"checkout", "payment", "gateway"}
        with path.open("w") as file:
            for event in range(total):
                moment = START + SECONDS * event / total
                said = message(rng, event, broken=broken and event / total > ONSET / SECONDS)
                file.write(form(moment, service, said, rng))


# --- stages ----------------------------------------------------------------------------------------------------


def scan(folder: Path) -> int:
    """Read every line in plain Python, and do nothing with it."""
    return sum(sum(1 for _ in path.open(encoding="utf-8")) for path in sorted(folder.rglob("*.*")) if path.is_file())


def read(folder: Path) -> int:
    """Read times, levels and services of every line: what `diag doctor --incident` does."""
    from diag_graph.sources.folder import open_folder

    return len(open_folder(folder).inventory.entries())


def orient(folder: Path) -> int:
    """Read, find the window, mine the patterns of the whole folder: what has to be done before the first question."""
    from diag_graph.sources.folder import open_folder
    from diag_graph.tools.log_reading import read_patterns

    evidence = open_folder(folder)
    span = evidence.inventory.span()
    return read_patterns(evidence, span).lines if span else 0


def ask(folder: Path) -> int:
    """The whole command."""
    from diag_cli.app import main

    sys.argv = ["diag", "ask", QUESTION, "--incident", str(folder), "--quiet", "--json"]
    sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - until the process ends
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)


STAGES: dict[str, Callable[[Path], int]] = {"scan": scan, "read": read, "orient": orient, "ask": ask}


def run_stage(stage: str, folder: Path) -> None:
    """One stage, here and now; its figures as JSON on stderr."""
    wall, cpu = time.perf_counter(), time.process_time()
    STAGES[stage](folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    figures = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "mb": peak}
    print(json.dumps(figures), file=sys.stderr)


def measured(folder: Path, stages: list[str]) -> Iterator[tuple[str, dict[str, float]]]:
    """Each stage in a fresh process."""
    with tempfile.TemporaryDirectory() as home:
        for stage in stages:
            command = [sys.executable, __file__, "--stage", stage, "--folder", str(folder)]
            done = subprocess.run(  # noqa: S603 - ourselves
                command, capture_output=True, text=True, check=True, env=os.environ | {"DIAG_HOME": home}
            )
            yield stage, json.loads(done.stderr.strip().splitlines()[-1])


def main() -> None:
    """Make the folder, measure, print a row a stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--make", type=Path, metavar="DIR", help="make the folder there, and measure nothing")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="measure a folder that is there already")
    parser.add_argument("--only", nargs="*", choices=STAGES, default=list(STAGES), help="these stages")
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stage:
        run_stage(options.stage, options.folder)
    elif options.make:
        make_folder(options.make, options.lines)
    else:
        with tempfile.TemporaryDirectory() as made:
            folder = options.folder or Path(made)
            if not options.folder:
                make_folder(folder, options.lines)
            report(folder, ["scan", *(stage for stage in options.only if stage != "scan")])


def report(folder: Path, stages: list[str]) -> None:
    """Print a row a stage."""
    lines = scan(folder)
    size = sum(path.stat().st_size for path in folder.rglob("*.*") if path.is_file()) / 1e6
    print(f"{lines:,} lines, {size:,.0f} MB")
    print(f"{'stage':<8}{'wall s':>9}{'CPU s':>9}{'lines/s/core':>14}{'x scan':>8}{'peak MB':>9}")
    base = 0.0
    for stage, found in measured(folder, stages):
        base = base or found["cpu"]
        rate, ratio = lines / found["cpu"], found["cpu"] / base
        print(f"{stage:<8}{found['wall']:>9.1f}{found['cpu']:>9.1f}{rate:>14,.0f}{ratio:>8.1f}{found['mb']:>9,.0f}")


if __name__ == "__main__":
    main()
