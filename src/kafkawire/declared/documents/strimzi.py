"""Strimzi's ``KafkaTopic`` and ``KafkaUser`` resources, read as its operators apply them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kafkawire.declared.documents.acls import MOST_ACLS, RESOURCES, warn_of_host, warn_of_operations
from kafkawire.declared.documents.config_values import read_configs
from kafkawire.declared.documents.fields import Reading
from kafkawire.declared.documents.nodes import Node, Scalar, Sequence, Table, shown
from kafkawire.declared.documents.problems import Rule
from kafkawire.declared.documents.quotas import add_quota
from kafkawire.declared.documents.topics import MOST_PARTITIONS, MOST_REPLICAS, add_name
from kafkawire.declared.planned import Kind
from kafkawire.declared.state import CredentialState, TopicState
from kafkawire.model.acls.bindings import (
    CLUSTER_NAME,
    WILDCARD,
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.quotas.entities import (
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    ClientQuotaEntity,
)
from kafkawire.model.scram import MINIMUM_ITERATIONS, ScramMechanism

_GROUP: Final = "kafka.strimzi.io/"
_VERSIONS: Final = ("kafka.strimzi.io/v1beta2", "kafka.strimzi.io/v1")
_LISTS: Final = frozenset({"List", "KafkaTopicList", "KafkaUserList"})

_OPERATIONS: Final[Mapping[str, AclOperation]] = MappingProxyType(
    {
        "Read": AclOperation.READ,
        "Write": AclOperation.WRITE,
        "Create": AclOperation.CREATE,
        "Delete": AclOperation.DELETE,
        "Alter": AclOperation.ALTER,
        "Describe": AclOperation.DESCRIBE,
        "ClusterAction": AclOperation.CLUSTER_ACTION,
        "AlterConfigs": AclOperation.ALTER_CONFIGS,
        "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS,
        "IdempotentWrite": AclOperation.IDEMPOTENT_WRITE,
        "All": AclOperation.ALL,
    }
)
_RESOURCES: Final[Mapping[str, ResourceType]] = MappingProxyType(
    {
        "topic": RESOURCES["topic"],
        "group": RESOURCES["group"],
        "transactionalId": RESOURCES["transactional_id"],
        "cluster": ResourceType.CLUSTER,
    }
)
_PATTERNS: Final = MappingProxyType({"literal": PatternType.LITERAL, "prefix": PatternType.PREFIXED})
_PERMISSIONS: Final = MappingProxyType({"allow": AclPermissionType.ALLOW, "deny": AclPermissionType.DENY})
_QUOTAS: Final = MappingProxyType(
    {
        "producerByteRate": PRODUCER_BYTE_RATE,
        "consumerByteRate": CONSUMER_BYTE_RATE,
        "requestPercentage": REQUEST_PERCENTAGE,
        "controllerMutationRate": CONTROLLER_MUTATION_RATE,
    }
)
_AUTHENTICATION: Final = ("type", "password", "validityDays", "renewalDays")
"""The last two are of the certificates that Strimzi issues, and nothing in Kafka."""

_TLS: Final = ("tls", "tls-external")
_SCRAM: Final = "scram-sha-512"


def is_resource(document: Table) -> bool:
    """Whether a document is a resource of Kubernetes."""
    return {"apiVersion", "kind"} <= document.by_name.keys()


def read_resource(document: Table, reading: Reading) -> None:
    """Read a topic, a user, or a list of them; other resources are named in a warning."""
    given = document.by_name
    version, kind = _text(given["apiVersion"]), _text(given["kind"])
    if kind in _LISTS:
        items = given.get("items")
        for item in items.items if isinstance(items, Sequence) else []:
            if isinstance(item, Table) and is_resource(item):
                read_resource(item, reading)
            else:
                reading.error(item, Rule.STRIMZI, "an item of a list is no resource", "give it apiVersion and kind")
        return
    if not version.startswith(_GROUP) or kind not in {"KafkaTopic", "KafkaUser"}:
        message = f"{kind} of {version} declares nothing that is read here"
        reading.warning(given["kind"], Rule.STRIMZI, message, "KafkaTopic and KafkaUser are read")
    elif version not in _VERSIONS:
        remedy = f"convert it to {' or '.join(_VERSIONS)}"
        reading.error(given["apiVersion"], Rule.STRIMZI, f"the version {version} is not read", remedy)
    else:
        _read_managed(document, kind, reading)


def _read_managed(document: Table, kind: str, reading: Reading) -> None:
    metadata = _inner(document, "metadata")
    name = metadata.get("name")
    resource_name = None if name is None else reading.name(name, "metadata.name")
    if resource_name is None:
        if name is None:
            reading.error(document, Rule.STRIMZI, f"a {kind} has no metadata.name", "give it a name")
        return
    annotations = metadata.get("annotations")
    of_operator = annotations.by_name if isinstance(annotations, Table) else {}
    for key, value in (("strimzi.io/managed", "false"), ("strimzi.io/pause-reconciliation", "true")):
        if key in of_operator and _text(of_operator[key]) == value:
            message = f'the {kind} {resource_name} is left alone: it has the annotation {key}: "{value}"'
            reading.warning(of_operator[key], Rule.STRIMZI, message)
            return
    spec = _inner(document, "spec")
    place = name if name is not None else document
    if kind == "KafkaTopic":
        _read_topic(resource_name, place, spec, reading)
    else:
        _read_user(resource_name, place, spec, reading)


def _read_topic(name: str, place: Node, spec: Mapping[str, Node], reading: Reading) -> None:
    before = reading.errors
    if "topicName" in spec:
        place = spec["topicName"]
        name = reading.name(place, "spec.topicName") or name
    partitions = replicas = None
    if "partitions" in spec and _text(spec["partitions"]) != "-1":
        partitions = reading.whole_number(spec["partitions"], "spec.partitions", 1, MOST_PARTITIONS)
    if "replicas" in spec and _text(spec["replicas"]) != "-1":
        replicas = reading.whole_number(spec["replicas"], "spec.replicas", 1, MOST_REPLICAS)
    configs: Mapping[str, str | None] = {}
    if "config" in spec:
        configs = read_configs(spec["config"], ConfigResource.topic(name), reading)
    _warn_of_rest(spec, ("topicName", "partitions", "replicas", "config"), reading)
    if add_name(place, name, reading) and reading.errors == before:
        reading.topics[name] = TopicState(partitions=partitions, replication_factor=replicas, configs=configs)


def _read_user(name: str, place: Node, spec: Mapping[str, Node], reading: Reading) -> None:
    user = name
    authentication = spec.get("authentication")
    if authentication is not None:
        how = reading.known(authentication, "spec.authentication", _AUTHENTICATION).get("type")
        kind = None if how is None else reading.word(how, "spec.authentication.type", (*_TLS, _SCRAM))
        if kind in _TLS:
            user = f"CN={name}"
        elif kind == _SCRAM:
            _read_credential(name, place, _inner_of(authentication), reading)
        elif how is None:
            reading.error(authentication, Rule.STRIMZI, "spec.authentication has no type", f"write type: {_SCRAM}")
    if "authorization" in spec:
        _read_authorization(f"User:{user}", spec["authorization"], reading)
    if "quotas" in spec:
        _read_quotas(user, spec["quotas"], reading)
    _warn_of_rest(spec, ("authentication", "authorization", "quotas", "template"), reading)


def _read_credential(name: str, place: Node, authentication: Mapping[str, Node], reading: Reading) -> None:
    """A credential without a password: it is in a Secret of Kubernetes, which the operator makes if it is not named."""
    password = authentication.get("password")
    secret, key = name, "password"
    if password is not None:
        reference = _inner_of(_inner_of(password).get("valueFrom")).get("secretKeyRef")
        if reference is None:
            reading.hide(password)
            message = "spec.authentication.password: expected valueFrom with secretKeyRef"
            reading.error(password, Rule.STRIMZI, message, "name a Secret")
            return
        fields = _inner_of(reference)
        secret, key = (
            _text(fields[each]) if each in fields else other for each, other in (("name", secret), ("key", key))
        )
    reading.managed_elsewhere[name, ScramMechanism.SCRAM_SHA_512] = reading.at(place), secret, key


def add_credentials(reading: Reading) -> None:
    """Add the credentials of resources whose passwords no document has, with a warning that says what to do."""
    for (user, mechanism), (position, secret, key) in reading.managed_elsewhere.items():
        if (user, mechanism) in reading.positions[Kind.USERS]:
            continue
        reading.positions[Kind.USERS][user, mechanism] = position
        reading.credentials[user, mechanism] = CredentialState(iterations=MINIMUM_ITERATIONS)
        message = f"the password of {user} is in the key {key} of the Secret {secret}, which is not read"
        remedy = (
            f"to set it, declare users: {user}: SCRAM-SHA-512: password: {{command: [sh, -c, "
            f'"kubectl get secret {secret} -o jsonpath={{.data.{key}}} | base64 -d"]}}'
        )
        reading.problems.add(position, Rule.STRIMZI, message, remedy, is_warning=True)


def _read_authorization(principal: str, node: Node, reading: Reading) -> None:
    given = reading.known(node, "spec.authorization", ("type", "acls"))
    if "type" not in given or reading.word(given["type"], "spec.authorization.type", ("simple",)) is None:
        if "type" not in given:
            reading.error(node, Rule.STRIMZI, "spec.authorization has no type", "write type: simple")
        return
    acls = given.get("acls")
    if not isinstance(acls, Sequence):
        reading.error(acls or node, Rule.STRIMZI, "spec.authorization.acls: expected a list", "write acls: [...]")
        return
    for acl in acls.items:
        _read_acl(principal, acl, reading)


def _read_acl(principal: str, node: Node, reading: Reading) -> None:
    before = reading.errors
    given = reading.known(node, "an ACL", ("resource", "operations", "operation", "host", "type"))
    if not isinstance(node, Table):
        return
    resource = _resource(given.get("resource"), node, reading)
    permission = AclPermissionType.ALLOW
    if "type" in given:
        permission = _PERMISSIONS.get(reading.word(given["type"], "type", tuple(_PERMISSIONS)) or "", permission)
    host = WILDCARD
    if "host" in given:
        named = reading.name(given["host"], "host", may_be_empty=True)
        host = host if named is None else named
        warn_of_host(given["host"], host, reading)
    if ("operations" in given) == ("operation" in given):
        message = "an ACL has no operations" if "operations" not in given else "an ACL has operations and operation"
        reading.error(node, Rule.STRIMZI, message, "write operations: [Read, ...]")
        return
    listed = given["operations"] if "operations" in given else given["operation"]
    words = [reading.word(each, "operations", tuple(_OPERATIONS)) for each in reading.items(listed)]
    if resource is None or reading.errors > before:
        return
    resource_type, name, pattern_type = resource
    operations = [_OPERATIONS[word] for word in words if word is not None]
    warn_of_operations(listed, resource_type, operations, reading)
    if len(reading.acls) + len(operations) > MOST_ACLS:
        reading.error(node, Rule.VALUE, f"the documents have more than {MOST_ACLS} ACLs", "use prefixes")
        return
    position = reading.at(node)
    for operation in operations:
        acl = AclBinding(resource_type, name, principal, operation, permission, host, pattern_type)
        reading.acls.add(acl)
        reading.positions[Kind.ACLS].setdefault(acl, position)


def _resource(node: Node | None, acl: Node, reading: Reading) -> tuple[ResourceType, str, PatternType] | None:
    given = {} if node is None else reading.known(node, "resource", ("type", "name", "patternType"))
    if "type" not in given:
        reading.error(node or acl, Rule.STRIMZI, "an ACL has no resource with a type", "write resource: {type: topic}")
        return None
    word = reading.word(given["type"], "resource.type", tuple(_RESOURCES))
    if word is None:
        return None
    resource_type = _RESOURCES[word]
    if resource_type is ResourceType.CLUSTER:
        return resource_type, CLUSTER_NAME, PatternType.LITERAL
    name = reading.name(given["name"], "resource.name") if "name" in given else None
    if name is None:
        if "name" not in given:
            reading.error(node or acl, Rule.STRIMZI, f"a resource of type {word} has no name", 'write name, or "*"')
        return None
    pattern_type = PatternType.LITERAL
    if "patternType" in given:
        pattern = reading.word(given["patternType"], "resource.patternType", tuple(_PATTERNS))
        pattern_type = _PATTERNS.get(pattern or "", pattern_type)
    return resource_type, name, pattern_type


def _read_quotas(user: str, node: Node, reading: Reading) -> None:
    before = reading.errors
    values: dict[str, float | None] = {}
    for key, value in reading.entries(node, "spec.quotas"):
        if key.text not in _QUOTAS:
            reading.unknown(key, "spec.quotas", tuple(_QUOTAS))
        elif (number := reading.number(value, key.text)) is not None:
            values[_QUOTAS[key.text]] = number
    if values and reading.errors == before:
        add_quota(node, ClientQuotaEntity.of_user(user), values, reading)


def _warn_of_rest(spec: Mapping[str, Node], keys: tuple[str, ...], reading: Reading) -> None:
    for key, value in spec.items():
        if key not in keys:
            reading.warning(value, Rule.STRIMZI, f"spec.{shown(key)[1:-1]} is not read", f"{', '.join(keys)} are")


def _inner(document: Table, key: str) -> Mapping[str, Node]:
    return _inner_of(document.by_name.get(key))


def _inner_of(node: Node | None) -> Mapping[str, Node]:
    return node.by_name if isinstance(node, Table) else {}


def _text(node: Node) -> str:
    return node.text if isinstance(node, Scalar) else ""
