"""``acls``: entries that expand to ACLs, by operations or by roles."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import product
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from kafkawire.declared.documents.fields import Reading
from kafkawire.declared.documents.nodes import Node, Scalar, Sequence, Table, shown
from kafkawire.declared.documents.problems import Rule
from kafkawire.declared.planned import Kind
from kafkawire.model.acls.bindings import (
    CLUSTER_NAME,
    OPERATIONS_OF_RESOURCES,
    WILDCARD,
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.acls.validation import reason_without_effect

RESOURCES: Final[Mapping[str, ResourceType]] = MappingProxyType(
    {
        "topic": ResourceType.TOPIC,
        "group": ResourceType.GROUP,
        "transactional_id": ResourceType.TRANSACTIONAL_ID,
        "delegation_token": ResourceType.DELEGATION_TOKEN,
        "user": ResourceType.USER,
    }
)
"""The keys of resources with names."""

CLUSTER: Final = "cluster"

OPERATIONS: Final[Mapping[str, AclOperation]] = MappingProxyType(
    {each.name: each for each in AclOperation if each.value > AclOperation.ANY.value}
)

PERMISSIONS: Final[Mapping[str, AclPermissionType]] = MappingProxyType(
    {"ALLOW": AclPermissionType.ALLOW, "DENY": AclPermissionType.DENY}
)

ROLES: Final[Mapping[str, Mapping[ResourceType, tuple[AclOperation, ...]]]] = MappingProxyType(
    {
        "producer": {
            ResourceType.TOPIC: (AclOperation.WRITE, AclOperation.DESCRIBE, AclOperation.CREATE),
            ResourceType.TRANSACTIONAL_ID: (AclOperation.WRITE, AclOperation.DESCRIBE),
        },
        "idempotent": {ResourceType.CLUSTER: (AclOperation.IDEMPOTENT_WRITE,)},
        "consumer": {
            ResourceType.TOPIC: (AclOperation.READ, AclOperation.DESCRIBE),
            ResourceType.GROUP: (AclOperation.READ,),
        },
        "admin": dict.fromkeys((*RESOURCES.values(), ResourceType.CLUSTER), (AclOperation.ALL,)),
    }
)
"""The operations of each role on each type of resource: those that ``kafka-acls`` gives, and all for ``admin``."""

KEYS: Final = ("principal", "operation", "role", *RESOURCES, CLUSTER, "permission", "host")
PREFIX: Final = "prefix"
NAME_KEYS: Final = (PREFIX, "name")

MOST_ACLS: Final = 2_000_000
"""ACLs of all documents after expansion."""

Resource: TypeAlias = tuple[ResourceType, str, PatternType, Node]
Operations: TypeAlias = Mapping[ResourceType, Collection[AclOperation]]


class _Entry(NamedTuple):
    """An entry: it means the product of all its parts."""

    principals: list[str]
    resources: list[Resource]
    operations: Operations
    permission: AclPermissionType
    hosts: list[str]


def read_acls(node: Node, reading: Reading) -> None:
    """Read the entries of a document."""
    if isinstance(node, Scalar) and node.is_null:
        return
    if not isinstance(node, Sequence):
        reading.error(node, Rule.STRUCTURE, "acls: expected a list of entries", "begin each entry with - principal:")
        return
    for entry in node.items:
        _read_entry(entry, reading)


def _read_entry(node: Node, reading: Reading) -> None:
    before = reading.errors
    given = reading.known(node, "an entry of acls", KEYS)
    if not isinstance(node, Table):
        return
    principals = _principals(given.get("principal"), node, reading)
    resources = _resources(given, reading)
    permission = AclPermissionType.ALLOW
    if (word := given.get("permission")) is not None:
        permission = PERMISSIONS.get(reading.word(word, "permission", PERMISSIONS) or "", permission)
    hosts = _hosts(given.get("host"), reading)
    operations = _operations(given, node, resources, reading)
    if not resources and reading.errors == before and not _is_implied(given):
        remedy = f"write one of {', '.join((*RESOURCES, CLUSTER))}"
        reading.error(node, Rule.VALUE, "an entry of acls has no resource", remedy)
    if reading.errors > before:
        return
    _expand(node, _Entry(principals, resources, operations, permission, hosts), reading)


def _is_implied(given: Mapping[str, Node]) -> bool:
    """Whether the only role is ``idempotent``, whose resource is the cluster."""
    role = given.get("role")
    return isinstance(role, Scalar) and role.text.lower() == "idempotent"


def _principals(node: Node | None, entry: Node, reading: Reading) -> list[str]:
    if node is None:
        reading.error(entry, Rule.STRUCTURE, "an entry of acls has no principal", "write principal: User:NAME")
        return []
    principals = []
    for each in reading.items(node):
        principal = reading.name(each, "principal")
        if principal is not None and check_principal(each, principal, reading):
            principals.append(principal)
    return principals


def check_principal(node: Node, principal: str, reading: Reading) -> bool:
    """Whether a principal has a type; else a problem is added."""
    kind, colon, _ = principal.partition(":")
    if colon and kind:
        return True
    if colon:
        reading.warning(node, Rule.NO_EFFECT, f"the principal {shown(principal)} has an empty type", "write User:NAME")
        return True
    message = f"the principal {shown(principal)} has no type"
    reading.error(node, Rule.VALUE, message, f"write User:{shown(principal)[1:-1]}")
    return False


def _hosts(node: Node | None, reading: Reading) -> list[str]:
    if node is None:
        return [WILDCARD]
    hosts = []
    for each in reading.items(node):
        host = reading.name(each, "host", may_be_empty=True)
        if host is None:
            continue
        hosts.append(host)
        warn_of_host(each, host, reading)
    return hosts


def warn_of_host(node: Node, host: str, reading: Reading) -> None:
    """Add a warning if a host matches no client."""
    if host == WILDCARD:
        return
    reason = reason_without_effect(AclBinding.of_cluster("User:any", AclOperation.ALL, host=host))
    if reason is not None:
        reading.warning(node, Rule.NO_EFFECT, str(reason.message).rstrip("."), "write an address, or *")


def _resources(given: Mapping[str, Node], reading: Reading) -> list[Resource]:
    resources: list[Resource] = []
    for key, resource_type in RESOURCES.items():
        node = given.get(key)
        if node is not None:
            for each in reading.items(node):
                pattern = _pattern(each, key, reading)
                if pattern is not None:
                    resources.append((resource_type, *pattern, each))
    cluster = given.get(CLUSTER)
    if cluster is not None:
        is_meant = reading.boolean(cluster, CLUSTER)
        if is_meant:
            resources.append((ResourceType.CLUSTER, CLUSTER_NAME, PatternType.LITERAL, cluster))
        elif is_meant is not None:
            reading.error(cluster, Rule.STRUCTURE, "cluster: only true has a meaning", "write true, or remove the key")
    return resources


def _pattern(node: Node, key: str, reading: Reading) -> tuple[str, PatternType] | None:
    """The name of a resource, or a prefix of names."""
    if not isinstance(node, Table):
        name = reading.name(node, key)
        if name is not None and len(name) > 1 and name.endswith(WILDCARD):
            message = f"{key} {shown(name)} is one name: only * by itself means all names"
            remedy = f"write {{prefix: {shown(name[:-1])}}}; for this very name {{name: {shown(name)}}}"
            reading.error(node, Rule.VALUE, message, remedy)
            return None
        return None if name is None else (name, PatternType.LITERAL)
    found = reading.only(node, key, NAME_KEYS)
    if found is None:
        return None
    form, value = found
    name = reading.name(value, form)
    pattern_type = PatternType.PREFIXED if form == PREFIX else PatternType.LITERAL
    return None if name is None else (name, pattern_type)


def _operations(given: Mapping[str, Node], entry: Node, resources: list[Resource], reading: Reading) -> Operations:
    """The operations on each type of resource."""
    operation, role = given.get("operation"), given.get("role")
    if (operation is None) == (role is None):
        message = "an entry of acls has both operation and role" if role is not None else "an entry has no operation"
        remedy = "write two entries" if role is not None else "write operation, or role"
        reading.error(entry, Rule.STRUCTURE, message, remedy)
        return {}
    types = {resource_type for resource_type, *_ in resources}
    if operation is not None:
        words = [reading.word(each, "operation", OPERATIONS) for each in reading.items(operation)]
        operations = dict.fromkeys(OPERATIONS[word] for word in words if word is not None)
        for resource_type in types:
            warn_of_operations(operation, resource_type, operations, reading)
        return dict.fromkeys(types, operations)
    return _operations_of_roles(role, resources, reading) if role is not None else {}


def warn_of_operations(
    node: Node, resource_type: ResourceType, operations: Iterable[AclOperation], reading: Reading
) -> None:
    """Add a warning for each operation that does not exist on a type of resource."""
    possible = OPERATIONS_OF_RESOURCES[resource_type]
    for operation in operations:
        if operation not in possible:
            names = ", ".join(each.name for each in sorted(possible))
            message = f"{operation.name} does not exist on a {resource_type.name}, so the ACL has no effect"
            reading.warning(node, Rule.NO_EFFECT, message, f"write one of {names}, or split the entry")


def _operations_of_roles(node: Node, resources: list[Resource], reading: Reading) -> Operations:
    words = [reading.word(each, "role", ROLES) for each in reading.items(node)]
    roles = [word.lower() for word in words if word is not None]
    operations: dict[ResourceType, dict[AclOperation, None]] = {}
    for role in roles:
        for resource_type, of_type in ROLES[role].items():
            operations.setdefault(resource_type, {}).update(dict.fromkeys(of_type))
    for resource_type, _, _, place in resources:
        if roles and resource_type not in operations:
            message = f"the role {' and '.join(roles)} has nothing to do with a {resource_type.name}"
            reading.error(place, Rule.VALUE, message, "remove it, or write an entry with operation")
    if "idempotent" in roles:
        resources.append((ResourceType.CLUSTER, CLUSTER_NAME, PatternType.LITERAL, node))
    return operations


def _expand(node: Node, entry: _Entry, reading: Reading) -> None:
    acls = reading.acls
    places = reading.positions[Kind.ACLS]
    position = reading.at(node)
    per_operation = len(entry.principals) * len(entry.hosts)
    count = sum(len(entry.operations[resource_type]) for resource_type, *_ in entry.resources) * per_operation
    if len(acls) + count > MOST_ACLS:
        reading.error(node, Rule.VALUE, f"the documents have more than {MOST_ACLS} ACLs", "use prefixes")
        return
    permission = entry.permission
    for resource_type, name, pattern_type, _ in entry.resources:
        for operation, principal, host in product(entry.operations[resource_type], entry.principals, entry.hosts):
            acl = AclBinding(resource_type, name, principal, operation, permission, host, pattern_type)
            acls.add(acl)
            places.setdefault(acl, position)
