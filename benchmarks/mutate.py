"""Switches off one check at a time, in a copy of the tree, and looks whether some test notices.

    python benchmarks/mutate.py [--group gate|routing|around] [--only PATTERN] [--tests PATH ...] [--jobs 2]

What is switched off stands in `mutations.py`: each check of the contract's section 5, each guard and row of the routing
table, the counters, and the rules around them. A mutation that survives is a rule without a test. Exit 1 when one does.

Each mutation runs in a forked process, so that libraries are imported once for all of them. POSIX only.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutations import Mutation, mutations

ROOT = Path(__file__).parents[1]
PARTS = ("graph", "cli", "tests", "fixtures/runs", "docs", "pyproject.toml")
TESTS = {  # in the order in which they notice most for their time
    "gate": ["tests/graph/test_run_fixtures.py", "tests/graph/gate"],
    "routing": [
        *("tests/graph/test_routing.py", "tests/graph/test_paths.py", "tests/graph/test_wiring.py"),
        *("tests/graph/test_isolation.py", "tests/graph/test_run_fixtures.py"),
    ],
    "around": [
        "tests/graph/test_run_fixtures.py",
        *("tests/graph/test_parsing.py", "tests/graph/test_composer_rules.py", "tests/graph/test_fallback.py"),
        *("tests/graph/test_verdicts_in_runs.py", "tests/graph/test_second_round.py", "tests/graph/test_paths.py"),
        *("tests/graph/test_playback.py", "tests/graph/test_runfile.py", "tests/graph/test_isolation.py"),
        *("tests/graph/test_wiring.py", "tests/graph/test_missing_verdicts.py"),
        "tests/graph/agents/models/test_model_failures.py",
    ],
}
PRELOADED = ("langgraph.graph", "hypothesis", "pydantic", "pytest")
PATIENCE_SECONDS = 300
NO_MUTATION = Mutation("", "nothing", "topology.py", "", "")


def main() -> int:
    """Try each mutation, and print a line each and the counts."""
    options = read_options()
    chosen = [row for row in mutations() if options.group in (None, row.group) and re.search(options.only, row.name)]
    for name in PRELOADED:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        copies = [copy_tree(Path(folder) / str(number)) for number in range(options.jobs)]

        def attempt(row: Mutation) -> tuple[Mutation, str, float]:
            copy, begun = copies.pop(), time.perf_counter()
            try:
                return row, outcome(copy, row, options.tests or TESTS[row.group]), time.perf_counter() - begun
            finally:
                copies.append(copy)

        everything = options.tests or sorted({test for row in chosen for test in TESTS[row.group]})
        if outcome(copies[0], NO_MUTATION, everything) != "survived":
            print("the tests fail without any mutation")
            return 2
        results = []
        for row, result, seconds in pool.map(attempt, chosen):
            results.append((row, result))
            print(f"{result:9} {seconds:5.1f} s  {row.group:8} {row.file:20} {row.name}", flush=True)
    return report(results)


def report(results: list[tuple[Mutation, str]]) -> int:
    """Print the counts and what was not noticed; 0 when everything was."""
    for group in dict.fromkeys(row.group for row, _ in results):
        rows = [result for row, result in results if row.group == group]
        counts = ", ".join(f"{rows.count(result)} {result}" for result in dict.fromkeys(rows))
        print(f"{group}: {len(rows)} mutations, {counts}")
    missed = [(row, result) for row, result in results if result in ("survived", "stale")]
    for row, result in missed:
        print(f"{result.upper()}: {row.file}: {row.name}")
    return 1 if missed else 0


def read_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", choices=TESTS, help="one group alone")
    parser.add_argument("--only", default="", metavar="PATTERN", help="those whose name this expression finds")
    parser.add_argument("--tests", nargs="+", metavar="PATH", help="these tests instead of the group's")
    parser.add_argument("--jobs", type=int, default=1)
    return parser.parse_args()


def copy_tree(target: Path) -> Path:
    """A copy of all that the tests need."""
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, target / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target / part)
    return target


def outcome(tree: Path, row: Mutation, tests: list[str]) -> str:
    """What the tests say of the tree with this mutation: `killed`, `survived`, `timeout`.

    `stale`: what is to be replaced does not stand there just once any more, and the list must be mended.
    """
    path = tree / "graph" / "diag_graph" / row.file
    whole = path.read_text(encoding="utf-8")
    if row.old and whole.count(row.old) != 1:
        return "stale"
    changed = whole.replace(row.old, row.new) if row.old else f"{whole}\n{row.new}\n"
    path.write_text(changed, encoding="utf-8")
    try:
        process = multiprocessing.get_context("fork").Process(target=run_tests, args=(tree, tests))
        process.start()
        process.join(PATIENCE_SECONDS)
        if process.is_alive():
            process.kill()
            process.join()
            return "timeout"
        return "survived" if process.exitcode == 0 else "killed"
    finally:
        path.write_text(whole, encoding="utf-8")


def run_tests(tree: Path, tests: list[str]) -> None:
    """Run tests of a copy, in a process of its own, and exit with pytest's status."""
    import pytest

    os.chdir(tree)
    sys.dont_write_bytecode = True
    for name in [name for name in sys.modules if name.split(".")[0] in ("diag_graph", "diag_cli")]:
        del sys.modules[name]  # the list of mutations has loaded the tree's own
    sys.path[:0] = [str(tree / "cli"), str(tree / "graph")]
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        status = pytest.main(["-x", "--assert=plain", *tests])
    os._exit(int(status))


if __name__ == "__main__":
    sys.exit(main())
