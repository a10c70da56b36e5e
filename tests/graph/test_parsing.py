"""Reading an agent's reply (contract section 4): the single JSON object, or nothing; and nothing is repaired."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diag_graph import parsing
from diag_graph.contracts import VerifierResult
from diag_graph.parsing import MAX_DEPTH, InvalidReplyError, parse_model, parse_object, strict_loads

TEXT = st.text(alphabet='ab 0"\\{}[],:é\n\u2028', max_size=6)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(-1e300, 1e300), TEXT)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXT, VALUES, max_size=3)
PROSE = st.text(alphabet='ab 0",:é\n>', max_size=20)

ACCEPTED = [
    '{"a": 1}',
    ' \n{"a": 1}\n',
    '```json\n{"a": 1}\n```',
    '```\n{"a": 1}\n```',
    'Here it is: {"a": 1}',
    'See [1] and {this}: {"a": 1} That is all.',
    '<think>{"b": 2}</think>{"a": 1}',
    '<think>\nlong thoughts\n</think>\n\n```json\n{"a": 1}\n```',
    '\n<think></think>{"a": 1}',
    '\ufeff{"a": 1}',
]

MISSING = [None, "", "  \n", "<think>hm</think>", '<think>{"a": 1}', "<think>hm</think>  "]

REFUSED = {
    "prose": "I could not find anything.",
    "truncated": '{"a": 1, "b": [1, 2',
    "truncated deep": '{"a": {"b": 1}',
    "truncated in a string": '{"a": "b',
    "truncated in a fence": '```json\n{"a": {"b": 1}, ',
    "two objects": '{"a": 1} {"b": 2}',
    "an object twice": '{"a": 1}\n{"a": 1}',
    "objects in prose": 'First {"a": 1}, then {"b": 2}.',
    "two fences": '```json\n{"a": 1}\n```\nor\n```json\n{"b": 2}\n```',
    "an array": '[{"a": 1}]',
    "an array with more before it": '[1, {"a": 1}]',
    "a truncated array": '[1, {"a": 1}',
    "an array in a fence": '```json\n[1, {"a": 1}]\n```',
    "the end of an array": '{"a": 1}]',
    "the end of an object with an object in it": '"x": {"a": 1}, "y": 2}',
    "the end of an object": '"x": {"a": 1}}',
    "a part of something else": 'answer = {answer: {"a": 1}}',
    "an object of another language": "{'a': {\"b\": 1}}",
    "a string": '"{\\"a\\": 1}"',
    "a number": "3",
    "null": "null",
    "true": "true",
    "a trailing comma": '{"a": 1,}',
    "a comment": '{"a": 1 /* one */}',
    "single quotes": "{'a': 1}",
    "NaN": '{"a": NaN}',
    "infinity": '{"a": -Infinity}',
    "a number beyond all bounds": '{"a": 1e999}',
    "a number of too many digits": '{"a": ' + "9" * 5000 + "}",
    "a name twice": '{"a": 1, "a": 2}',
    "a name twice, deep": '{"b": [{"a": 1, "a": 2}]}',
    "half a character": '{"a": "\\ud800"}',
    "a raw line break in a string": '{"a": "b\nc"}',
    "deep nesting": '{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1),
    "very deep nesting": '{"a":' * 100_000,
    "deep arrays": '{"a":' + "[" * 100_000,
}


@pytest.mark.parametrize("text", ACCEPTED)
def test_the_single_object_is_taken(text: str) -> None:
    """Section 4: bare, in a code fence, or alone within prose, behind thoughts or not."""
    assert parse_object(text) == {"a": 1}


@pytest.mark.parametrize("text", MISSING)
def test_no_answer_is_missing(text: str | None) -> None:
    """Section 4: nothing, or nothing but thoughts, even cut-off ones that hold a draft."""
    with pytest.raises(InvalidReplyError) as caught:
        parse_object(text)
    assert caught.value.missing


@pytest.mark.parametrize("name", REFUSED)
def test_everything_else_is_refused(name: str) -> None:
    """Section 4: truncated, ambiguous or non-standard JSON is refused, in one short line, and never repaired."""
    with pytest.raises(InvalidReplyError) as caught:
        parse_object(REFUSED[name])
    assert not caught.value.missing
    assert 0 < len(str(caught.value)) < 400


def test_a_huge_reply_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply beyond the limit is refused before anything looks into it."""
    monkeypatch.setattr(parsing, "MAX_REPLY_CHARS", 10)
    with pytest.raises(InvalidReplyError, match="more than 10"):
        parse_object('{"a": "123456789"}')


def test_nesting_up_to_the_limit_is_read() -> None:
    """The depth limit is a number, not a matter of how deep the caller stands."""
    assert parse_object('{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH)


@given(OBJECTS, st.integers(0, 4))
def test_what_was_written_is_what_is_read(document: dict[str, Any], indent: int) -> None:
    """Any object comes back as it is, however it is laid out."""
    assert parse_object(json.dumps(document, indent=indent or None)) == document
    assert parse_object(json.dumps(document, ensure_ascii=False)) == document


@given(PROSE, OBJECTS, PROSE)
def test_prose_around_the_object_changes_nothing(before: str, document: dict[str, Any], after: str) -> None:
    """Prose without brackets is passed over."""
    assert parse_object(f"{before}\n{json.dumps(document)}\n{after}") == document


@given(OBJECTS, st.data())
def test_a_truncated_object_is_never_an_answer(document: dict[str, Any], data: st.DataObject) -> None:
    """Wherever it is cut, no part of it is taken for the whole."""
    text = json.dumps(document)
    cut = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(InvalidReplyError):
        parse_object(text[:cut])


@given(st.lists(VALUES, max_size=3))
def test_an_array_is_never_an_answer(values: list[Any]) -> None:
    """An object within an array is not the root."""
    with pytest.raises(InvalidReplyError):
        parse_object(json.dumps(values))


@given(st.one_of(st.text(), st.text(alphabet='{}[]":,0 a\\\n<think/>')))
def test_no_text_raises_anything_else(text: str) -> None:
    """Whatever an agent says, there is an object or a reason."""
    try:
        read: object = parse_object(text)
    except InvalidReplyError as error:
        read = {"reason": str(error)}
    assert isinstance(read, dict)


def test_unknown_extra_fields_are_ignored_and_faults_are_named() -> None:
    """Section 4: extra fields are passed over; what does not fit is named with its place."""
    read = parse_model(
        '{"verdict": "PASS", "mood": "good", "facts_checked": [{"verification": "no_evidence", "x": 1}]}',
        VerifierResult,
    )
    assert read.verdict == "PASS"
    with pytest.raises(InvalidReplyError, match=r"facts_checked\.0\.verification"):
        parse_model('{"verdict": "PASS", "facts_checked": [{"verification": "maybe"}]}', VerifierResult)


@pytest.mark.parametrize("verdict", ['"pass"', '"GOOD"', "null", "1", "[]", '["PASS"]', "true"])
def test_a_verdict_is_one_of_three_words(verdict: str) -> None:
    """Nothing is repaired: another spelling or type is INVALID_OUTPUT."""
    with pytest.raises(InvalidReplyError, match="verdict"):
        parse_model(f'{{"verdict": {verdict}}}', VerifierResult)


@pytest.mark.parametrize("text", ["{} {}", '{"a": 1} x', "", "nul", "[1, 2", "\x00"])
def test_a_whole_text_is_one_value(text: str) -> None:
    """A file holds one JSON value and nothing else."""
    with pytest.raises(InvalidReplyError):
        strict_loads(text)
