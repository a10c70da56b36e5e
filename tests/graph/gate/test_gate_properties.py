"""What must hold of the gate for any result and any document."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from gate_samples import LINE, binding, claim, document, invocation
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from diag_graph.contracts import FailureCode, Severity
from diag_graph.gate.borders import is_border
from diag_graph.gate.check import UNREADABLE, check_document
from diag_graph.gate.normalise import normalise
from diag_graph.gate.values import text_of

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.text("ab1 2.,-e'\u0301é中\n\u00a0—’\u200b", max_size=30)
)
KEYS = st.text('ab/~" é\n', max_size=3)
RESULTS = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def places(value: object) -> list[tuple[str, object]]:
    """All places of a value but the value itself, by pointer."""
    found: list[tuple[str, object]] = []
    waiting = [("", value)]
    while waiting:
        pointer, here = waiting.pop()
        found.append((pointer, here))
        if isinstance(here, dict):
            waiting += [(f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}", sub) for key, sub in here.items()]
        elif isinstance(here, list):
            waiting += [(f"{pointer}/{index}", sub) for index, sub in enumerate(here)]
    return found[1:]


@st.composite
def citations(draw: st.DrawFn) -> tuple[dict[str, object], str, str]:
    """A result, a path in it, and an excerpt of what stands there, cut at borders and long enough to say something."""
    result = {"r": draw(RESULTS)}
    path, value = draw(st.sampled_from(places(result)))
    text = normalise(text_of(value))
    borders = [offset for offset in range(len(text) + 1) if is_border(text, offset)]
    start, end = sorted((draw(st.sampled_from(borders)), draw(st.sampled_from(borders))))
    excerpt = text[start:end]
    spoken = "".join(excerpt.split())
    assume(len(spoken) >= 4 or (spoken and excerpt.strip() == text.strip()))
    return result, path, excerpt


@given(citations())
def test_any_true_excerpt_passes(citation: tuple[dict[str, object], str, str]) -> None:
    """Section 5: any true excerpt cut at borders passes, from any value of any result, and is shown with its match."""
    result, path, excerpt = citation
    audit = check_document(document(claim("claim-1", binding(excerpt, path))), [invocation(result=result)])
    assert audit.status == "pass"
    assert normalise(excerpt) in normalise(audit.checked_bindings[0].matched_text or "") or len(excerpt) > 450


LATIN = ["pod", "p99", "payment-db", "can't", "Ünïcode", "e\u0301te\u0301", "“quoted”", "it’s"]
NUMBERS = ["-5", "2.31", "1,200", "1e-5", "210ms", "5%", "10.0.0.1", "db_3", "14:05:10", "−7"]
OTHER_SCRIPTS = ["超时", "タイムアウト", "помилка", "เวลา", "समय", "한국어"]
TOKENS = st.sampled_from([*LATIN, *NUMBERS, *OTHER_SCRIPTS])
GAPS = st.sampled_from([" ", "  ", "\n", "\r\n\t", "\u00a0", ": ", "; ", " (", ") ", " — ", ' "', " = ", "\u3000"])


def retyped(text: str) -> list[str]:
    """The same words as other keyboards, models and copy buffers would write them."""
    return [
        text,
        unicodedata.normalize("NFD", text),
        unicodedata.normalize("NFC", text),
        text.replace(" ", "\u00a0 \n"),
        text.replace("'", "\u2019").replace("-", "\u2212"),
        text.replace("“", '"').replace("”", '"').replace("’", "'").replace("—", "-").replace("−", "-"),
        "\u200b".join(text) if text.isascii() else text + "\ufeff",
    ]


@given(st.lists(st.tuples(TOKENS, GAPS), min_size=1, max_size=12), st.data())
def test_whole_words_and_numbers_can_always_be_quoted(pairs: list[tuple[str, str]], data: st.DataObject) -> None:
    """Section 5: quoting from one whole token to another passes, however the quotation was typed."""
    text = "".join(token + gap for token, gap in pairs)
    first, last = sorted(data.draw(st.tuples(st.integers(0, len(pairs) - 1), st.integers(0, len(pairs) - 1))))
    excerpt = "".join(token + gap for token, gap in pairs[first:last]) + pairs[last][0]
    assume(len(normalise(excerpt).replace(" ", "")) >= 4)
    for typed in retyped(excerpt):
        audit = check_document(document(claim("c", binding(typed, "/0"))), [invocation(result=[text])])
        assert audit.status == "pass"


@given(citations(), st.data())
def test_a_changed_character_fails(citation: tuple[dict[str, object], str, str], data: st.DataObject) -> None:
    """Section 5: an excerpt with one character changed into what the text does not hold is a forgery."""
    result, path, excerpt = citation
    place = data.draw(st.integers(0, len(excerpt) - 1))
    changed = excerpt[:place] + data.draw(st.sampled_from("xX7?")) + excerpt[place + 1 :]
    here = normalise(text_of(dict(places(result))[path]))
    assume(normalise(changed) not in here)
    audit = check_document(document(claim("claim-1", binding(changed, path))), [invocation(result=result)])
    assert audit.checked_bindings[0].failure in (FailureCode.EXCERPT_MISMATCH, FailureCode.PATH_MISMATCH)
    assert audit.severity is Severity.REJECT


@given(citations(), st.text(min_size=1, max_size=6) | st.sampled_from(["inv-0", "inv-2", "inv-10", "inv_1", "Inv-1"]))
def test_a_made_up_invocation_always_rejects(citation: tuple[dict[str, object], str, str], source: str) -> None:
    """Section 5: no excerpt, however true, saves an id that is not this run's."""
    assume(source != "inv-1")
    result, path, excerpt = citation
    audit = check_document(document(claim("claim-1", binding(excerpt, path, source))), [invocation(result=result)])
    assert audit.checked_bindings[0].failure is FailureCode.UNKNOWN_INVOCATION
    assert audit.severity is Severity.REJECT


FORGERIES: list[Callable[[], dict[str, object]]] = [
    lambda: binding(source="inv-9"),
    lambda: binding(path="/items/7/text"),
    lambda: binding("payment-db was restarted"),
    lambda: binding(LINE, "/items/1/text"),
]
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.sampled_from(["inv-1", LINE, "claim-1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["claim_id", "claim", "evidence_bindings", "source_invocation_id", "raw_path", "kind"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)
ANY_CLAIM = ANY_JSON | st.builds(claim, st.sampled_from(["a", "b", "", None]), st.builds(binding), ANY_JSON)


@given(st.lists(ANY_CLAIM, max_size=4), st.sampled_from(FORGERIES), st.integers(0, 4), st.booleans())
def test_one_forged_binding_rejects_the_round(
    claims: list[object], forgery: Callable[[], dict[str, object]], place: int, malformed: bool
) -> None:
    """G2: whatever stands beside it, and under whatever claim it stands."""
    bearer = claim("", forgery(), text=None) if malformed else claim("forged", binding(), forgery(), binding())
    everything = [*claims[:place], bearer, *claims[place:]]
    audit = check_document(document(*everything), [invocation()])
    assert audit is not UNREADABLE
    assert audit.severity is Severity.REJECT


@given(ANY_JSON | st.builds(document, ANY_CLAIM, ANY_CLAIM), RESULTS)
@settings(max_examples=200)
def test_no_document_breaks_the_gate(anything: object, result: object) -> None:
    """G1: whatever an agent wrote, the audit says pass or fail, and a fail has its severity."""
    audit = check_document(anything, [invocation(result=result)])
    assert (audit.status == "pass") == (audit.severity is None)
    readable = isinstance(anything, dict) and isinstance(anything.get("claims"), list)
    assert readable != (audit is UNREADABLE)
