"""Which cause metrics alone point at: diag beside published methods, on the same cases, metrics and onsets, in one run.

    python benchmarks/metric_methods.py                                  # the incidents of this repository
    python benchmarks/metric_methods.py DIR ...                          # sets of cases (docs/evaluation.md)
    python benchmarks/metric_methods.py DIR --lead SET=15                # the alerts of SET fire 15 minutes late
    python benchmarks/metric_methods.py DIR --bocpd SET                  # in SET, BARO with its own onset detection too

The published methods are the authors' own code, which is no dependency of diag. In an environment of its own, with this
repository installed (`pip install -e .`):

    pip install RCAEval scikit-learn pandas tqdm requests causal-learn networkx matplotlib
    pip install --no-deps fse-baro                                       # only for --bocpd

RCAEval's own list of dependencies pins old versions of two hundred packages. Its BARO and N-sigma use the first two of
these; the others are what its modules import when they are loaded.

A row a method:

- **BARO** and **N-sigma** (`RCAEval.e2e.baro`, `RCAEval.e2e.nsigma`; Pham et al., FSE 2024 and WWW 2025) get one column
  a series on the union of all times, gaps filled as RCAEval does (with the value before, else 0), and the onset. A
  service ranks by its best series.
- **BARO's formula** and **N-sigma's formula** are the same scores computed here with numpy, each series on its own
  times: no gap is filled, series that are constant before or since the onset are left out, a scale of 0 counts as 1.
- **BARO, own onset** gets no onset: its multivariate Bayesian change point detection (`baro.anomaly_detection.bocpd`)
  finds one. It looks at columns that are called latency or error, so that names are given in lower case. From a
  hundred columns on it takes ten seconds a case and more.
- **diag's deviation** ranks a service by its best series too, by the deviation that `analysis.departures` gives: robust
  scales with floors, and only while it lasts. No threshold, no weights, nothing but the series.
- **diag, metrics alone** gets the same series and the same onset: the items of `find_metric_anomalies`, ranked as the
  built-in analyst ranks them. Entities of which no series changed beyond chance are not ranked, which counts as wrong;
  in the row **then by deviation** they follow, as the other methods rank them. **Own onset**: it gets no onset either.
- **diag, metrics and calls** gets the alert and the call graph as well, **diag, everything** the whole folder; both
  with the onset that diag itself takes. The last row is what `diag ask` names, at most three.
- **commonest** names the set's five most frequent causes each time; **random** is a random order, in expectation.

The onset is the start of the first alert, less `--lead`. Milliseconds are CPU time of the ranking alone, the best of
three calls in this process, in the mean over cases: no reading of files (log patterns are mined as logs are read), and
for BARO no making of the table that it takes. BLAS gets one thread.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np

from diag_graph.agents.analyst.planner import SURVEY
from diag_graph.analysis.departures import departures
from diag_graph.analysis.ranking import rank_entities
from diag_graph.analysis.records import Edge, FloatArray, Series, TimeRange, Window
from diag_graph.analysis.series_groups import MIN_BASELINE, group_by_times, prepare
from diag_graph.evals.cases import CaseSet, find_sets, question_from, question_of
from diag_graph.evals.documents import Label, Ranking
from diag_graph.evals.matching import rank_among
from diag_graph.evals.runner import Setup, evaluate
from diag_graph.evals.scoring import constant_answer, random_order, ranking
from diag_graph.sources.folder import open_folder
from diag_graph.sources.ports import Evidence
from diag_graph.tools.catalogue import ALL_TOOLS
from diag_graph.tools.definition import ToolContext
from diag_graph.tools.metric_statements import entity_of
from diag_graph.tools.orientation import orient

if TYPE_CHECKING:
    import pandas as pd

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
INCIDENTS = Path(__file__).parent.parent / "fixtures" / "incidents"
REPEATS = 3


@dataclass(frozen=True)
class Case:
    """One case, read: all that a method may ask for.

    Attributes:
        onset: When the trouble began, as the methods are told.
        series: The series of the metrics' files.
        table: One column a series on all times, and the column `time`.
        owners: The entity of each column.
        alone: A folder with the files of metrics alone, and the window about the onset.
        unaided: The same without an onset: diag looks for one.
        called: Metrics, alerts and the call graph.
        whole: All there is.
    """

    label: Label
    onset: float
    series: Sequence[Series]
    table: pd.DataFrame
    owners: Mapping[str, str]
    alone: ToolContext
    unaided: Evidence
    called: ToolContext
    whole: ToolContext


# --- the published methods ----------------------------------------------------------------------------------------


def table_of(series: Sequence[Series]) -> tuple[pd.DataFrame, dict[str, str]]:
    """Series as RCAEval takes them, and whose each column is."""
    import pandas as pd

    columns: dict[str, pd.Series] = {}
    owners: dict[str, str] = {}
    for one in series:
        labels = "".join(f"_{value}" for _, value in sorted(one.labels.items()))
        name = f"{entity_of(one)}_{one.metric}{labels}".lower()
        while name in columns:
            name += "'"
        columns[name] = pd.Series(one.values, index=one.times)
        owners[name] = entity_of(one)
    table = pd.DataFrame(columns).sort_index().replace([np.inf, -np.inf], np.nan).ffill().fillna(0.0)
    return table.reset_index(names="time"), owners


def best_first(case: Case, ranks: Sequence[str]) -> list[str]:
    """Services in the order of their best series."""
    return list(dict.fromkeys(case.owners[name] for name in ranks))


def baro(case: Case) -> list[str]:
    """BARO's robust scorer."""
    from RCAEval.e2e.baro import baro as method

    return best_first(case, method(case.table, case.onset, dataset="any")["ranks"])


def nsigma(case: Case) -> list[str]:
    """RCAEval's N-sigma."""
    from RCAEval.e2e import nsigma as method

    return best_first(case, method(case.table, case.onset, dataset="any")["ranks"])


def formula(case: Case, centre_and_scale: Callable[[FloatArray], tuple[float, float]]) -> list[str]:
    """The largest `(x - centre) / scale` since the onset, by the samples before it."""
    best: dict[str, float] = {}
    for one in case.series:
        split = int(one.times.searchsorted(case.onset))
        before, since = np.split(one.values, [split])
        if before.size and since.size and np.ptp(before) > 0 and np.ptp(since) > 0:
            centre, scale = centre_and_scale(before)
            score, entity = float((since.max() - centre) / (scale or 1.0)), entity_of(one)
            best[entity] = max(score, best.get(entity, -math.inf))
    return sorted(best, key=lambda entity: -best[entity])


def robust_formula(case: Case) -> list[str]:
    """Median and interquartile range."""
    return formula(
        case, lambda values: (float(np.median(values)), float(np.subtract(*np.percentile(values, (75, 25)))))
    )


def sigma_formula(case: Case) -> list[str]:
    """Mean and standard deviation."""
    return formula(case, lambda values: (float(values.mean()), float(values.std())))


def baro_unaided(case: Case) -> list[str]:
    """BARO with its own onset."""
    from baro.anomaly_detection import bocpd
    from RCAEval.e2e.baro import baro as method

    # It may call the end of the table a change, after which nothing is left to compare.
    found = [row for row in bocpd(case.table.drop(columns="time")) if 0 < row < len(case.table)]
    return best_first(case, method(case.table, dataset="any", anomalies=found)["ranks"]) if found else []


# --- diag ---------------------------------------------------------------------------------------------------------


def ranked(context: ToolContext) -> list[str]:
    """All entities that the tools speak of, most suspected first, as the built-in analyst orders them."""
    tools = [tool for name, _ in SURVEY for tool in ALL_TOOLS if tool.name == name]
    results = [list(tool.run(tool.arguments(), context).items) for tool in tools if tool.offered(context)]
    calls = [item for items in results for item in items if item.get("signal") == "call"]
    edges = [Edge(str(item["caller"]), str(item["callee"])) for item in calls]
    return [one.entity for one in rank_entities(results, edges, context.window.onset)]


def deviation(case: Case) -> list[str]:
    """Services by the largest deviation of a series, whether it would be told or not."""
    window = TimeRange(case.alone.window.start, case.alone.window.end)
    prepared = [item for one in case.series if (item := prepare(one, window)) is not None]
    splits = [int(one.times.searchsorted(case.onset)) for one, _ in prepared]
    comparable = [
        item for item, split in zip(prepared, splits, strict=True) if MIN_BASELINE <= split < item[0].times.size
    ]
    best: dict[str, float] = {}
    for group in group_by_times(comparable, case.onset):
        before, since = np.split(group.values, [group.split], axis=1)
        found = departures(before, since, group.persistence)
        for one, z in zip(group.series, np.abs(found.z).tolist(), strict=True):
            entity = entity_of(one)
            best[entity] = max(z, best.get(entity, 0.0))
    return sorted(best, key=lambda entity: -best[entity])


def alone(case: Case) -> list[str]:
    """Metrics and an onset."""
    return ranked(case.alone)


def completed(case: Case) -> list[str]:
    """Metrics and an onset, and all other services behind."""
    return list(dict.fromkeys([*alone(case), *deviation(case)]))


def unaided(case: Case) -> list[str]:
    """Metrics, and no onset."""
    evidence = replace(case.unaided, derived={})
    return ranked(replace(case.alone, evidence=evidence, window=orient(evidence, "", case.alone.window.end)))


def called(case: Case) -> list[str]:
    """Metrics, alert and call graph."""
    return ranked(case.called)


def everything(case: Case) -> list[str]:
    """All evidence."""
    return ranked(case.whole)


METHODS: dict[str, Callable[[Case], list[str]]] = {
    "BARO": baro,
    "N-sigma": nsigma,
    "BARO's formula, gaps left": robust_formula,
    "N-sigma's formula, gaps left": sigma_formula,
    "diag's deviation": deviation,
    "diag, metrics alone": alone,
    "diag, metrics alone, then by deviation": completed,
    "BARO, own onset": baro_unaided,
    "diag, metrics alone, own onset": unaided,
    "diag, metrics and calls": called,
    "diag, everything, all ranked": everything,
}


# --- cases --------------------------------------------------------------------------------------------------------


def read_case(folder: Path, label: Label, lead: float, made: Path) -> Case | None:
    """A case with all that methods need; None when it has no cause, no metrics or no alert with a time."""
    whole = open_folder(folder)
    starts = [alert.starts_at for alert in (whole.alerts.alerts() if whole.alerts else ()) if alert.starts_at]
    if not (label.has_cause and whole.metrics and starts):
        return None
    onset = min(starts) - lead
    question = question_of(folder) or question_from(whole.alerts.alerts() if whole.alerts else ())
    only = copied(folder, whole, ("metrics",), made / "alone")
    with_calls = copied(folder, whole, ("metrics", "alerts", "topology"), made / "called")
    series = whole.metrics.series()
    table, owners = table_of(series)
    span = only.inventory.span()
    window = Window(span.start, span.end, onset, "given") if span else Window(onset, onset, onset, "given")
    now = whole.inventory.span()
    end = now.end if now else onset
    return Case(
        label=label,
        onset=onset,
        series=series,
        table=table,
        owners=owners,
        alone=ToolContext(only, window, ""),
        unaided=only,
        called=ToolContext(with_calls, orient(with_calls, question, end), ""),
        whole=ToolContext(whole, orient(whole, question, end), ""),
    )


def copied(folder: Path, evidence: Evidence, kinds: Sequence[str], to: Path) -> Evidence:
    """A folder with the files of these kinds alone, all read."""
    for entry in evidence.inventory.entries():
        if entry.kind in kinds:
            (to / entry.name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / entry.name, to / entry.name)
    to.mkdir(parents=True, exist_ok=True)
    found = open_folder(to)
    found.inventory.entries()
    return found


def cases_of(one: CaseSet, lead: float) -> Iterator[Case]:
    """The cases of a set that can be compared."""
    with tempfile.TemporaryDirectory() as made:
        for case, label in one.labels.items():
            found = read_case(one.folder / case, label, lead, Path(made) / case)
            if found is not None:
                yield found


# --- figures ------------------------------------------------------------------------------------------------------


def compare(one: CaseSet, lead: float, methods: Sequence[str]) -> None:
    """Print the rows of a set."""
    cases = list(cases_of(one, lead))
    if not cases:
        print(f"{one.name}: no case with a cause, metrics and a dated alert\n")
        return
    labels = [case.label for case in cases]
    measured = {name: measure(METHODS[name], cases) for name in methods}
    base = measured["BARO"][1] if "BARO" in measured else math.nan
    print(f"{one.name}, {len(cases)} cases")
    print(f"  {'method':<40} {'AC@1':>6} {'AC@3':>6} {'Avg@5':>6} {'ms':>8} {'of BARO':>8}")
    for name, (score, milliseconds) in measured.items():
        row(name, score, f"{milliseconds:>8.1f} {milliseconds / base:>8.2f}")
    told = [score.rank for _, score in evaluate([one], Setup(), 1) if score.has_cause]
    row("diag ask, what it names", ranking(told))
    for name, figure in (("commonest", constant_answer(labels)), ("random", random_order(labels))):
        if figure is not None:
            row(name, figure)
    print()


def row(name: str, figure: Ranking, more: str = "") -> None:
    """Print one row."""
    print(f"  {name:<40} {figure.ac1:>6.3f} {figure.ac3:>6.3f} {figure.avg5:>6.3f} {more}".rstrip())


def measure(method: Callable[[Case], list[str]], cases: Sequence[Case]) -> tuple[Ranking, float]:
    """A method's figures over the cases, and its milliseconds a case."""
    method(cases[0])  # imports and caches are not what is measured
    ranks, spent = [], []
    for case in cases:
        best = math.inf
        for _ in range(REPEATS):
            begun = time.process_time()
            answer = method(case)
            best = min(best, time.process_time() - begun)
            if best > 1.0:  # a slow method is measured once
                break
        ranks.append(rank_among(answer, case.label.services))
        spent.append(1_000 * best)
    return ranking(ranks), mean(spent)


def importable(method: str) -> bool:
    """Whether a published method is installed."""
    needed: dict[str, Callable[[], Any]] = {
        "BARO": lambda: __import__("RCAEval.e2e.baro"),
        "N-sigma": lambda: __import__("RCAEval.e2e"),
        "BARO, own onset": lambda: __import__("baro.anomaly_detection"),
    }
    try:
        needed.get(method, lambda: None)()
    except ImportError as error:
        print(f"{method} is left out: {error} (see --help)\n")
        return False
    return True


def main() -> None:
    """Print a table a set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=[INCIDENTS])
    parser.add_argument("--lead", action="append", default=[], metavar="SET=MINUTES")
    parser.add_argument("--bocpd", action="append", default=[], metavar="SET")
    options = parser.parse_args()
    leads = {name: 60.0 * float(minutes) for name, _, minutes in (text.partition("=") for text in options.lead)}
    wanted = [name for name in METHODS if (options.bocpd or METHODS[name] is not baro_unaided) and importable(name)]
    for folder in options.folders:
        for one in find_sets(folder):
            methods = [name for name in wanted if METHODS[name] is not baro_unaided or one.name in options.bocpd]
            compare(one, leads.get(one.name, 0.0), methods)


if __name__ == "__main__":
    main()
