"""Java's Admin, driven from Python: what it describes, how long it takes, and clients that make something to describe.

One Java process with the newest release serves all brokers; ``tests/interop/java/admin/JavaAdmin.java`` documents its
lines. ::

    admin = java_admin.client("127.0.0.1:9092")
    assert admin.describe_acls(principal="User:alice") == (...)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from tests.apache_kafka import java_answers as answers
from tests.apache_kafka.java_answers import Partition
from tests.apache_kafka.java_program import JavaProgram, running_program
from tests.apache_kafka.releases import newest_broker_release

GroupKind = Literal["classic", "consumer", "share", "streams"]

T = TypeVar("T")
_SOURCES = Path(__file__).parents[1] / "interop" / "java" / "admin"
_BOOTSTRAP = "bootstrap.servers"
_ANY = "ANY"


class JavaAdminError(Exception):
    """What Java's Admin, or the driver, threw.

    Attributes:
        kind: simple name of the class.
        code: its error code in the protocol; -1 if there is none.
        name: the name of the code.
        message: its text.
    """

    def __init__(self, error: _Error) -> None:
        super().__init__(f"{error.kind}: {error.message}")
        self.kind = error.kind
        self.code = error.code
        self.name = error.name
        self.message = error.message


class JavaAdminClient:
    """One Admin of the Java process, warm after its first operation.

    Each operation raises JavaAdminError if any of its items fails, as ``all().get()`` does.
    """

    def __init__(self, program: JavaProgram, properties: Mapping[str, str]) -> None:
        self._program = program
        self._properties = dict(properties)

    def describe_cluster(
        self, *, authorized_operations: bool = False, fenced_brokers: bool = False
    ) -> answers.JavaCluster:
        options = {"authorized_operations": authorized_operations, "fenced_brokers": fenced_brokers}
        return self._ask("describe_cluster", answers.JavaCluster, options)

    def describe_features(self) -> answers.JavaFeatures:
        return self._ask("describe_features", answers.JavaFeatures)

    def describe_quorum(self) -> answers.JavaQuorum:
        return self._ask("describe_quorum", answers.JavaQuorum)

    def describe_log_dirs(self, brokers: Collection[int]) -> tuple[answers.JavaLogDir, ...]:
        return self._ask("describe_log_dirs", tuple[answers.JavaLogDir, ...], {"brokers": list(brokers)})

    def describe_replica_log_dirs(
        self, partitions: Collection[Partition], broker: int
    ) -> tuple[answers.JavaReplicaLogDir, ...]:
        options = {"partitions": list(partitions), "broker": broker}
        return self._ask("describe_replica_log_dirs", tuple[answers.JavaReplicaLogDir, ...], options)

    def list_topics(self, *, internal: bool = False) -> tuple[answers.JavaTopicListing, ...]:
        return self._ask("list_topics", tuple[answers.JavaTopicListing, ...], {"internal": internal})

    def describe_topics(
        self, names: Collection[str], *, authorized_operations: bool = False
    ) -> tuple[answers.JavaTopic, ...]:
        options = {"names": list(names), "authorized_operations": authorized_operations}
        return self._ask("describe_topics", tuple[answers.JavaTopic, ...], options)

    def list_offsets(self, partitions: Collection[Partition], spec: int) -> tuple[answers.JavaOffset, ...]:
        """Offsets by a timestamp, or by a spec as the protocol has it: -1 latest, -2 earliest, -3 max timestamp, ..."""
        options = {"partitions": list(partitions), "spec": spec}
        return self._ask("list_offsets", tuple[answers.JavaOffset, ...], options)

    def list_reassignments(self) -> tuple[answers.JavaReassignment, ...]:
        return self._ask("list_reassignments", tuple[answers.JavaReassignment, ...])

    def describe_configs(self, resource_type: str, name: str) -> tuple[answers.JavaConfig, ...]:
        """All configs of a resource, with synonyms and documentation; the type by its Java name, such as ``TOPIC``."""
        return self._ask("describe_configs", tuple[answers.JavaConfig, ...], {"type": resource_type, "name": name})

    def list_config_resources(self) -> tuple[answers.JavaConfigResource, ...]:
        return self._ask("list_config_resources", tuple[answers.JavaConfigResource, ...])

    def describe_acls(
        self,
        *,
        resource_type: str = _ANY,
        resource_name: str | None = None,
        pattern_type: str = _ANY,
        principal: str | None = None,
        host: str | None = None,
        operation: str = _ANY,
        permission_type: str = _ANY,
    ) -> tuple[answers.JavaAcl, ...]:
        """The ACLs that a filter finds; by default all."""
        options = {
            "resource_type": resource_type,
            "resource_name": resource_name,
            "pattern_type": pattern_type,
            "principal": principal,
            "host": host,
            "operation": operation,
            "permission_type": permission_type,
        }
        return self._ask("describe_acls", tuple[answers.JavaAcl, ...], options)

    def describe_client_quotas(
        self,
        named: Mapping[str, str] | None = None,
        *,
        defaults: Collection[str] = (),
        any_of: Collection[str] = (),
        strict: bool = False,
    ) -> tuple[answers.JavaQuotas, ...]:
        """The quotas that a filter finds; by default all.

        Args:
            named: entity type to the name that it must have.
            defaults: entity types that must be the default.
            any_of: entity types that must be there.
            strict: whether entities with further types are left out.
        """
        options = {"named": named or {}, "defaults": list(defaults), "any": list(any_of), "strict": strict}
        return self._ask("describe_client_quotas", tuple[answers.JavaQuotas, ...], options)

    def describe_scram_users(self, users: Collection[str] = ()) -> tuple[answers.JavaScramUser, ...]:
        """SCRAM users; by default all."""
        return self._ask("describe_scram_users", tuple[answers.JavaScramUser, ...], {"users": list(users)})

    def describe_delegation_tokens(self) -> tuple[answers.JavaDelegationToken, ...]:
        return self._ask("describe_delegation_tokens", tuple[answers.JavaDelegationToken, ...])

    def list_groups(self) -> tuple[answers.JavaGroupListing, ...]:
        return self._ask("list_groups", tuple[answers.JavaGroupListing, ...])

    def describe_groups(self, groups: Collection[str], kind: GroupKind) -> tuple[answers.JavaGroup, ...]:
        """Groups of one kind."""
        options = {"groups": list(groups), "kind": kind}
        return self._ask("describe_groups", tuple[answers.JavaGroup, ...], options)

    def list_group_offsets(self, group: str) -> tuple[answers.JavaGroupOffset, ...]:
        """The offsets that a group has committed, of classic, consumer and streams groups."""
        return self._ask("list_group_offsets", tuple[answers.JavaGroupOffset, ...], {"group": group})

    def list_share_group_offsets(self, group: str) -> tuple[answers.JavaShareGroupOffset, ...]:
        return self._ask("list_share_group_offsets", tuple[answers.JavaShareGroupOffset, ...], {"group": group})

    def list_transactions(self) -> tuple[answers.JavaTransactionListing, ...]:
        return self._ask("list_transactions", tuple[answers.JavaTransactionListing, ...])

    def describe_transactions(self, transactional_ids: Collection[str]) -> tuple[answers.JavaTransaction, ...]:
        options = {"ids": list(transactional_ids)}
        return self._ask("describe_transactions", tuple[answers.JavaTransaction, ...], options)

    def describe_producers(self, partition: Partition) -> tuple[answers.JavaProducer, ...]:
        return self._ask("describe_producers", tuple[answers.JavaProducer, ...], {"partition": partition})

    def create_topic(
        self, name: str, *, partitions: int = 1, replication_factor: int = 1, configs: Mapping[str, str] | None = None
    ) -> str:
        """Create a topic; its id."""
        options = {"partitions": partitions, "replication_factor": replication_factor, "configs": configs or {}}
        return self._ask("create_topic", str, {"name": name, **options})

    def create_acl(self, acl: answers.JavaAcl) -> None:
        self._ask("create_acl", bool, msgspec.structs.asdict(acl))

    def alter_config(self, resource_type: str, name: str, key: str, value: str) -> None:
        """Set a config of a resource."""
        self._ask("alter_config", bool, {"type": resource_type, "name": name, "key": key, "value": value})

    def alter_client_quota(self, entity: Mapping[str, str | None], quotas: Mapping[str, float | None]) -> None:
        """Set quotas of an entity; None removes a quota."""
        self._ask("alter_client_quota", bool, {"entity": entity, "quotas": quotas})

    def upsert_scram_user(self, user: str, mechanism: str, password: str, *, iterations: int = 4096) -> None:
        """Make a SCRAM user; the mechanism by its Java name, such as ``SCRAM_SHA_256``."""
        options = {"mechanism": mechanism, "iterations": iterations, "password": password}
        self._ask("upsert_scram_user", bool, {"user": user, **options})

    def create_delegation_token(self, *, max_lifetime_ms: int = 600_000) -> answers.JavaTokenSecret:
        options = {"max_lifetime_ms": max_lifetime_ms}
        return self._ask("create_delegation_token", answers.JavaTokenSecret, options)

    def alter_group_offset(self, group: str, partition: Partition, offset: int) -> None:
        """Commit an offset; the group is made if there is none."""
        self._ask("alter_group_offset", bool, {"group": group, "partition": partition, "offset": offset})

    def run_tool(self, tool: str, *arguments: str) -> str:
        """What a command line tool prints; raises JavaAdminError if it fails.

        Args:
            tool: name of its main class, without ``org.apache.kafka.tools.``.
            arguments: its command line, without ``--bootstrap-server``.
        """
        where = ["--bootstrap-server", self._properties[_BOOTSTRAP]]
        options = {"tool": f"org.apache.kafka.tools.{tool}", "arguments": [*where, *arguments]}
        return self._ask("run_tool", str, options)

    def produce(self, partition: Partition, values: Sequence[str]) -> int:
        """Write records; the offset of the last one."""
        options = {"client": self._properties, "partition": partition, "values": list(values)}
        return self._ask("produce", int, options)

    @contextmanager
    def open_transaction(self, transactional_id: str, partition: Partition, *, commit: bool = True) -> Iterator[None]:
        """A transaction with one record, open while the context lasts; committed or aborted then."""
        options = {"client": self._properties, "transactional_id": transactional_id, "partition": partition}
        with self._running(self._ask("begin_transaction", str, options), in_good_order=commit):
            yield

    @contextmanager
    def member(self, group: str, topics: Collection[str], kind: GroupKind = "classic") -> Iterator[None]:
        """A member of a group that has joined, and leaves with the end of the context.

        Members of classic and consumer groups have partitions then; those of share groups may still wait for some.
        """
        options = {"client": self._properties, "group": group, "topics": list(topics), "kind": kind}
        with self._running(self._ask("join_group", str, options), in_good_order=True):
            yield

    def time_alter_client_quotas(
        self, users: Collection[str], keys: Collection[str], *, first: int = 1, warm_ups: int = 5, rounds: int = 5
    ) -> answers.JavaTiming:
        """How long it takes to alter the quotas of users in one call; each round sets another, from ``first`` on."""
        options = {"users": list(users), "keys": list(keys), "first": first, "warm_ups": warm_ups, "rounds": rounds}
        return self._ask("time_alter_client_quotas", answers.JavaTiming, options)

    def time_describe_acls_of_principals(
        self, principals: Collection[str], *, warm_ups: int = 1, rounds: int = 3
    ) -> answers.JavaTiming:
        """How long one request for each principal takes, all of them given to the Admin at once; items are ACLs."""
        options = {"principals": list(principals), "warm_ups": warm_ups, "rounds": rounds}
        return self._ask("time_describe_acls_of_principals", answers.JavaTiming, options)

    def time_describe_all_acls(self, *, warm_ups: int = 3, rounds: int = 5) -> answers.JavaTiming:
        """How long it takes to describe all ACLs by one request; items are ACLs."""
        options = {"warm_ups": warm_ups, "rounds": rounds}
        return self._ask("time_describe_all_acls", answers.JavaTiming, options)

    @contextmanager
    def _running(self, actor: str, *, in_good_order: bool) -> Iterator[None]:
        try:
            yield
        finally:
            self._ask("end_actor", bool, {"name": actor, "in_good_order": in_good_order})

    def _ask(self, operation: str, kind: type[T], options: Mapping[str, object] | None = None) -> T:
        (line,) = self._program.ask([_Question(self._properties, operation, options or {})])
        answer = msgspec.json.decode(line, type=_Answer)
        if answer.error is not None:
            raise JavaAdminError(answer.error)
        return msgspec.json.decode(answer.result, type=kind)


class JavaAdmin:
    """A running Java process with any number of Admins."""

    def __init__(self, program: JavaProgram) -> None:
        self._program = program

    def client(self, bootstrap: str = "", properties: Mapping[str, str] | None = None) -> JavaAdminClient:
        """The Admin with these properties; equal ones are the same Admin.

        Args:
            bootstrap: ``host:port`` with commas between them; may stand among the properties instead.
            properties: of a Java client, such as :meth:`SecureBroker.java_sasl` gives.
        """
        return JavaAdminClient(self._program, {**({_BOOTSTRAP: bootstrap} if bootstrap else {}), **(properties or {})})


@contextmanager
def running_java_admin(options: Sequence[str] = ()) -> Iterator[JavaAdmin]:
    """Start the Java process, which ends with the context.

    Args:
        options: of the Java machine; by default it has its own, lest what is timed be held back.
    """
    with running_program(newest_broker_release(), _SOURCES, "admin.JavaAdmin", heap="2g", options=options) as program:
        yield JavaAdmin(program)


class _Question(msgspec.Struct, frozen=True):
    client: Mapping[str, str]
    op: str
    options: Mapping[str, object]


class _Error(msgspec.Struct, frozen=True):
    kind: str
    code: int
    name: str
    message: str | None


class _Answer(msgspec.Struct, frozen=True):
    result: msgspec.Raw = msgspec.Raw(b"null")
    error: _Error | None = None
