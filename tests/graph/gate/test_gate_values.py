"""JSON values as text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diag_graph.gate.values import _compact_pieces, leaf_texts, text_of, well_formed


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is\n", "as it is\n"),
        (2.5, "2.5"),
        (10, "10"),
        (True, "true"),
        (None, "null"),
        (float("nan"), "NaN"),
        ({"b": 1, "a": [1, "é"]}, '{"b":1,"a":[1,"é"]}'),
        ([], "[]"),
        ({"": {}}, '{"":{}}'),
    ],
)
def test_text_at_a_path(value: object, text: str) -> None:
    """Section 5: strings as they are, scalars as their JSON, containers as compact JSON with keys in recorded order."""
    assert text_of(value) == text


def test_leaves_come_in_recorded_order() -> None:
    """Strings, numbers, booleans and nulls, depth first; keys are no leaves."""
    assert list(leaf_texts({"b": ["x", {"c": 1}], "a": None, "e": [], "t": True})) == ["x", "1", "null", "true"]


def nested(depth: int) -> object:
    """A value nested deeper than Python calls may be."""
    value: object = "core"
    for level in range(depth):
        value = [value] if level % 2 else {"k": value}
    return value


def test_depth_is_no_obstacle() -> None:
    """A result that is nested 100,000 deep is walked and written without a RecursionError."""
    value = nested(100_000)
    assert list(leaf_texts(value)) == ["core"]
    text = text_of(value)
    assert text.startswith('[{"k":[{"k":')
    assert '"core"' in text
    assert text.count("{") == text.count("}") == 50_000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_both_ways_of_writing_json_agree(value: object) -> None:
    """How deep a value is nested does not change how it reads."""
    assert "".join(_compact_pieces(value)) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def test_lone_surrogates_become_storable() -> None:
    """What no encoding has room for is replaced; everything else stays."""
    assert well_formed("a\ud800b 😀") == "a\ufffdb 😀"
    well_formed("\udfff\ud800").encode()
