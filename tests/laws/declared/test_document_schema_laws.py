"""The published JSON Schema and the reader agree on keys and kinds of values, for documents of every shape."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

import pytest
from hypothesis import given, settings, strategies as st
from jsonschema import Draft202012Validator
from tests.hypothesis_profiles import scaled

from kafkawire.declared.documents.json_schema import json_schema
from kafkawire.declared.documents.problems import Rule
from kafkawire.declared.documents.reading import read_texts

SCHEMA = Draft202012Validator(json_schema())

_printable = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=4)
_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-5, 20000)
    | st.floats(-10, 10)
    | st.sampled_from(("User:a", "READ", "read", "Read", "*", "producer", "topics", "acls", "2147483648"))
    | _printable
)


def _mostly(strategy: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """What belongs there, and seldom what does not."""
    return st.integers(0, 14).flatmap(lambda number: strategy if number else _anything)


def _tables(properties: Mapping[str, st.SearchStrategy[object]]) -> st.SearchStrategy[object]:
    table = st.fixed_dictionaries({}, optional={key: _mostly(value) for key, value in properties.items()})
    more = st.dictionaries(st.sampled_from(("x-a", "prefix", "partitons")) | _printable, _scalars, max_size=1)
    return st.integers(0, 9).flatmap(
        lambda number: table if number else st.builds(lambda a, b: {**a, **b}, table, more)
    )


def _lists(item: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.lists(_mostly(item), max_size=3)


def _some(item: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return item | _lists(item)


_anything = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_printable, inner, max_size=2),
    max_leaves=4,
)
_names = st.sampled_from(("a", "User:a", 12, "*"))
_secrets = _tables({"env": _names, "file": _names, "command": _lists(_names)})
_configs = st.dictionaries(
    st.sampled_from(("retention.ms", "cleanup.policy", "plugin", "")),
    _scalars | _lists(_scalars) | _secrets,
    max_size=2,
)
_counts = st.sampled_from((1, 3, 3.0, 4096, 0))
_topics = st.dictionaries(
    st.sampled_from(("a", "b", "")),
    st.none()
    | _tables(
        {
            "partitions": _counts,
            "replication_factor": _counts,
            "configs": _configs,
            "assignments": st.dictionaries(st.sampled_from(("0", "1", "x")), _lists(st.integers(0, 5))),
        }
    ),
    max_size=2,
)
_resources = _some(_names | _tables({"prefix": _names}) | _tables({"name": _names}))
_acl_parts = {
    "topic": _resources,
    "group": _resources,
    "cluster": st.booleans(),
    "permission": st.sampled_from(("ALLOW", "deny")),
    "host": _some(st.sampled_from(("*", ""))),
}
_principals = _some(st.just("User:a"))
_acls = _lists(
    _tables({"principal": _principals, "operation": _some(st.sampled_from(("READ", "write"))), **_acl_parts})
    | _tables({"principal": _principals, "role": _some(st.sampled_from(("producer", "admin"))), **_acl_parts})
)
_entities = _some(_names | _tables({"default": st.booleans()}))
_rates = st.sampled_from((1, 2.5, 0, -1, None))
_quotas = _lists(_tables({"user": _entities, "client_id": _entities, "ip": _entities, "producer_byte_rate": _rates}))
_users = st.dictionaries(
    st.sampled_from(("a", "b", "")),
    _tables(
        {
            "SCRAM-SHA-256": st.none() | _tables({"iterations": _counts, "password": _secrets}),
            "SCRAM-SHA-512": _tables({"iterations": _counts, "password": _secrets}),
        }
    ),
    max_size=2,
)
_by_name = st.dictionaries(st.sampled_from(("a", "1", "01", "default", "")), _configs, max_size=2)
_sections = _tables({"brokers": _by_name, "groups": _by_name, "client_metrics": _by_name})
_prune = _tables({"kinds": _some(st.sampled_from(("topics", "acls"))), "topic_prefix": _names, "principal": _names})

documents = _tables(
    {"topics": _topics, "configs": _sections, "acls": _acls, "quotas": _quotas, "users": _users, "prune": _prune}
).filter(lambda document: isinstance(document, dict))


@settings(max_examples=scaled(300))
@given(documents)
def test_reader_and_schema_agree(document: object) -> None:
    declared = read_texts({"a.json": json.dumps(document)})
    rules = {each.rule for each in declared.errors}
    is_valid = SCHEMA.is_valid(document)
    if not rules:
        assert is_valid, next(SCHEMA.iter_errors(document)).message
    if Rule.STRUCTURE in rules:
        assert not is_valid, declared.errors


WHOLE: Final = {
    "topics": {
        "a": {"partitions": 3, "replication_factor": 2, "configs": {"retention.ms": 1, "cleanup.policy": ["compact"]}},
        "b": {"assignments": {"0": [1, 2]}},
        "c": None,
    },
    "configs": {
        "brokers": {"default": {"log.cleaner.threads": 2}, "1": {"ssl.key.password": {"env": "A"}}},
        "groups": {"g": {"consumer.session.timeout.ms": 50000}},
        "client_metrics": {"m": {"interval.ms": 1000}},
    },
    "acls": [
        {"principal": "User:a", "topic": "a", "operation": "READ", "permission": "ALLOW", "host": "*"},
        {"principal": ["User:a", "User:b"], "group": {"prefix": "x"}, "operation": ["READ", "DESCRIBE"]},
        {"principal": "User:a", "cluster": True, "operation": "CREATE"},
        {"principal": "User:a", "topic": ["a", {"name": "b"}], "role": "producer"},
        {"principal": "User:a", "transactional_id": "t", "operation": "WRITE"},
        {"principal": "User:a", "delegation_token": "t", "operation": "DESCRIBE"},
        {"principal": "User:a", "user": "User:b", "operation": "CREATE_TOKENS"},
        {"principal": "User:a", "topic": "in", "group": "g", "role": ["consumer"]},
    ],
    "quotas": [
        {"user": "a", "client_id": {"default": True}, "producer_byte_rate": 1, "consumer_byte_rate": 2},
        {"user": ["b", "c"], "request_percentage": 1, "controller_mutation_rate": None},
        {"ip": "10.0.0.1", "connection_creation_rate": 5},
    ],
    "users": {
        "a": {
            "SCRAM-SHA-256": {"iterations": 4096, "password": {"command": ["pass", "a"]}},
            "SCRAM-SHA-512": {"password": {"file": "a"}},
        },
        "b": {"SCRAM-SHA-512": None},
    },
    "prune": {"kinds": ["topics"], "topic_prefix": "a", "principal": "User:a"},
}
"""A document with every key of the schema."""

OTHERS: Final[tuple[object, ...]] = (
    None, True, False, 0, 1, -1, 2.5, 3.0, 1e30, 2**63, "", "a", "User:a", "READ", "3", "*", [], ["a"], [None], [[]],
    ["a", "a"], {}, {"a": 1}, {"name": "a"}, {"prefix": "a"}, {"prefix": ""}, {"default": True}, {"env": "A"},
)  # fmt: skip


def _changed(value: object) -> Iterator[object]:
    """The value with one change, at each place in turn: another value, a key or item less or more, a key renamed."""
    yield from OTHERS
    match value:
        case dict():
            for key, inner in value.items():
                rest = {name: each for name, each in value.items() if name != key}
                yield rest
                yield {**rest, f"{key}s": inner}
                yield from ({**value, key: each} for each in _changed(inner))
            yield {**value, "nosuch": 1}
        case list():
            for at, inner in enumerate(value):
                yield value[:at] + value[at + 1 :]
                yield from ([*value[:at], each, *value[at + 1 :]] for each in _changed(inner))


def _names_in(schema: object) -> Iterator[str]:
    """The keys of the schema, except the names of Kafka's configs, which are only suggested."""
    if isinstance(schema, dict):
        properties = schema.get("properties")
        yield from properties if isinstance(properties, dict) and not any("." in each for each in properties) else ()
        for each in schema.values():
            yield from _names_in(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _names_in(each)


def _keys_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for each in value.values():
            yield from _keys_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from _keys_in(each)


def test_the_whole_document_has_every_key_of_the_schema_and_is_accepted() -> None:
    assert {*_names_in(json_schema())} <= {*_keys_in(WHOLE)}
    assert not read_texts({"a.json": json.dumps(WHOLE)}).errors
    assert SCHEMA.is_valid(WHOLE)


@pytest.mark.extended
@pytest.mark.usefixtures("no_cover")
def test_reader_and_schema_agree_about_every_single_change_of_a_whole_document() -> None:
    accepted = refused = 0
    for document in _changed(WHOLE):
        if not isinstance(document, dict):
            continue  # an empty document declares nothing; all others are refused
        errors = read_texts({"a.json": json.dumps(document)}).errors
        is_valid = SCHEMA.is_valid(document)
        assert is_valid or errors, document
        assert not is_valid or Rule.STRUCTURE not in {each.rule for each in errors}, (document, errors)
        accepted += not errors
        refused += bool(errors)
    assert accepted > 300
    assert refused > 2000
