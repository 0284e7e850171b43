"""The JSON Schema of documents, for editors. It follows from the tables that the reader uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from kafkawire.declared.documents.acls import CLUSTER, NAME_KEYS, OPERATIONS, PERMISSIONS, RESOURCES, ROLES
from kafkawire.declared.documents.config_values import BROKER_PATTERN, BROKERS, CLIENT_METRICS, DEFAULT, GROUPS
from kafkawire.declared.documents.fields import IGNORED_PREFIX
from kafkawire.declared.documents.prune import KINDS
from kafkawire.declared.documents.quotas import DEFAULT as DEFAULT_ENTITY, ENTITIES, QUOTAS
from kafkawire.declared.documents.topics import HIGHEST_BROKER, MOST_PARTITIONS, MOST_REPLICAS, PARTITION_PATTERN
from kafkawire.declared.documents.users import MECHANISMS
from kafkawire.model.configs.definitions import ConfigDefinition, definitions
from kafkawire.model.scram import MAXIMUM_ITERATIONS, MINIMUM_ITERATIONS

Schema: TypeAlias = dict[str, object]

_IGNORED: Final[Schema] = {f"^{IGNORED_PREFIX}": True}


def json_schema() -> Schema:
    """The schema, draft 2020-12.

    It is as strict as the reader is about keys and kinds of values (the rule ``structure``), and leaves to the reader
    what depends on several values or on brokers.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The declared state of an Apache Kafka cluster, as kafkawire reads it",
        "$defs": _definitions(),
        **_table(
            "A document; several may declare parts of one state.",
            {
                "topics": _named("Topics by name.", {"$ref": "#/$defs/topic"}),
                "configs": _configs(),
                "acls": _list("Entries that expand to ACLs: every principal, host, operation and resource.", "acl"),
                "quotas": _list("Quotas of users, client ids and addresses.", "quota"),
                "users": _users(),
                "prune": _prune(),
            },
        ),
    }


def _definitions() -> Schema:
    name: Schema = {"type": ["string", "number"], "minLength": 1}
    return {
        "name": name,
        "names": _one_or_many({"$ref": "#/$defs/name"}, "A name, or a list of names."),
        "value": {
            "description": "The value of a config; null: it is not to be set; a list is joined with commas.",
            "anyOf": [
                {"type": ["string", "number", "boolean", "null"]},
                {"type": "array", "items": {"type": ["string", "number", "boolean"]}},
                {"$ref": "#/$defs/secret"},
            ],
        },
        "secret": {
            **_only(
                "Where a secret is, never the secret itself: exactly one of these.",
                {
                    "env": {**name, "description": "The name of an environment variable."},
                    "file": {**name, "description": "The path of a file, from the folder of the document."},
                    "command": {
                        "type": "array",
                        "items": {"type": ["string", "number"]},
                        "minItems": 1,
                        "description": "A program and its arguments, which prints the secret. No shell runs it.",
                    },
                },
            )
        },
        "resource": {
            "description": "A name, * for all names, or a prefix of names.",
            "anyOf": [
                {"$ref": "#/$defs/name"},
                _only(
                    "The names that begin so, or one very name.", {key: {"$ref": "#/$defs/name"} for key in NAME_KEYS}
                ),
            ],
        },
        "entity": {
            "description": "A name, or {default: true} for what holds where no name has a quota.",
            "anyOf": [
                {"$ref": "#/$defs/name"},
                _only("The default.", {DEFAULT_ENTITY: {"const": True}}),
            ],
        },
        "topic": {
            **_table(
                "A topic. What is left out is not compared; a new topic gets the brokers' default of it.",
                {
                    "partitions": _whole("How many.", 1, MOST_PARTITIONS),
                    "replication_factor": _whole("Replicas of each partition.", 1, MOST_REPLICAS),
                    "configs": _values("Configs of the topic; others stay as they are.", definitions().topic),
                    "assignments": _assignments(),
                },
            ),
            "type": ["object", "null"],
        },
        "acl": _acl(),
        "quota": _quota(),
        "credential": {
            **_table(
                "A SCRAM credential.",
                {
                    "iterations": _whole("How often it is hashed.", MINIMUM_ITERATIONS, MAXIMUM_ITERATIONS),
                    "password": {"$ref": "#/$defs/secret"},
                },
            ),
            "type": ["object", "null"],
        },
    }


def _assignments() -> Schema:
    brokers = {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": HIGHEST_BROKER}, "minItems": 1}
    return {
        "description": "The brokers of each partition, the preferred leader first.",
        "type": ["object", "null"],
        "patternProperties": {PARTITION_PATTERN: brokers},
        "additionalProperties": False,
    }


def _configs() -> Schema:
    known = definitions()
    sections = {
        BROKERS: {
            "description": f"Configs by id of the broker; {DEFAULT}: of all brokers.",
            "type": ["object", "null"],
            "patternProperties": {BROKER_PATTERN: _values("Configs of a broker.", _dynamic(known.broker))},
            "additionalProperties": False,
        },
        GROUPS: _named("Configs by group.", _values("Configs of a group.", known.group)),
        CLIENT_METRICS: _named(
            "Subscriptions to metrics by name.", _values("Configs of a subscription.", known.client_metrics)
        ),
    }
    return {**_table("Configs of brokers, groups and subscriptions.", sections), "type": ["object", "null"]}


def _dynamic(known: Mapping[str, ConfigDefinition]) -> Mapping[str, ConfigDefinition]:
    return {name: definition for name, definition in known.items() if name in definitions().update_modes}


def _acl() -> Schema:
    resources: Schema = {
        key: _one_or_many({"$ref": "#/$defs/resource"}, f"The {key.replace('_', ' ')}s.") for key in RESOURCES
    }
    return {
        **_table(
            "ACLs: the product of all its parts.",
            {
                "principal": {"$ref": "#/$defs/names", "description": "User:alice; User:* for every user."},
                "operation": _one_or_many(_words(OPERATIONS), "The operations; not with role."),
                "role": _one_or_many(_words(ROLES), "The operations that such clients need; not with operation."),
                **resources,
                CLUSTER: {"const": True, "description": "The cluster itself."},
                "permission": {**_words(PERMISSIONS), "description": "ALLOW if it is left out."},
                "host": _one_or_many({"type": ["string", "number"]}, "Addresses of clients; * if it is left out."),
            },
        ),
        "required": ["principal"],
        "oneOf": [{"required": ["operation"]}, {"required": ["role"]}],
    }


def _quota() -> Schema:
    entities: Schema = {
        key: _one_or_many({"$ref": "#/$defs/entity"}, f"Whom the quota is for: {type_}.")
        for key, type_ in ENTITIES.items()
    }
    values: Schema = {key: {"type": ["number", "null"], "exclusiveMinimum": 0} for key in QUOTAS}
    return {
        **_table("The quotas of an entity.", entities | values),
        "allOf": [{"anyOf": [{"required": [key]} for key in keys]} for keys in (ENTITIES, QUOTAS)],
    }


def _users() -> Schema:
    mechanisms: Schema = {name: {"$ref": "#/$defs/credential"} for name in MECHANISMS}
    user = {**_table("Credentials by mechanism.", mechanisms), "minProperties": 1}
    return _named("SCRAM credentials by user, without User:.", user)


def _prune() -> Schema:
    table = _table(
        "What apply --prune may delete if no document declares it.",
        {
            "kinds": _one_or_many(_words(KINDS), "The kinds of items."),
            "topic_prefix": {"$ref": "#/$defs/names", "description": "Topics whose names begin so; * for all."},
            "principal": {"$ref": "#/$defs/names", "description": "Whose ACLs, quotas, credentials; * for all."},
        },
    )
    return {**table, "type": ["object", "null"], "required": ["kinds"]}


def _table(description: str, properties: Mapping[str, object]) -> Schema:
    table: Schema = {
        "type": "object",
        "properties": dict(properties),
        "patternProperties": _IGNORED,
        "additionalProperties": False,
    }
    return {"description": description, **table}


def _only(description: str, properties: Mapping[str, object]) -> Schema:
    """A table with exactly one of these keys."""
    return {
        "description": description,
        "type": "object",
        "properties": dict(properties),
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }


def _named(description: str, value: Schema) -> Schema:
    return {
        "description": description,
        "type": ["object", "null"],
        "propertyNames": {"minLength": 1},
        "additionalProperties": value,
    }


def _values(description: str, known: Mapping[str, ConfigDefinition]) -> Schema:
    names = {
        name: {"$ref": "#/$defs/value", "description": _described(definition)}
        for name, definition in sorted(known.items())
        if not definition.is_internal
    }
    return {**_named(description, {"$ref": "#/$defs/value"}), "properties": names}


def _described(definition: ConfigDefinition) -> str:
    default = "" if definition.default is None else f"; default {definition.default or 'empty'}"
    return f"{definition.kind}{default}"


def _list(description: str, item: str) -> Schema:
    return {"description": description, "type": ["array", "null"], "items": {"$ref": f"#/$defs/{item}"}}


def _one_or_many(item: Schema, description: str) -> Schema:
    return {"description": description, "anyOf": [item, {"type": "array", "items": item, "minItems": 1}]}


def _whole(description: str, lowest: int, highest: int) -> Schema:
    return {"description": description, "type": "integer", "minimum": lowest, "maximum": highest}


def _words(words: Iterable[str]) -> Schema:
    """Words in capitals or in small letters."""
    return {"enum": sorted({form for word in words for form in (word, word.lower())})}
