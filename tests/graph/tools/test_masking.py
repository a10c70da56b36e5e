"""Masking (X3): every kind of secret goes, nothing else does, and a masked text can be cited."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diag_graph.gate.borders import find_excerpt
from diag_graph.tools.masking import MASK, mask, mask_text

WEB_TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJqYW5lIn0.c2lnbmF0dXJl"  # noqa: S105 - a made-up one
PRIVATE_KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----"

SECRETS: list[tuple[str, str]] = [
    ("password=hunter2", "password=[masked]"),
    ("password: hunter2, retrying", "password: [masked], retrying"),
    ("password=123456", "password=[masked]"),
    ("PGPASSWORD=hunter2 psql", "PGPASSWORD=[masked] psql"),
    ("DB_PASSWORD = 'hunter 2'", "DB_PASSWORD = '[masked]'"),
    ('{"password": "hun\\"ter2", "user": "jane"}', '{"password": "[masked]", "user": "jane"}'),
    (r"{\"password\": \"hunter2\", \"user\": \"jane\"}", r"{\"password\": \"[masked]\", \"user\": \"jane\"}"),
    ('cut off: password="hunter2 and', 'cut off: password="[masked]"'),
    ("DB_PASS=hunter2", "DB_PASS=[masked]"),
    ("pwd=hunter2;", "pwd=[masked];"),
    ("mysql --password hunter2 --host db", "mysql --password [masked] --host db"),
    ("api_key=abc", "api_key=[masked]"),
    ("X-Api-Key: abc", "X-Api-Key: [masked]"),
    ("client-secret: abc", "client-secret: [masked]"),
    ("aws_secret_access_key = wJalr/XU+n", "aws_secret_access_key = [masked]"),
    ("AccountKey=abc==;EndpointSuffix=x", "AccountKey=[masked];EndpointSuffix=x"),
    ("GET /x?access_token=abc&page=2", "GET /x?access_token=[masked]&page=2"),
    ("token=a1b2c3", "token=[masked]"),
    ("token=1234567", "token=[masked]"),
    ("token=512-abc", "token=[masked]"),
    ("Authorization: Bearer abc.def status=401", "Authorization: Bearer [masked] status=401"),
    ("authorization=Basic amFuZTpw", "authorization=Basic [masked]"),
    ('"Proxy-Authorization": "Basic amFuZTpw"', '"Proxy-Authorization": "Basic [masked]"'),
    ("Authorization: 0a1b2c3d", "Authorization: [masked]"),
    ('Authorization: Digest username="j", response="x"', "Authorization: Digest [masked]"),
    ("got Bearer abcdefghij0123456789", "got Bearer [masked]"),
    ("Cookie: sid=abc; theme=dark", "Cookie: [masked]"),
    ("set-cookie: sid=abc; Path=/", "set-cookie: [masked]"),
    ("postgres://shop:hunter2@db:5432/shop", "postgres://shop:[masked]@db:5432/shop"),
    ("redis://:hunter2@cache:6379/0", "redis://:[masked]@cache:6379/0"),
    ("amqp://shop:hun@ter2@mq/", "amqp://shop:[masked]@mq/"),
    (f"Bearer {WEB_TOKEN}", "Bearer [masked]"),
    (f"jwt {WEB_TOKEN} refused", "jwt [masked] refused"),
    (f"some-long-prefix.{WEB_TOKEN}", "some-long-prefix.[masked]"),
    (f"key:\n{PRIVATE_KEY}\nend", "key:\n[masked]\nend"),
    (PRIVATE_KEY[:40], "[masked]"),
    ("AKIAIOSFODNN7EXAMPLE", "[masked]"),
    ("ghp_" + "a1B2" * 9, "[masked]"),
    ("github_pat_" + "a1_B2" * 9, "[masked]"),
    ("glpat-" + "a1B2" * 5, "[masked]"),
    ("xoxb-1234567890-abcdef", "[masked]"),
    ("sk-" + "a1B2" * 12, "[masked]"),
    ("sk-ant-api03-" + "a1B2" * 12, "[masked]"),
    ("sk_live_" + "a1B2" * 6, "[masked]"),
    ("hf_" + "aBcD" * 9, "[masked]"),
    ("AIza" + "a1B2" * 9, "[masked]"),
    ("https://hooks.slack.com/services/T000/B000/abcdef", "https://hooks.slack.com/services/[masked]"),
    ("- name: DB_PASSWORD\n  value: hunter2\n- name: X", "- name: DB_PASSWORD\n  value: [masked]\n- name: X"),
]

INNOCENT = [
    "tokens=512",
    "token=512 of 4096",
    "prompt_tokens: 1234567",
    "secrets: 3 loaded",
    "password=null",
    "token: none.",
    "password authentication failed for user shop",
    "wrong password for jane",
    "the flag --token is required",
    "authorization: denied for jane",
    "the cookie is missing",
    "the name of the secret",
    "request_id=7f3a9c1e2d trace=4bf92f3577b34da6a3ce929d0e0e4736",
    "http://checkout:8080/cart?page=2",
    "http://checkout:8080/mail?to=jane@shop",
    "postgres://shop@db:5432/shop",
    "docker-pullable://nginx:1.25@sha256:0a1b2c",
    "pod sk-checkout-7f9c6d5b8-x2v4q restarted",
    "hf_checkout_service_error_total rose to 12",
    "npm_config_registry_url_something_long is set",
    "the key of the map is user_id=12",
    "bearer of bad news",
    "eyJust a word.com",
    "basic authentication",
    "/var/lib/com.example.eyJ.package.Thing",
]

FRAGMENTS = [text for pair in SECRETS for text in pair] + INNOCENT
TEXTS = st.lists(
    st.one_of(
        st.sampled_from(FRAGMENTS),
        st.sampled_from(
            [*" .,;:=-@/\"'\\\n{}[]", "token", "password", "Authorization: ", "Bearer ", "eyJ", MASK, "name: "]
        ),
        st.text(max_size=6),
    ),
    max_size=6,
).map("".join)


@pytest.mark.parametrize(("text", "masked"), SECRETS, ids=[masked[:40] for _, masked in SECRETS])
def test_each_kind_of_secret_is_masked(text: str, masked: str) -> None:
    """X3: the secret goes, and what stands around it stays, so that the line can still be read."""
    assert mask_text(text) == masked


@pytest.mark.parametrize("text", INNOCENT)
def test_what_is_no_secret_stays(text: str) -> None:
    """Counts, ids, prose and addresses without credentials are evidence, and stay as they are."""
    assert mask_text(text) == text


@given(TEXTS)
def test_masking_twice_changes_nothing(text: str) -> None:
    """X3: the mask is stable."""
    once = mask_text(text)
    assert mask_text(once) == once


@given(TEXTS, st.data())
def test_a_part_of_a_masked_text_is_left_as_it_is(text: str, data: st.DataObject) -> None:
    """X3: what an agent quotes of a masked result still matches, after its own text has been masked too."""
    recorded = mask_text(text)
    begin = data.draw(st.integers(0, len(recorded)))
    excerpt = recorded[begin : data.draw(st.integers(begin, len(recorded)))]
    if excerpt and find_excerpt(recorded, excerpt) is not None:
        assert mask_text(excerpt) == excerpt


def test_a_value_is_masked_behind_a_key_that_names_a_secret() -> None:
    """X3: in a JSON value the key says what its value is, also for a list, and for a name and value apart."""
    value = {
        "password": "x",
        "db_password": "123456",
        "secrets": ["a", "b"],
        "token": "a1b2c3",
        "Authorization": "Bearer a",
        "env": [{"name": "DB_PASSWORD", "value": "x"}, {"name": "ZONE", "value": "eu"}],
        "deep": {"er": [{"api_key": "k"}]},
    }
    assert mask(value) == {
        "password": MASK,
        "db_password": MASK,
        "secrets": [MASK, MASK],
        "token": MASK,
        "Authorization": MASK,
        "env": [{"name": "DB_PASSWORD", "value": MASK}, {"name": "ZONE", "value": "eu"}],
        "deep": {"er": [{"api_key": MASK}]},
    }


@pytest.mark.parametrize(
    "value",
    [
        {"tokens": "512", "token": "512", "prompt_tokens": 1234567, "password": None, "secret": True, "key": "a"},
        {"credentials": {"user": "jane"}, "password_attempts": "12345"},
        [1, 2.5, None, True, "text", {"a": []}],
        "text",
        12,
        None,
    ],
    ids=repr,
)
def test_a_value_without_secrets_stays(value: object) -> None:
    """Numbers, null and ordinary keys stay, and so does the shape."""
    assert mask(value) == value


def test_masking_leaves_its_argument_alone() -> None:
    """The value that was handed in still holds what it held."""
    value = {"a": [{"password": "x"}]}
    mask(value)
    assert value == {"a": [{"password": "x"}]}


@given(TEXTS, TEXTS)
def test_masking_a_value_twice_changes_nothing(key: str, text: str) -> None:
    """X3: the mask is stable for values too, and what is masked is still JSON of the same shape."""
    once = mask({key: [text, {"name": key, "value": text}]})
    assert mask(once) == once
    assert json.loads(json.dumps(once)) == once


def test_a_value_nested_deeper_than_calls_may_be_is_masked() -> None:
    """No depth of nesting ends the run."""
    value: object = "password=x"
    for _ in range(50_000):
        value = [value]
    masked = mask(value)
    for _ in range(50_000):
        masked = masked[0]
    assert masked == "password=[masked]"


@pytest.mark.parametrize(
    "unit",
    [
        "-",
        " ",
        "a-",
        "a1+",
        "//",
        "a://b:",
        "eyJ-",
        "eyJa.",
        "SG.",
        "sk-",
        "xoxb-",
        "bearer ",
        "basic a",
        "Authorization: ",
        "cookie: ",
        "-----BEGIN PRIVATE KEY-----",
        'password="',
        r"password\"",
        "password=[masked]",
        "--token ",
        "name: password value ",
    ],
)
def test_hostile_text_costs_no_more_than_a_scan(unit: str) -> None:
    """A long row of what rules look for is read like any other; a rule that looks back and forth would not end."""
    mask_text(f"password --token name cookie {unit * (300_000 // len(unit))}")
