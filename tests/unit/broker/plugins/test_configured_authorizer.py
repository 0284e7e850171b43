"""Authorizers by Kafka's properties: none, the built-in one, and one's own."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tests.embedded.configurations import configuration_of

from kafkawire.admin import AclBinding, AclBindingFilter, AclOperation, AdminClient, ResourceType
from kafkawire.broker import Authorizer, ConfigurationError, EmbeddedBroker, Session
from kafkawire.broker.controller import Controller
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.broker.plugins.configured_authorizer import configured_authorizer
from kafkawire.broker.plugins.standard_authorizer import StandardAuthorizer
from kafkawire.broker.sessions import Principal
from kafkawire.protocol.errors import SecurityDisabledError, UnknownServerError

STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
TOPIC, READ = ResourceType.TOPIC, AclOperation.READ
EVERYTHING = AclBindingFilter()


class Recording(Authorizer):
    """Allows the operations that its property names, and remembers its calls."""

    made: list[Recording] = []  # noqa: RUF012 the broker makes it

    def __init__(self) -> None:
        self.told: list[object] = []
        self.made.append(self)

    def configure(self, properties: Mapping[str, str]) -> None:
        self.allowed = properties["recording.allowed"].split(",")
        self.told.append("configured")

    def authorize(
        self, session: Session, operation: AclOperation, resource_type: ResourceType, resource_name: str
    ) -> bool:
        assert (session.principal, session.host) == (Principal("ANONYMOUS"), "127.0.0.1")
        assert session.listener == "PLAINTEXT"
        assert session.software.startswith("kafkawire ")
        if resource_name == "broken":
            raise RuntimeError("a defect of the authorizer")
        return operation.name in self.allowed

    def add_acl(self, acl: AclBinding) -> None:
        self.told.append(("added", acl.principal))

    def remove_acl(self, acl: AclBinding) -> None:
        self.told.append(("removed", acl.principal))

    def close(self) -> None:
        self.told.append("closed")


class NoAuthorizer:
    """Something else."""


def configured(**properties: str) -> Authorizer | None:
    return configured_authorizer(configuration_of(**properties), Controller(MetadataLog(), MetadataImage()))


def may(authorizer: Authorizer | None, user: str) -> bool:
    assert authorizer is not None
    kind, _, name = user.partition(":")
    return authorizer.authorize(Session(Principal(name, kind), "10.0.0.1", "PLAINTEXT"), READ, TOPIC, "orders")


async def test_without_a_class_name_there_is_no_authorizer() -> None:
    """A16."""
    assert configured() is None
    async with EmbeddedBroker() as broker, AdminClient(broker.bootstrap_servers) as admin:
        with pytest.raises(SecurityDisabledError):
            (await admin.describe_acls([EVERYTHING]))[EVERYTHING]


def test_the_name_of_kafkas_own_is_the_built_in_one() -> None:
    authorizer = configured(authorizer_class_name=STANDARD, super_users="User:root; User:CN=a,O=b ;;Group:ops")
    assert isinstance(authorizer, StandardAuthorizer)
    assert [may(authorizer, user) for user in ("User:root", "User:CN=a,O=b", "Group:ops")] == [True] * 3
    assert [may(authorizer, user) for user in ("User:alice", "User:ops", "User:")] == [False] * 3


@pytest.mark.parametrize(("text", "is_open"), [("true", True), (" TRUE ", True), ("false", False), ("yes", False)])
def test_resources_without_acls_may_be_open(text: str, is_open: bool) -> None:
    authorizer = configured(authorizer_class_name=STANDARD, allow_everyone_if_no_acl_found=text)
    assert may(authorizer, "User:alice") == is_open


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({"authorizer_class_name": "kafka.security.authorizer.AclAuthorizer"}, "module:Class"),
        ({"authorizer_class_name": "no_such_module:Authorizer"}, "cannot be imported"),
        ({"authorizer_class_name": f"{__name__}:NoAuthorizer"}, "derived from"),
        ({"authorizer_class_name": STANDARD, "super_users": "User:a;root"}, "'root'.*write User:root"),
    ],
)
def test_a_wrong_authorizer_is_reported(properties: dict[str, str], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        configured(**properties)


async def test_a_custom_authorizer_decides_and_is_informed_of_acls() -> None:
    properties = {
        "authorizer.class.name": f"{__name__}:Recording",
        "recording.allowed": "ALTER,DESCRIBE",
    }
    acl = AclBinding(TOPIC, "orders", "User:alice", READ)
    async with EmbeddedBroker(properties) as broker, AdminClient(broker.bootstrap_servers) as admin:
        (authorizer,) = Recording.made
        await admin.create_acls([acl, acl])
        assert (await admin.describe_acls([EVERYTHING]))[EVERYTHING] == (acl,)
        await admin.delete_acls([EVERYTHING])
        described = await admin.describe_topics(["broken"])
        assert isinstance(described.errors()["broken"], UnknownServerError)
        cluster = await admin.describe_cluster(include_authorized_operations=True)
        assert cluster.authorized_operations == frozenset({AclOperation.ALTER, AclOperation.DESCRIBE})
    assert authorizer.told == ["configured", ("added", "User:alice"), ("removed", "User:alice"), "closed"]
