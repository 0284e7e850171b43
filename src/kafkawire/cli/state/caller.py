"""Who calls: the principal that brokers see, as far as it can be known from here."""

from __future__ import annotations

import base64
import binascii
import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from kafkawire.admin import (
    BlockingAdminClient,
    OAuthBearerCredentials,
    PlainCredentials,
    ScramCredentials,
    Tls,
)
from kafkawire.cli.access.broker_configs import configs_of_a_broker
from kafkawire.model.distinguished_names import subject_of
from kafkawire.model.principal_mapping import UnsupportedRuleError, principal_name_of

_USER: Final = "User:"
_ANONYMOUS: Final = "User:ANONYMOUS"
_BUILDER: Final = "principal.builder.class"
_KAFKAS_BUILDER: Final = "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"
_RULES: Final = "ssl.principal.mapping.rules"
_CLIENT_AUTH: Final = "ssl.client.auth"
_CLAIM: Final = "sasl.oauthbearer.sub.claim.name"
_HANDLER: Final = "oauthbearer.sasl.server.callback.handler.class"
_OAUTH: Final = "org.apache.kafka.common.security.oauthbearer"
_KAFKAS_HANDLERS: Final = frozenset({
    f"{_OAUTH}.OAuthBearerValidatorCallbackHandler",
    f"{_OAUTH}.secured.OAuthBearerValidatorCallbackHandler",
    f"{_OAUTH}.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler",
})  # fmt: skip
_DEFAULTS: Final[Mapping[str, str]] = {
    _BUILDER: _KAFKAS_BUILDER,
    _RULES: "DEFAULT",
    _CLIENT_AUTH: "none",
    _CLAIM: "sub",
}
_OF_LISTENER: Final = "listener.name."
_END: Final = "-----END CERTIFICATE-----"


class UnknownCallerError(Exception):
    """It cannot be known from here who calls; the message says why."""


class Caller(NamedTuple):
    """Who calls.

    Attributes:
        principal: ``User:admin``.
        source: what says so; empty for the user of the login.
    """

    principal: str
    source: str = ""


def caller_of(
    credentials: object, tls: ssl.SSLContext | Tls | None, client: BlockingAdminClient, timeout: float
) -> Caller:
    """The principal of a connection.

    Users of PLAIN and SCRAM are those of the login. For certificates and tokens, the configs of a broker say how it
    makes principals of them.

    Args:
        credentials: of the client; None without SASL.
        tls: of the client.
        client: the client, to ask brokers.
        timeout: seconds that a call may take.

    Raises:
        UnknownCallerError: it cannot be known.
        KafkaError: the cluster does not answer.
    """
    match credentials:
        case PlainCredentials(username=name):
            return Caller(_USER + name)
        case ScramCredentials(username=name, is_delegation_token=False):
            return Caller(_USER + name)
        case ScramCredentials():
            raise UnknownCallerError("the login is a delegation token, and brokers do not show such a client its owner")
        case OAuthBearerCredentials():
            return _of_token(credentials, client, timeout)
        case None:
            return Caller(_ANONYMOUS) if tls is None else _of_certificate(tls, client, timeout)
        case _:
            raise UnknownCallerError("the credentials come from a function")


def _of_token(credentials: OAuthBearerCredentials, client: BlockingAdminClient, timeout: float) -> Caller:
    configs = _BrokerConfigs(client, timeout)
    configs.require_kafkas_principals()
    configs.require_kafkas_tokens()
    claim = configs.value(_CLAIM)
    name = _claims(credentials.token).get(claim)
    if not isinstance(name, str) or not name:
        raise UnknownCallerError(f"the login is a token, and the claim {claim} cannot be read in it")
    return Caller(_USER + name, f"the claim {claim} of the token")


def _claims(token: str) -> Mapping[str, object]:
    """The claims of a token in the form of JWT; empty for others. Whether it is valid is for the brokers to say."""
    parts = token.split(".")
    if len(parts) != 3:
        return {}
    try:
        content = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        return msgspec.json.decode(content, type=dict[str, object])
    except (binascii.Error, ValueError, msgspec.DecodeError, RecursionError):
        return {}


def _of_certificate(tls: ssl.SSLContext | Tls, client: BlockingAdminClient, timeout: float) -> Caller:
    certificate = tls.certificate if isinstance(tls, Tls) else None
    if certificate is None:
        if isinstance(tls, Tls):
            return Caller(_ANONYMOUS)
        raise UnknownCallerError("the client has a TLS context, which does not show its certificate")
    configs = _BrokerConfigs(client, timeout)
    configs.require_kafkas_principals()
    if configs.value(_CLIENT_AUTH) == "none":
        return Caller(_ANONYMOUS, f"{_CLIENT_AUTH}=none of the brokers")
    subject = _subject(certificate)
    try:
        name = principal_name_of(subject, configs.value(_RULES))
    except UnsupportedRuleError as error:
        raise UnknownCallerError(f"the brokers have a rule for names that cannot be followed here: {error}") from None
    if name is None:
        raise UnknownCallerError(f"no rule of the brokers' {_RULES} is about {subject}")
    return Caller(_USER + name, f"the certificate and {_RULES} of the brokers")


def _subject(certificate: str | os.PathLike[str]) -> str:
    """The subject of the first certificate of a PEM file or text, which is the client's own."""
    text = os.fspath(certificate)
    try:
        if "-----BEGIN " not in text:
            text = Path(text).read_text("ascii", errors="replace")
        begin = text.index("-----BEGIN CERTIFICATE-----")
        end = text.index(_END, begin) + len(_END)
        return subject_of(ssl.PEM_cert_to_DER_cert(text[begin:end]))
    except (OSError, ValueError, IndexError):
        raise UnknownCallerError("the subject of the client's certificate cannot be read") from None


class _BrokerConfigs:
    """The configs of a broker, as they are for the listener that the client uses.

    Raises:
        UnknownCallerError: the broker does not show them at all.
    """

    def __init__(self, client: BlockingAdminClient, timeout: float) -> None:
        node, configs = configs_of_a_broker(client, timeout)
        if configs is None:
            raise UnknownCallerError("the caller may not describe the configs of brokers, which say who it is")
        self._values = {name: entry.value for name, entry in configs.items()}
        self._listener = self._listener_at(f"{node.host}:{node.port}")

    def _listener_at(self, address: str) -> str | None:
        """The listener that has an address, which is how brokers call it to the clients of that listener."""
        for name in ("advertised.listeners", "listeners"):
            for listener in (self._values.get(name) or "").split(","):
                listener_name, _, own_address = listener.strip().partition("://")
                if own_address == address:
                    return listener_name.lower()
        return None

    def value(self, name: str) -> str:
        """The value that holds for the listener.

        Raises:
            UnknownCallerError: it cannot be known.
        """
        of_listeners = [each for each in self._values if each.startswith(_OF_LISTENER) and each.endswith(f".{name}")]
        if of_listeners and self._listener is None:
            raise UnknownCallerError(f"{of_listeners[0]} is set, and it is not known here which listener this is")
        own = f"{_OF_LISTENER}{self._listener}.{name}"
        if own in of_listeners:
            value = self._values[own]
            if value is None:
                raise UnknownCallerError(f"the brokers do not show {own}")
            return value
        return self._values.get(name) or _DEFAULTS[name]

    def require_kafkas_principals(self) -> None:
        """Raise UnknownCallerError if principals are made in another way than Kafka's own."""
        builder = self.value(_BUILDER)
        if builder != _KAFKAS_BUILDER:
            raise UnknownCallerError(f"the brokers make principals with {builder}")

    def require_kafkas_tokens(self) -> None:
        """Raise UnknownCallerError if tokens are read in another way than Kafka's own."""
        for name, value in self._values.items():
            if name.endswith(_HANDLER) and value not in _KAFKAS_HANDLERS:
                raise UnknownCallerError(f"the brokers read tokens with {value or 'a handler that they do not show'}")
