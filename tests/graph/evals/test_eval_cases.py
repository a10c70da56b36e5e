from __future__ import annotations

import json
from pathlib import Path

import pytest
from eval_samples import write_set

from diag_graph import open_folder
from diag_graph.analysis.records import Alert
from diag_graph.errors import InputError
from diag_graph.evals.cases import chosen, find_sets, question_from, question_of


def test_case_folders_lie_in_a_folder_or_beside_their_labels(tmp_path: Path) -> None:
    """Both layouts are a set, and a folder of sets gives them in the order of their names."""
    write_set(tmp_path / "b")
    write_set(tmp_path / "a", beside=True)
    (tmp_path / "other").mkdir()
    sets = find_sets(tmp_path)
    assert [(one.name, sorted(one.labels)) for one in sets] == [("a", ["named", "quiet"]), ("b", ["named", "quiet"])]
    assert [one.folder for one in sets] == [tmp_path / "a", tmp_path / "b" / "cases"]
    assert find_sets(tmp_path / "b") == [sets[1]]


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ("[]", "labels.json"),
        ("{oops", "labels.json"),
        ("{}", "no case"),
        ('{"gone": {}}', "no case gone"),
        ('{"c": {"candidates": 0}}', "c.candidates"),
        ('{"c": {"keywords": "word"}}', "c.keywords"),
    ],
)
def test_labels_that_cannot_be_used_are_told_with_the_file(tmp_path: Path, labels: str, words: str) -> None:
    """Exit 2 needs one line of what is wrong, and where."""
    (tmp_path / "labels.json").write_text(labels)
    with pytest.raises(InputError, match=r"labels\.json") as caught:
        find_sets(tmp_path)
    assert words in caught.value.message


def test_a_folder_without_sets_is_refused(tmp_path: Path) -> None:
    """As is one that is not there."""
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match=folder.name):
            find_sets(folder)


def test_cases_are_chosen_by_name_with_or_without_their_set(tmp_path: Path) -> None:
    """A mistyped name is an error with a suggestion."""
    write_set(tmp_path / "a")
    write_set(tmp_path / "b")
    sets = find_sets(tmp_path)
    assert [(one.name, [*one.labels]) for one in chosen(sets, ["a/quiet"])] == [("a", ["quiet"])]
    assert [(one.name, [*one.labels]) for one in chosen(sets, ["named"])] == [("a", ["named"]), ("b", ["named"])]
    with pytest.raises(InputError, match="nmed") as caught:
        chosen(sets, ["nmed"])
    assert "named" in caught.value.advice


def test_neither_the_question_nor_the_truth_is_evidence(tmp_path: Path) -> None:
    """A folder reader that hands out the question or a label would let agents cite them."""
    folder = write_set(tmp_path / "set") / "cases" / "named"
    (folder / "labels.json").write_text(json.dumps({"named": {"services": ["till"]}}))
    assert [entry.name for entry in open_folder(folder).inventory.entries()] == ["notes.txt"]


def test_a_case_without_a_question_is_asked_what_its_alerts_ask() -> None:
    """Name, service, UTC time and summary; what fires stands before what is resolved."""
    resolved = Alert("DiskFull", "resolved", 1_784_000_000.0, None)
    firing = Alert("TillSlow", "firing", 1_784_000_060.5, None, service="till", summary="p95 above 2 s.")
    assert question_from([resolved, firing]) == (
        "TillSlow fired for till at 2026-07-14T03:34:20.500Z: p95 above 2 s. "
        "DiskFull fired and is resolved now at 2026-07-14T03:33:20Z. What is the root cause, if anything is wrong?"
    )
    with pytest.raises(InputError, match="no alert"):
        question_from([])


def test_the_question_is_the_files_text(tmp_path: Path) -> None:
    """Without the white space around it; None asks for an alert."""
    assert question_of(tmp_path) is None
    (tmp_path / "question.txt").write_text("  why?\n")
    assert question_of(tmp_path) == "why?"
