"""What the brokers of tests have from their start, and the properties that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Final, TypeAlias

from msgspec.structs import replace

from kafkawire.admin import BlockingAdminClient
from kafkawire.broker.threaded import ThreadedBroker
from kafkawire.declared import Application, ClusterState, Result, item_in_words, plan_of, read_cluster, read_documents
from kafkawire.declared.documents.declared import SecretKey
from kafkawire.model.partitions import TopicPartition

Groups: TypeAlias = Mapping[str, Mapping[TopicPartition, int]]
"""Group id to the offsets that the group has committed."""

_WITH_ACLS: Final = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
_LOGIN_LISTENER: Final = "SASL_PLAINTEXT"
_WITH_USERS: Final = {
    "listeners": f"PLAINTEXT://127.0.0.1:0,{_LOGIN_LISTENER}://127.0.0.1:0",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
}
_PASSWORDS_OF_PLAIN: Final = f"listener.name.{_LOGIN_LISTENER.lower()}.plain.sasl.jaas.config"
_PLAIN: Final = "org.apache.kafka.common.security.plain.PlainLoginModule"


class DeclarationError(Exception):
    """What is declared for the brokers of tests cannot be read, or a broker refuses it."""


def declared_state(declaration: ClusterState | str | PathLike[str]) -> ClusterState:
    """The declared state with its secrets, as one node can have it: each partition has one replica.

    Raises:
        DeclarationError: a document is wrong.
        UnavailableSecretError: a secret of a document cannot be had.
    """
    if isinstance(declaration, ClusterState):
        state = declaration
    else:
        declared = read_documents([declaration])
        if declared.errors:
            raise DeclarationError("\n".join(map(str, declared.errors)))
        state = declared.state_with_secrets()
    topics = {
        name: replace(
            topic,
            partitions=topic.partitions if topic.assignments is None else len(topic.assignments),
            replication_factor=None,
            assignments=None,
        )
        for name, topic in state.topics.items()
    }
    return replace(state, topics=topics)


def properties_with(state: ClusterState, properties: Mapping[str, str]) -> Mapping[str, str]:
    """The properties of a broker of tests: those given, over the defaults for what is declared.

    Args:
        state: what is declared. With ACLs they are evaluated, with users there is a listener for logins.
        properties: those given.
    """
    passwords = {user: each.password for (user, _), each in state.credentials.items() if each.password is not None}
    return {
        **(_WITH_ACLS if state.acls else {}),
        **(_WITH_USERS if passwords else {}),
        **({_PASSWORDS_OF_PLAIN: _plain_users(passwords)} if passwords and "listeners" not in properties else {}),
        **properties,
    }


def bring_about(broker: ThreadedBroker, state: ClusterState, groups: Groups) -> None:
    """Make what is declared at a broker.

    Args:
        broker: it runs.
        state: what is declared.
        groups: the offsets that groups have committed.

    Raises:
        DeclarationError: the broker refuses something.
        KafkaError: it refuses the offset of a group.
    """
    secrets: dict[SecretKey, str | None] = {key: each.password for key, each in state.credentials.items()}
    for resource, values in state.configs.items():
        secrets |= {(resource, name): value for name, value in values.items()}
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        plan = plan_of(state, admin.run(read_cluster).state, secrets=[key for key, value in secrets.items() if value])
        application = Application(plan, secrets.get)
        admin.run(application.run)
        failed = [each for each in application.outcomes() if each.result is not Result.DONE]
        if failed:
            raise DeclarationError(
                "\n".join(f"{item_in_words(each.planned.item)}: {each.error or each.reason}" for each in failed)
            )
        for group, offsets in groups.items():
            admin.alter_consumer_group_offsets(group, offsets).all()


def _plain_users(passwords: Mapping[str, str]) -> str:
    options = (f'"{_escaped(f"user_{user}")}"="{_escaped(password)}"' for user, password in passwords.items())
    return f"{_PLAIN} required {' '.join(options)};"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
