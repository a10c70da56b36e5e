"""What a citation shows."""

from __future__ import annotations

import pytest
from gate_samples import citing
from hypothesis import given
from hypothesis import strategies as st

from diag_graph.gate.check import check_document
from diag_graph.gate.normalise import normalise


def shown(excerpt: str, value: object) -> str:
    """The matched text of a citation that passes."""
    text = check_document(*citing(excerpt, value)).checked_bindings[0].matched_text
    assert text is not None
    return text


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\u2028", "\x85"])
def test_the_line_around_the_match(line_break: str) -> None:
    """Section 5: the line, as recorded; its neighbours stay out."""
    value = line_break.join(["first line", "the  pod “api” was killed", "third line"])
    assert shown('"api" was', value) == "the  pod “api” was killed"
    assert shown("first", value) == "first line"
    assert shown("third line", value) == "third line"


def test_the_lines_around_a_match_over_several() -> None:
    """A match over a line break shows both lines whole."""
    assert (
        shown("killed by kernel", "x\nthe pod was killed\n by kernel: OOM\ny") == "the pod was killed\n by kernel: OOM"
    )


def test_the_value_when_it_has_no_lines() -> None:
    """Section 5: of a number or an object, the value."""
    assert shown("2.31", 2.31) == "2.31"
    assert shown('"a":1', {"a": 1, "b": "x\ny"}) == '{"a":1,"b":"x\\ny"}'


def test_it_is_cut_from_the_record_never_from_the_agents_words() -> None:
    """Section 5: the agent's quotes and spaces leave no trace."""
    assert shown("it's - “down”", 'it’s\u00a0— "down" since 06:05') == 'it’s\u00a0— "down" since 06:05'


def test_a_long_line_is_cut_between_words_around_the_match() -> None:
    """Section 5: at most 500 characters, the match within, and no number cut in two."""
    line = " ".join(f"word{number}" for number in range(300))
    text = shown("word150 word151", line)
    assert len(text) <= 500
    assert len(text) > 450
    assert set(text.split()) <= set(line.split())
    start = text.index("word150 word151")
    assert abs(start - (len(text) - start - 15)) < 30


def test_room_that_one_side_does_not_need_goes_to_the_other() -> None:
    """A match at the line's beginning or end still shows 500 characters."""
    line = " ".join(f"word{number}" for number in range(300))
    assert shown("word0 word1", line).startswith("word0 ")
    assert len(shown("word0 word1", line)) > 480
    assert shown("word298 word299", line).endswith(" word299")
    assert len(shown("word298 word299", line)) > 480


def test_a_long_line_without_spaces() -> None:
    """Chinese text is cut anywhere; a match in one endless word is shown alone."""
    assert shown("超时错误", "字" * 900 + "超时错误" + "符" * 900).count("字") > 200
    assert shown("-needle-", "x" * 900 + "-needle-" + "y" * 900) == "-needle-"
    assert shown("/1.25/", "7" * 900 + "/1.25/" + "8" * 900) == "/1.25/"


def test_a_match_longer_than_a_citation_shows_its_beginning() -> None:
    """500 characters are the limit, also when the excerpt is longer."""
    line = " ".join(f"word{number}" for number in range(300))
    text = shown(line[: line.index(" word150")], line)
    assert len(text) <= 500
    assert line.startswith(text + " ")


WORDS = st.sampled_from(["pod", "12.5", "ms", "延迟", "a" * 120, "é", "e\u0301", "—", "1,200", "\u200b", "b" * 600])


@given(
    st.lists(st.tuples(WORDS, st.sampled_from([" ", "  ", "\n", "\u00a0", "\t"])), min_size=1, max_size=60), st.data()
)
def test_the_match_is_always_within(pairs: list[tuple[str, str]], data: st.DataObject) -> None:
    """Section 5: whatever the text around it, a match of up to 500 characters is shown whole, and as recorded."""
    value = "".join(word + gap for word, gap in pairs)
    first, last = sorted(data.draw(st.tuples(st.integers(0, len(pairs) - 1), st.integers(0, len(pairs) - 1))))
    excerpt = "".join(word + gap for word, gap in pairs[first : last + 1]).rstrip()
    audit = check_document(*citing(excerpt, value))
    text = audit.checked_bindings[0].matched_text if audit.checked_bindings else None
    if text is not None:
        assert len(text) <= 500
        assert text in value
        assert len(excerpt) > 500 or normalise(excerpt) in normalise(text)
