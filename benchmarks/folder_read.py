"""How fast an evidence folder is read, and which engine reads its tables.

    python benchmarks/folder_read.py               # the reader as it is, on data made here
    python benchmarks/folder_read.py --engines     # Polars against DuckDB on the table part alone (needs both)
    python benchmarks/folder_read.py --mb 200      # larger log files

Every measurement runs in a process of its own, so that imports and memory are counted where they belong. Seconds are
CPU seconds and wall seconds; the two differ by threads on a quiet machine, and by other people's work on a busy one.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

START = 1_796_040_000
LEVELS = ("INFO", "INFO", "WARN", "ERROR")


def iso(seconds: float) -> str:
    """A time as tables write it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def long_csv(path: Path, steps: int, services: int, metrics: int) -> None:
    """One row a sample."""
    rng = random.Random(1)  # noqa: S311 (the same made-up data each time)
    with path.open("w", newline="") as file:
        write = csv.writer(file).writerow
        write(["timestamp", "service", "metric", "value"])
        for step in range(steps):
            moment = iso(START + 15 * step)
            for series in range(services * metrics):
                write(
                    [moment, f"service-{series // metrics}", f"metric_{series % metrics}", f"{rng.gauss(100, 9):.5f}"]
                )


def wide_csv(path: Path, steps: int, columns: int) -> None:
    """One column a series."""
    rng = random.Random(1)  # noqa: S311 (the same made-up data each time)
    with path.open("w", newline="") as file:
        write = csv.writer(file).writerow
        write(["timestamp", *(f"service-{column // 20}_metric_{column % 20}" for column in range(columns))])
        for step in range(steps):
            write([iso(START + 15 * step), *(f"{rng.gauss(100, 9):.4f}" for _ in range(columns))])


def json_logs(path: Path, megabytes: int) -> None:
    """JSON lines of about 250 bytes."""
    rng = random.Random(1)  # noqa: S311 (the same made-up data each time)
    written = event = 0
    with path.open("w") as file:
        while written < megabytes << 20:
            line = {
                "timestamp": iso(START + event / 100),
                "level": LEVELS[rng.randrange(4)],
                "service": f"service-{event % 20}",
                "message": f"request {event} took {rng.randrange(1000)} ms for user {rng.randrange(10**6)}",
                "trace_id": f"{rng.getrandbits(128):032x}",
                "attributes": {"status": 200 + 300 * (event % 2), "bytes": rng.randrange(10**5)},
            }
            written += file.write(json.dumps(line) + "\n")
            event += 1


def text_logs(path: Path, megabytes: int) -> None:
    """Lines as Python's logging writes them, with a stack trace now and then."""
    rng = random.Random(1)  # noqa: S311 (the same made-up data each time)
    written = event = 0
    with path.open("w") as file:
        while written < megabytes << 20:
            moment = datetime.fromtimestamp(START + event / 100, UTC).strftime("%Y-%m-%d %H:%M:%S,000")
            level, took = LEVELS[rng.randrange(4)], rng.randrange(999)
            text = f"{moment} {level} [service-{event % 20}] request {event} took {took} ms\n"
            if event % 50 == 0:
                text += 'Traceback (most recent call last):\n  File "pay.py", line 3, in pay\nValueError: no money\n'
            written += file.write(text)
            event += 1


# --- the engines, on the same task: text cells to sorted arrays by series -----------------------------------------


def split(times: np.ndarray, groups: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
    """Each series' values by time."""
    order = np.lexsort((times, groups))
    return np.split(values[order], np.flatnonzero(np.diff(groups[order])) + 1)


def epochs(texts: list[str]) -> np.ndarray:
    """Times of distinct texts."""
    return np.array([datetime.fromisoformat(text).timestamp() for text in texts])


def polars_long(path: Path) -> int:
    """Long rows with Polars."""
    import polars as pl

    schema = dict.fromkeys("tsmv", pl.String)
    frame = pl.read_csv(path, has_header=False, skip_rows=1, schema=schema, truncate_ragged_lines=True)
    values = frame["v"].cast(pl.Float64, strict=False).to_numpy()
    distinct = frame["t"].unique(maintain_order=True)
    moments = pl.DataFrame({"t": distinct, "time": epochs(distinct.to_list())})
    times = frame.select("t").join(moments, on="t", how="left", maintain_order="left")["time"].to_numpy()
    keys = frame.select("s", "m").unique(maintain_order=True).with_row_index("k")
    groups = frame.select("s", "m").join(keys, on=["s", "m"], how="left", maintain_order="left")["k"].to_numpy()
    return len(split(times, groups, values))


def duckdb_long(path: Path) -> int:
    """Long rows with DuckDB."""
    import duckdb

    base = duckdb.connect()
    base.execute(
        "create temp table r as select * from read_csv(?, header=false, skip=1, auto_detect=false, delim=',', "
        "columns={'t':'VARCHAR','s':'VARCHAR','m':'VARCHAR','v':'VARCHAR'}, null_padding=true, ignore_errors=true)",
        [str(path)],
    )
    base.execute("create temp table u as select t, row_number() over () - 1 i from (select distinct t from r)")
    base.execute("create temp table k as select s, m, row_number() over () - 1 k from (select distinct s, m from r)")
    moments = epochs(base.execute("select t from u order by i").fetchnumpy()["t"].tolist())
    table = base.execute(
        "select u.i, k.k, try_cast(r.v as double) v from r join u using (t) join k using (s, m)"
    ).fetchnumpy()
    return len(split(moments[table["i"]], table["k"], np.asarray(table["v"])))


def polars_wide(path: Path) -> int:
    """Wide columns with Polars."""
    import polars as pl

    columns = path.open().readline().count(",") + 1
    schema = {f"c{column}": pl.String for column in range(columns)}
    frame = pl.read_csv(path, has_header=False, skip_rows=1, schema=schema, truncate_ragged_lines=True)
    epochs(frame["c0"].to_list())
    return len([frame[name].cast(pl.Float64, strict=False).to_numpy() for name in frame.columns[1:]])


def duckdb_wide(path: Path) -> int:
    """Wide columns with DuckDB."""
    import duckdb

    names = [f"c{column}" for column in range(path.open().readline().count(",") + 1)]
    spec = ",".join(f"'{name}':'VARCHAR'" for name in names)
    cells = ",".join(f"try_cast({name} as double) {name}" for name in names[1:])
    query = (
        f"select c0,{cells} from read_csv(?, header=false, skip=1, auto_detect=false, delim=',', "  # noqa: S608 (our own names)
        f"columns={{{spec}}}, null_padding=true, ignore_errors=true)"
    )
    table = duckdb.connect().execute(query, [str(path)]).fetchnumpy()
    epochs(table["c0"].tolist())
    return len([np.asarray(table[name]) for name in names[1:]])


def whole_folder(path: Path) -> int:
    """The reader as the product uses it: open, list, and read what there is."""
    from diag_graph.sources.folder import open_folder

    evidence = open_folder(path)
    evidence.inventory.entries()
    if evidence.metrics:
        return len(evidence.metrics.series())
    return sum(1 for _ in evidence.logs.records()) if evidence.logs else 0


TASKS: dict[str, Callable[[Path], int]] = {
    task.__name__: task for task in (whole_folder, polars_long, duckdb_long, polars_wide, duckdb_wide)
}


def measure(task: str, path: Path) -> str:
    """Run one task in a fresh process three times; the line of the fastest."""
    runs = []
    for _ in range(3):
        command = [sys.executable, __file__, "--task", task, "--path", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 (ourselves)
        runs.append(json.loads(done.stdout))
    best = min(runs, key=lambda run: run["wall"])
    return f"{best['wall']:8.3f} s wall {best['cpu']:8.3f} s CPU {best['mb']:6d} MB   {best['found']:,} found"


def run_task(task: str, path: Path) -> None:
    """One measurement, as JSON."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = TASKS[task](path)
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    figures = {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "found": found,
        "mb": usage // 1024,
    }
    print(json.dumps(figures))


def main() -> None:
    """Make the data, measure, print a line each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", action="store_true", help="compare table engines")
    parser.add_argument("--mb", type=int, default=100, help="size of the log files")
    parser.add_argument("--task", choices=TASKS, help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        run_task(options.task, options.path)
        return
    if options.engines and importlib.util.find_spec("duckdb") is None:
        parser.error("--engines needs duckdb, which is no dependency: pip install duckdb")
    with tempfile.TemporaryDirectory() as made:
        files: dict[str, Callable[[Path], None]] = {
            "long, 64,000 rows": lambda path: long_csv(path, 160, 40, 10),
            "long, 1,000,000 rows": lambda path: long_csv(path, 500, 100, 20),
            "wide, 1,000 columns": lambda path: wide_csv(path, 2000, 1000),
        }
        if not options.engines:
            files[f"JSON logs, {options.mb} MB"] = lambda path: json_logs(path, options.mb)
            files[f"text logs, {options.mb} MB"] = lambda path: text_logs(path, options.mb)
        for number, (name, make) in enumerate(files.items()):
            path = Path(made) / str(number) / "data.txt"
            path.parent.mkdir()
            make(path)
            if not options.engines:
                print(f"{name:24} {measure('whole_folder', path.parent)}")
                continue
            for engine in ("polars", "duckdb"):
                print(f"{name:24} {engine:8} {measure(f'{engine}_{name[:4]}', path)}")


if __name__ == "__main__":
    main()
