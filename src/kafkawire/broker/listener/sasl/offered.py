"""The SASL mechanisms of a listener, from its properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration, ConfigurationError
from kafkawire.broker.delegation_tokens import TokenLogin
from kafkawire.broker.image.scram_users import ScramImage
from kafkawire.broker.listener.configured_listeners import ConfiguredListener
from kafkawire.broker.listener.sasl.decoy_credentials import DecoyCredentials
from kafkawire.broker.listener.sasl.login import OfferedMechanism
from kafkawire.broker.listener.sasl.mechanism import NewMechanism
from kafkawire.broker.listener.sasl.plain import PlainMechanism
from kafkawire.broker.listener.sasl.scram_server import ScramMechanismServer
from kafkawire.model.jaas import JaasError, jaas_options
from kafkawire.model.scram import ScramMechanism
from kafkawire.protocol import UserScramCredentialRecord

_SCRAM: Final = {
    "SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256,
    "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512,
}
_USER: Final = "user_"


@dataclass(frozen=True, slots=True)
class Users:
    """Who may log in, besides the users in the properties of listeners.

    Attributes:
        scram: the current credentials of users.
        token: how to log in with a delegation token, by its id.
        secret: makes the decoy credentials of users that do not exist. It is not known to clients, and the same after a
            restart if the users are the same.
    """

    scram: ScramImage
    token: Callable[[ScramMechanism, str], TokenLogin | None] = lambda _mechanism, _token_id: None
    secret: bytes = field(default=b"", repr=False)


def offered_mechanisms(
    listener: ConfiguredListener, configuration: BrokerConfiguration, users: Users
) -> Mapping[str, OfferedMechanism]:
    """Name to mechanism, in the order of ``sasl.enabled.mechanisms``.

    Args:
        listener: the listener.
        configuration: its properties.
        users: who may log in.

    Raises:
        ConfigurationError: a mechanism is not supported, or has no users.
    """
    decoys = DecoyCredentials(users.secret, users.scram)
    offered = {}
    for name in configuration.strings("sasl.enabled.mechanisms"):
        lifetime = _of_mechanism(configuration, name, "connections.max.reauth.ms")
        lifetime_ms = configuration.integer("connections.max.reauth.ms") if lifetime is None else int(lifetime)
        offered[name] = OfferedMechanism(_begin(listener, configuration, users, name, decoys), lifetime_ms)
    if not offered:
        raise ConfigurationError(f"sasl.enabled.mechanisms is empty for {listener.name}: name PLAIN or SCRAM-SHA-256")
    return offered


def _begin(
    listener: ConfiguredListener,
    configuration: BrokerConfiguration,
    users: Users,
    name: str,
    decoys: DecoyCredentials,
) -> NewMechanism:
    if _of_mechanism(configuration, name, "sasl.server.callback.handler.class") is not None:
        raise ConfigurationError("sasl.server.callback.handler.class is Java's: remove it from the properties")
    if name in _SCRAM:
        mechanism = _SCRAM[name]
        known, unknown = partial(_credential, users.scram, mechanism), partial(decoys.of, mechanism=mechanism)
        return partial(ScramMechanismServer, mechanism, known, unknown, partial(users.token, mechanism))
    if name == "PLAIN":
        return partial(PlainMechanism, _passwords(listener, configuration))
    served = ", ".join(("PLAIN", *_SCRAM))
    raise ConfigurationError(f"sasl.enabled.mechanisms has {name} for {listener.name}: this broker supports {served}")


def _credential(scram: ScramImage, mechanism: ScramMechanism, user: str) -> UserScramCredentialRecord | None:
    return scram.by_user.get(user, {}).get(mechanism)


def _passwords(listener: ConfiguredListener, configuration: BrokerConfiguration) -> Mapping[str, str]:
    """User to password, from options ``user_alice="secret"``."""
    entry = _of_mechanism(configuration, "PLAIN", "sasl.jaas.config") or configuration.text("sasl.jaas.config")
    name = f"listener.name.{listener.name.lower()}.plain.sasl.jaas.config"
    if not entry:
        example = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="secret";'
        raise ConfigurationError(f"{name} is missing: list the users that may log in, {example}")
    try:
        options = jaas_options(entry)
    except JaasError as error:
        raise ConfigurationError(f"{name} cannot be read: {error}") from None
    return {option.removeprefix(_USER): value for option, value in options.items() if option.startswith(_USER)}


def _of_mechanism(configuration: BrokerConfiguration, mechanism: str, name: str) -> str | None:
    return configuration.properties.get(f"{mechanism.lower()}.{name}")
