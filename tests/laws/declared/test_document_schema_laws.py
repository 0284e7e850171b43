"""The published JSON Schema and the reader agree on keys and kinds of values, for documents of every shape."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hypothesis import given, settings, strategies as st
from jsonschema import Draft202012Validator

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
    "host": _some(st.just("*")),
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


@settings(max_examples=300)
@given(documents)
def test_reader_and_schema_agree(document: object) -> None:
    declared = read_texts({"a.json": json.dumps(document)})
    rules = {each.rule for each in declared.errors}
    is_valid = SCHEMA.is_valid(document)
    if not rules:
        assert is_valid, next(SCHEMA.iter_errors(document)).message
    if Rule.STRUCTURE in rules:
        assert not is_valid, declared.errors
