"""A cluster of one broker, with the arguments that the suite of confluent-kafka-python gives."""  # noqa: N999 - the name is trivup's

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # a suite has a package ``tests`` of its own, and this folder is on its path
    from tests.suites.packages.broker_process import BrokerProcess, free_port
else:
    from broker_process import BrokerProcess, free_port

_PLAIN: Final = "org.apache.kafka.common.security.plain.PlainLoginModule required username={0} password={1} "


class KafkaCluster:
    """A broker with one listener, without or with SASL/PLAIN; there is no schema registry.

    Args:
        broker_conf: properties of the broker, ``name=value``.
        sasl_mechanism: PLAIN, or nothing.
        sasl_users: ``name=password``, separated by commas; clients log in as the first, without rights of their own.
        others: what needs no attention with one broker.
    """

    def __init__(
        self, *, broker_conf: Sequence[str] = (), sasl_mechanism: str = "", sasl_users: str = "", **others: object
    ) -> None:
        address = f"127.0.0.1:{free_port()}"
        protocol = "SASL_PLAINTEXT" if sasl_mechanism else "PLAINTEXT"
        properties = {
            "node.id": "1",
            "listeners": f"{protocol}://{address}",
            "listener.security.protocol.map": f"{protocol}:{protocol}",
            "num.partitions": "4",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "allow.everyone.if.no.acl.found": "true",
            **dict(each.split("=", 1) for each in broker_conf),
        }
        self._client = {"bootstrap.servers": address}
        if sasl_mechanism:
            logins = dict(each.split("=", 1) for each in sasl_users.split(","))
            properties |= _login(sasl_mechanism, logins)
            user, password = next(iter(logins.items()))
            self._client |= {"security.protocol": protocol, "sasl.mechanism": sasl_mechanism}
            self._client |= {"sasl.username": user, "sasl.password": password}
        self._broker = BrokerProcess(properties)

    def wait_operational(self) -> None:
        """Do nothing: the broker answers."""

    def client_conf(self) -> dict[str, str]:
        """The configuration of a client."""
        return dict(self._client)

    def stop(self, cleanup: bool = True) -> None:
        """End the broker."""
        self._broker.stop()


def _login(mechanism: str, logins: Mapping[str, str]) -> dict[str, str]:
    if mechanism != "PLAIN":
        raise ValueError(f"the broker of this suite has no logins with {mechanism}")
    (user, password), *_ = logins.items()
    users = " ".join(f'user_{name}="{word}"' for name, word in logins.items())
    module = _PLAIN.format(f'"{user}"', f'"{password}"') + users
    return {
        "sasl.enabled.mechanisms": mechanism,
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": f"{module};",
    }
