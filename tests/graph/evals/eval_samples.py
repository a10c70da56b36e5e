"""Three toy cases whose figures are worked out by hand, and small case folders that the analyst can run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from diag_graph.evals.documents import Label, Outcome

GUILTY, INNOCENT = "a1b2c3d4e5f60718293a4b5c6d7e8f9012345678", "ffeeddccbbaa99887766554433221100ffeeddcc"

LABELS = {
    name: Label.model_validate(label)
    for name, label in {
        # Of four candidates; a pod of the right service is named second; one of two keywords is found.
        "toy-slow": {"services": ["basket", "basket-7d9f8b6c4-x7k2q"], "candidates": 4, "keywords": ["cpu", ["disk"]]},
        # Of two candidates; the right one is first, the right commit is blamed by its beginning; 12 is not 120.
        "toy-deploy": {
            "services": ["till"],
            "candidates": 2,
            "commit": GUILTY,
            "decoys": [INNOCENT],
            "keywords": [["12"]],
            "forbidden": ["two causes"],
        },
        # Nothing is wrong, no commit is guilty, and a cause is named with confidence all the same.
        "toy-calm": {"healthy": True, "commit": "none", "decoys": [INNOCENT], "keywords": [["normal", "no fault"]]},
    }.items()
}

RUNS = {
    run.case: run
    for run in (
        Outcome(
            case="toy-slow",
            ranked=("till", "BASKET-7d9f8b6c4-b4d5z"),
            answer="CPU of the basket",
            verdict="PASS",
            statements=3,
            cited=3,
            seconds=1.0,
        ),
        Outcome(
            case="toy-deploy",
            ranked=("Till", "till-db"),
            answer="Two\n causes: 120 ms since a1b2c3d",
            verdict="LOW_CONFID",
            commit="A1B2C3D4",
            statements=2,
            cited=1,
            model_calls=4,
            prompt_tokens=1000,
            completion_tokens=50,
            cost_usd=0.5,
            seconds=3.0,
        ),
        Outcome(case="toy-calm", ranked=("till",), answer="till is at fault", verdict="PASS", seconds=5.0),
    )
}


def write_set(folder: Path, labels: dict[str, Any] | None = None, *, beside: bool = False) -> Path:
    """A set of cases that run in no time: notes, and a question or an alert. `broken` cannot be opened."""
    labels = labels if labels is not None else {"quiet": {"healthy": True}, "named": {"services": ["till"]}}
    for case in labels:
        place = (folder if beside else folder / "cases") / case
        place.mkdir(parents=True)
        (place / "notes.txt").write_text("The till was restarted.\n")
        (place / "question.txt").write_text("What is wrong with the till?\n")
        if case == "broken":
            (place / "incident.toml").write_text("[window\n")
    folder.mkdir(exist_ok=True)
    (folder / "labels.json").write_text(json.dumps(labels))
    return folder
