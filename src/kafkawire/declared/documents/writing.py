"""Writes a state as a document that `read_documents` reads back to the same state."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Final, TypeAlias

from kafkawire.declared.documents.acls import CLUSTER, RESOURCES
from kafkawire.declared.documents.config_values import BROKERS, CLIENT_METRICS, DEFAULT, GROUPS
from kafkawire.declared.documents.quotas import DEFAULT as DEFAULT_ENTITY, ENTITIES, QUOTAS
from kafkawire.declared.documents.users import MECHANISMS
from kafkawire.declared.state import ClusterState, CredentialState, TopicState
from kafkawire.declared.wording import item_in_words
from kafkawire.model.acls.bindings import (
    WILDCARD,
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.configs.resources import ConfigResource, ConfigResourceType
from kafkawire.model.configs.sensitive import is_sensitive
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import UserMechanism

SCHEMA_URL: Final = "https://raw.githubusercontent.com/OWNER/kafkawire/main/docs/reference/documents.schema.json"

_PLAIN: Final = re.compile(r"[A-Za-z_/][A-Za-z0-9_./@+-]*(?::[A-Za-z0-9_./@+=,*-]+)*")
_RESERVED: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
"""Words that some reader of YAML takes for something other than text; the case of letters does not count."""

_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?", re.ASCII)
_LARGEST_DIGITS: Final = 1e16
_UNPRINTABLE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_LONGEST_KEY: Final = 200
"""YAML bounds keys without a question mark to 1024 bytes."""

_Pattern: TypeAlias = tuple[ResourceType, PatternType, str]
_Subject: TypeAlias = tuple[str, AclPermissionType, str, _Pattern]
"""Principal, permission, host and resources."""

_Rights: TypeAlias = tuple[str, bool, str, tuple[AclOperation, ...]]
"""Principal, whether it is allowed, host and operations."""

_SECTIONS: Final = (
    (BROKERS, ConfigResourceType.BROKER),
    (GROUPS, ConfigResourceType.GROUP),
    (CLIENT_METRICS, ConfigResourceType.CLIENT_METRICS),
)
_KEYS_OF_RESOURCES: Final = {resource_type: key for key, resource_type in RESOURCES.items()}
_KEYS_OF_ENTITIES: Final = {type_: key for key, type_ in ENTITIES.items()}
_NAMES_OF_MECHANISMS: Final = {mechanism: name for name, mechanism in MECHANISMS.items()}


def write_documents(state: ClusterState, *, with_assignments: bool = False, heading: Iterable[str] = ()) -> str:
    """A state as one document, the same text for the same state.

    Internal topics are left out. Comments are in place of what a document cannot have: passwords, sensitive values,
    and ACLs of newer brokers.

    Args:
        state: of a cluster, a log or documents.
        with_assignments: whether the brokers of each partition are written.
        heading: lines of a comment at the top.

    Example:
        ```python
        from kafkawire.declared import read_cluster, write_documents

        cluster = await read_cluster(admin)
        print(write_documents(cluster.state))
        ```
    """
    lines = [f"# yaml-language-server: $schema={SCHEMA_URL}"]
    lines += [f"# {_comment(line)}".rstrip() for line in heading]
    for section in (
        _topics(state.topics, with_assignments=with_assignments),
        _configs(state.configs),
        _acls(state.acls),
        _quotas(state.quotas),
        _users(state.credentials),
    ):
        written = list(section)
        if written:
            lines += ["", *written]
    return "\n".join(lines) + "\n"


def _topics(topics: Mapping[str, TopicState], *, with_assignments: bool) -> Iterator[str]:
    declared = sorted((name, topic) for name, topic in topics.items() if not topic.is_internal)
    if declared:
        yield "topics:"
    for name, topic in declared:
        inner = list(_topic(name, topic, with_assignments=with_assignments))
        has_values = any(not line.lstrip().startswith("#") for line in inner)
        yield _key(name, 2) + ("" if has_values else " {}")
        yield from inner


def _topic(name: str, topic: TopicState, *, with_assignments: bool) -> Iterator[str]:
    if topic.partitions is not None:
        yield f"    partitions: {topic.partitions}"
    if topic.replication_factor is not None:
        yield f"    replication_factor: {topic.replication_factor}"
    if with_assignments and topic.assignments:
        yield "    assignments:"
        for partition, brokers in sorted(topic.assignments.items()):
            yield f"      {partition}: [{', '.join(map(str, brokers))}]"
    yield from _values("configs", ConfigResource.topic(name), topic.configs, 4)


def _values(key: str | None, resource: ConfigResource, values: Mapping[str, str | None], indent: int) -> Iterator[str]:
    """The values of a resource below a key, or without a key at the same indent."""
    lines = []
    inner = indent if key is None else indent + 2
    has_values = False
    for name, value in sorted(values.items()):
        if value is not None:
            lines.append(f"{_key(name, inner)} {_value(value)}")
            has_values = True
        elif is_sensitive(resource.resource_type, name):
            lines.append(f"{' ' * inner}# {_comment(name)}: brokers do not return sensitive values")
        else:
            lines.append(f"{_key(name, inner)} null")
            has_values = True
    if key is not None and lines:
        yield f"{' ' * indent}{key}:" if has_values else f"{' ' * indent}# {key}:"
    yield from lines


def _configs(configs: Mapping[ConfigResource, Mapping[str, str | None]]) -> Iterator[str]:
    for number, (section, resource_type) in enumerate(_SECTIONS):
        of_type = sorted(each for each in configs if each.resource_type is resource_type)
        if of_type and not any(each.resource_type is earlier for _, earlier in _SECTIONS[:number] for each in configs):
            yield "configs:"
        if of_type:
            yield f"  {section}:"
        for resource in of_type:
            inner = list(_values(None, resource, configs[resource], 6))
            name = DEFAULT if resource == ConfigResource.broker_default() else resource.name
            has_values = any(not line.lstrip().startswith("#") for line in inner)
            yield _key(name, 4) + ("" if has_values else " {}")
            yield from inner


def _acls(acls: Iterable[AclBinding]) -> Iterator[str]:
    """Entries by principal; an entry has all resources on which the same operations are allowed or denied."""
    known: list[AclBinding] = []
    unknown: list[AclBinding] = []
    for acl in acls:
        (unknown if acl.is_unknown else known).append(acl)
    operations: dict[_Subject, set[AclOperation]] = defaultdict(set)
    for acl in known:
        pattern = acl.resource_type, acl.pattern_type, acl.resource_name
        operations[acl.principal, acl.permission_type, acl.host, pattern].add(acl.operation)
    entries: dict[_Rights, list[_Pattern]] = defaultdict(list)
    for (principal, permission, host, pattern), of_pattern in operations.items():
        key = principal, permission is AclPermissionType.ALLOW, host, tuple(sorted(of_pattern))
        entries[key].append(pattern)
    if known or unknown:
        yield "acls:" if known else "acls: []"
    for (principal, is_allowed, host, of_entry), patterns in sorted(entries.items()):
        yield f"  - principal: {_text(principal)}"
        if not is_allowed:
            yield "    permission: DENY"
        names = [operation.name for operation in of_entry]
        yield f"    operation: {names[0] if len(names) == 1 else '[' + ', '.join(names) + ']'}"
        yield from _patterns(sorted(patterns))
        if host != WILDCARD:
            yield f"    host: {_text(host)}"
    for acl in sorted(unknown):
        yield f"  # {_comment(item_in_words(acl))}: a newer broker has this ACL, which cannot be declared"


def _patterns(patterns: Iterable[_Pattern]) -> Iterator[str]:
    by_type: dict[ResourceType, list[tuple[PatternType, str]]] = defaultdict(list)
    for resource_type, pattern_type, name in patterns:
        by_type[resource_type].append((pattern_type, name))
    for resource_type, of_type in by_type.items():
        if resource_type is ResourceType.CLUSTER:
            yield f"    {CLUSTER}: true"
            continue
        texts = [_pattern(pattern_type, name) for pattern_type, name in of_type]
        key = _KEYS_OF_RESOURCES[resource_type]
        if len(texts) == 1:
            yield f"    {key}: {texts[0]}"
        else:
            yield f"    {key}:"
            yield from (f"      - {text}" for text in texts)


def _pattern(pattern_type: PatternType, name: str) -> str:
    if pattern_type is PatternType.PREFIXED:
        return f"{{prefix: {_text(name)}}}"
    if len(name) > 1 and name.endswith(WILDCARD):
        return f"{{name: {_text(name)}}}"
    return _text(name)


def _quotas(quotas: Mapping[ClientQuotaEntity, Mapping[str, float | None]]) -> Iterator[str]:
    known = {entity for entity in quotas if quotas[entity] and set(entity) <= set(_KEYS_OF_ENTITIES)}
    ordered = sorted(known, key=_order_of_entity)
    if ordered:
        yield "quotas:"
    for entity in quotas:
        if not set(entity) <= set(_KEYS_OF_ENTITIES):
            yield f"  # {_comment(item_in_words(entity))}: a newer broker has this quota, which cannot be declared"
    for entity in ordered:
        mark = "-"
        for type_, key in _KEYS_OF_ENTITIES.items():
            if type_ in entity:
                name = entity[type_]
                yield f"  {mark} {key}: {f'{{{DEFAULT_ENTITY}: true}}' if name is None else _text(name)}"
                mark = " "
        for key, value in sorted(quotas[entity].items()):
            comment = "" if key in QUOTAS else "# of a newer broker: "
            yield f"    {comment}{_comment(key)}: {'null' if value is None else _number(value)}"


def _number(value: float) -> str:
    """The shortest text of a number, without the point of a whole one."""
    return str(int(value)) if value.is_integer() and value < _LARGEST_DIGITS else repr(value)


def _order_of_entity(entity: ClientQuotaEntity) -> list[tuple[bool, bool, str]]:
    """Users first; the default before names."""
    return [
        (type_ not in entity, entity.get(type_) is not None, entity.get(type_) or "") for type_ in _KEYS_OF_ENTITIES
    ]


def _users(credentials: Mapping[UserMechanism, CredentialState]) -> Iterator[str]:
    if credentials:
        yield "users:"
        yield "  # Passwords cannot be read back. To set one, write password: {env: NAME} below the mechanism."
    previous = None
    declared = {user for user, mechanism in credentials if mechanism in _NAMES_OF_MECHANISMS}
    for (user, mechanism), credential in sorted(credentials.items(), key=itemgetter(0)):
        if user != previous:
            yield _key(user, 2) if user in declared else f"  # {_comment(user)}:"
            previous = user
        if mechanism not in _NAMES_OF_MECHANISMS:
            yield f"    # {mechanism.name}: a newer broker has this mechanism, which cannot be declared"
            continue
        iterations = "{}" if credential.iterations is None else f"{{iterations: {credential.iterations}}}"
        yield f"    {_NAMES_OF_MECHANISMS[mechanism]}: {iterations}"


def _key(name: str, indent: int) -> str:
    """A key with its colon; a long one has a question mark before it."""
    text = name if _NUMBER.fullmatch(name) else _text(name)
    spaces = " " * indent
    return f"{spaces}{text}:" if len(text) <= _LONGEST_KEY else f"{spaces}? {text}\n{spaces}:"


def _value(text: str) -> str:
    """A value of a config: numbers and booleans without quotes."""
    if text in {"true", "false"} or _NUMBER.fullmatch(text):
        return text
    return _text(text)


def _text(text: str) -> str:
    """A text, with quotes where it needs some."""
    if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _comment(text: str) -> str:
    """A text in a comment: on one line, without control characters."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
