"""The main job on recorded incidents: true causes, citations that hold in the store, and runs that replay."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli_samples import Command

from diag_graph.gate.normalise import normalise
from diag_graph.gate.pointer import resolve
from diag_graph.gate.values import text_of
from diag_graph.store import Store

INCIDENTS = Path(__file__).parents[2] / "fixtures" / "incidents"
LABELS: dict[str, Any] = json.loads((INCIDENTS / "labels.json").read_text())
NAMES = sorted(path.name for path in INCIDENTS.iterdir() if path.is_dir())
_CHANGE = re.compile(r"(?:Deploy|Flag|Commit|Config) \S+")
_CITED = re.compile(r"(?:\[\d+\])+$")


def ask(command: Command, name: str, *options: object) -> dict[str, Any]:
    """Ask an incident's own question and read the envelope."""
    folder = INCIDENTS / name
    outcome = command("ask", (folder / "question.txt").read_text().strip(), "--incident", folder, "--json", *options)
    assert outcome.status == 0, outcome.err
    envelope: dict[str, Any] = json.loads(outcome.out)
    return envelope


def test_every_recorded_incident_has_its_truth_beside_it_and_not_inside() -> None:
    """A label within a folder would be evidence."""
    assert sorted(LABELS) == NAMES
    assert not list(INCIDENTS.glob("*/labels*"))


@pytest.mark.parametrize("name", NAMES)
def test_an_incident_is_explained_with_citations_that_hold_and_a_run_that_replays(
    name: str, command: Command, home: Path
) -> None:
    """The first root cause is the true one, or there is none; C3 and P2 hold as seen from the store."""
    envelope = ask(command, name, "--save", home / "run.json")
    causes = [finding for finding in envelope["findings"] if finding["kind"] == "root_cause"]
    if LABELS[name]["healthy"]:
        assert causes == []
    else:
        assert causes[0]["entity"] in LABELS[name]["services"]
    run_id = envelope["run"]["runId"]
    assert_citations_hold(home, run_id)
    assert_statements_are_cited(envelope["run"]["answer"])
    assert_no_change_is_stated_twice(envelope)
    replayed = command("replay", home / "run.json", "--json")
    assert replayed.status == 0, replayed.err
    again = json.loads(replayed.out)["run"]
    for field in ("answer", "verdict", "modelVerdict", "orchestrationTrace", "question"):
        assert again[field] == envelope["run"][field]


def assert_no_change_is_stated_twice(envelope: dict[str, Any]) -> None:
    """What was weighed against the failure is not stated once more as it was recorded."""
    stated = [finding["text"] for finding in envelope["findings"] if finding["kind"] == "observation"]
    changes = [found[0] for text in stated if (found := _CHANGE.match(text))]
    assert len(changes) == len(set(changes))


def assert_citations_hold(home: Path, run_id: str) -> None:
    """Each citation's text stands in the recorded result at its path; read from the store alone."""
    with Store.open(next(home.rglob("*.db"))) as store:
        document = store.run(run_id)
    recorded = {invocation.id: invocation for invocation in document.invocations}
    assert document.findings
    for finding in document.findings:
        assert finding.citations
        for citation in finding.citations:
            found = resolve(recorded[citation.invocation_id].result, citation.path)
            assert found is not None
            assert normalise(citation.matched_text) in normalise(text_of(found.value))
            assert recorded[citation.invocation_id].tool == citation.tool


def assert_statements_are_cited(answer: str) -> None:
    """Each finding in the answer ends in numbers, and each number is explained below."""
    body, _, evidence = answer.partition("\nEvidence\n")
    sections = re.split(r"\n\n", body)
    findings = [
        line
        for section in sections
        if section.startswith(("Root cause", "Likely root cause", "Possible root cause", "Observed", "Searched"))
        for line in section.splitlines()[1:]
    ]
    assert findings
    for line in findings:
        marks = _CITED.search(line)
        assert marks, line
        for mark in re.findall(r"\[\d+\]", marks.group()):
            assert f"\n  {mark} " in f"\n{evidence}"


def test_the_code_knows_no_incident() -> None:
    """No name of a recorded incident, of its services or of its culprits stands in the program."""
    root = INCIDENTS.parents[1]
    code = "\n".join(
        path.read_text() for folder in ("cli", "graph") for path in (root / folder).rglob("*.py")
    ).casefold()
    services = {service for label in LABELS.values() for service in label["services"]}
    commits = {label["commit"] for label in LABELS.values() if label.get("commit") not in (None, "none")}
    for word in {*NAMES, *services, *commits} - COMMON_WORDS:
        assert not re.search(rf"(?<![\w-]){re.escape(word.casefold())}(?![\w-])", code), word


COMMON_WORDS = {"checkout", "billing", "stock", "ordering", "storefront"}
"""Words of the language that also stand in examples of help texts and docstrings."""
