"""JSON Pointer resolution."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diag_graph.gate.pointer import Found, resolve

RFC_6901 = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("", RFC_6901),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/", 0),
        ("/a~1b", 1),
        ("/c%d", 2),
        ("/e^f", 3),
        ("/g|h", 4),
        ("/i\\j", 5),
        ('/k"l', 6),
        ("/ ", 7),
        ("/m~0n", 8),
    ],
)
def test_the_rfcs_own_examples_resolve(pointer: str, value: object) -> None:
    """RFC 6901, section 5."""
    assert resolve(RFC_6901, pointer) == Found(value)


@pytest.mark.parametrize(
    "pointer",
    [
        "foo",
        "xfoo",
        "#/foo",
        "$.foo",
        "/foo/2",
        "/foo/-",
        "/foo/-1",
        "/foo/00",
        "/foo/01",
        "/foo/1.0",
        "/foo/ 1",
        "/foo/+1",
        "/foo/٠",
        "/foo/" + "9" * 5000,
        "/foo/0/x",
        "/foo/",
        "/nothing",
        "/a/b",
        "/m~n",
        "/m~",
        "/m~2n",
        "//",
    ],
)
def test_what_leads_nowhere_is_not_found(pointer: str) -> None:
    """Malformed pointers, `-`, indices that are none and missing members resolve to nothing, without an error."""
    assert resolve(RFC_6901, pointer) is None


def test_escapes_are_read_in_the_order_that_the_rfc_asks_for() -> None:
    """`~01` stands for the key `~1`, not for `/`."""
    assert resolve({"~1": "right", "/": "wrong"}, "/~01") == Found("right")


def test_null_is_found() -> None:
    """A null that stands there differs from nothing there."""
    assert resolve({"a": None}, "/a") == Found(None)
    assert resolve({"a": None}, "/b") is None
    assert resolve(None, "/a") is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("/~a0 ", max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_every_place_of_a_value_has_a_pointer(value: object) -> None:
    """Escaping keys and numbering elements leads to each member, whatever its key."""
    waiting = [("", value)]
    while waiting:
        pointer, here = waiting.pop()
        assert resolve(value, pointer) == Found(here)
        if isinstance(here, dict):
            waiting += [(f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}", sub) for key, sub in here.items()]
        elif isinstance(here, list):
            waiting += [(f"{pointer}/{index}", sub) for index, sub in enumerate(here)]


@given(JSON, st.text("/~01-a#", max_size=8))
def test_no_pointer_raises(value: object, pointer: str) -> None:
    """Whatever an agent writes is found or not found."""
    found = resolve(value, pointer)
    assert found is None or isinstance(found, Found)
