"""What kind of evidence a statement of work that ends early is."""

import pytest

from diag_graph.agents.analyst.kinds import EvidenceKind, evidence_kind
from diag_graph.agents.analyst.reading import began, times

SINCE = "since 2026-07-16T06:40:00Z, against 9 of 9 before"
FIRST = "first at 2026-07-16T06:41:00Z."
FEW = "only a few cases; "
OTHER = "some of these began otherwise than any before; "
LOG, SPAN = "find_log_patterns", "find_span_anomalies"


@pytest.mark.parametrize(
    ("tool", "text", "kind"),
    [
        (
            SPAN,
            f"Work of stock stopped short after GET /a: INSERT follows in 0 of 9 executions {SINCE}; {FIRST}",
            EvidenceKind.COURSE,
        ),
        (
            SPAN,
            f"Calls of shop to stock (call stock) stopped arriving: stock recorded 0 of 9 calls {SINCE}; {FIRST}",
            EvidenceKind.COURSE,
        ),
        (
            LOG,
            f'stock stopped short after logging "a": "b" follows in 0 of 9 traces {SINCE}; {FIRST}',
            EvidenceKind.COURSE,
        ),
        (
            LOG,
            f'stock is failing after logging "a": "b" (ERROR) follows in 9 of 9 traces {SINCE}; {FIRST}',
            EvidenceKind.FAILURE_LOG,
        ),
    ],
)
def test_work_that_ends_early_is_of_its_own_unless_it_is_doubted(tool: str, text: str, kind: EvidenceKind) -> None:
    """A few traces make a hint, and so do many that may be of other requests: a symptom carries no certain answer."""
    assert evidence_kind(tool, text, "stock") is kind
    for doubt in (FEW, OTHER):
        assert evidence_kind(tool, text.replace("; first", f"; {doubt}first"), "stock") is EvidenceKind.SYMPTOM
    assert began(text) == times(FIRST)[0]


def test_one_sample_shows_no_resource_that_ran_short() -> None:
    """No second one confirms it."""
    said = "cpu_usage of stock rose from 0.2 (median before) to 0.9 ({}) at 2026-07-16T06:41:00Z, 4.5 times as much."
    assert evidence_kind("find_metric_anomalies", said.format("median since"), "stock") is EvidenceKind.SATURATION
    assert evidence_kind("find_metric_anomalies", said.format("one sample"), "stock") is EvidenceKind.SYMPTOM


def test_what_a_line_says_of_itself_is_not_believed() -> None:
    """A message that quotes the words of doubt, or of a course, is a message."""
    quoted = f'stock logged 9 lines like "{FEW}" (ERROR) since 2026-07-16T06:40:00Z, new: none before; {FIRST}'
    assert evidence_kind(LOG, quoted, "stock") is EvidenceKind.FAILURE_LOG
    quoted = f'stock logged 9 lines like "it stopped short after lunch" (INFO) {SINCE}; {FIRST}'
    assert evidence_kind(LOG, quoted, "stock") is EvidenceKind.SYMPTOM


def test_repeated_calls_and_lost_parents_are_symptoms() -> None:
    """More calls may be more to do, and a lost parent the recorder's doing."""
    repeated = f"Calls of shop to stock (GET /a) are more frequent within one execution: 4 (median) {SINCE}; {FIRST}"
    lost = f"Spans of stock without a recorded parent are more frequent: 9 of 9 spans {SINCE}; {FIRST}"
    for text in (repeated, lost):
        assert evidence_kind(SPAN, text, "stock") is EvidenceKind.SYMPTOM
