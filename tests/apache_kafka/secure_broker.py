"""A broker behind TLS, SASL and ACLs; clients of its plain listener have all rights, so that tests can set it up."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.apache_kafka.broker import AUTHORIZER, Broker, running_broker
from tests.apache_kafka.certificates import Certificate, CertificateAuthority

SUPER_USER = "admin"
"""May do everything, by every mechanism."""

USER = "alice"
"""May do nothing until an ACL says so."""

PASSWORDS = {SUPER_USER: "admin-secret", USER: "alice-secret"}
"""Of both users, for PLAIN and SCRAM."""

CLIENT_NAME = "kafkawire-client"
"""Common name of the client's certificate; its principal is ``User:CN=kafkawire-client``."""

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
"""What both SASL listeners offer."""

_LISTENERS = {"SASL_PLAINTEXT": "SASL_PLAINTEXT", "SASL_SSL": "SASL_SSL", "MUTUAL_TLS": "SSL"}
_MODULES = "org.apache.kafka.common.security"
_TOKEN_SECONDS = 3600
_LOGIN_MODULES = {
    "PLAIN": f"{_MODULES}.plain.PlainLoginModule",
    "SCRAM-SHA-256": f"{_MODULES}.scram.ScramLoginModule",
    "SCRAM-SHA-512": f"{_MODULES}.scram.ScramLoginModule",
    "OAUTHBEARER": f"{_MODULES}.oauthbearer.OAuthBearerLoginModule",
}


@dataclass(frozen=True, slots=True)
class SecureBroker:
    """A broker that accepts no client without a proof.

    Attributes:
        broker: the broker; its plain listener needs no proof and allows everything.
        authority: signed the broker's certificate, which is for ``localhost`` and ``127.0.0.1``.
        client_certificate: what the listener with mutual TLS asks for.
    """

    broker: Broker
    authority: CertificateAuthority
    client_certificate: Certificate

    @property
    def sasl_plaintext_port(self) -> int:
        """Of the listener with SASL and without TLS."""
        return self.broker.ports["SASL_PLAINTEXT"]

    @property
    def address(self) -> str:
        """Of the plain listener."""
        return self.broker.address

    @property
    def sasl_ssl_port(self) -> int:
        """Of the listener with SASL and TLS."""
        return self.broker.ports["SASL_SSL"]

    @property
    def mutual_tls_port(self) -> int:
        """Of the listener that requires the client's certificate."""
        return self.broker.ports["MUTUAL_TLS"]

    def java_sasl(
        self, mechanism: str, user: str = SUPER_USER, password: str | None = None, *, tls: bool = True
    ) -> dict[str, str]:
        """The properties of a Java client that logs in.

        Args:
            mechanism: one of ``MECHANISMS``.
            user: who logs in.
            password: instead of the right one; OAUTHBEARER has none.
            tls: whether to use the listener with TLS.
        """
        options = f'username="{user}" password="{password or PASSWORDS[user]}"'
        if mechanism == "OAUTHBEARER":
            options = f'unsecuredLoginStringClaim_sub="{user}"'
        return {
            "bootstrap.servers": f"{self.broker.host}:{self.sasl_ssl_port if tls else self.sasl_plaintext_port}",
            "security.protocol": "SASL_SSL" if tls else "SASL_PLAINTEXT",
            "sasl.mechanism": mechanism,
            "sasl.jaas.config": f"{_LOGIN_MODULES[mechanism]} required {options};",
            **(_trust_store(self.authority) if tls else {}),
        }

    def java_mutual_tls(self) -> dict[str, str]:
        """The properties of a Java client that shows its certificate."""
        return {
            "bootstrap.servers": f"{self.broker.host}:{self.mutual_tls_port}",
            "security.protocol": "SSL",
            **_trust_store(self.authority),
            **_key_store(self.client_certificate),
        }


@contextmanager
def running_secure_broker(
    release: str, folder: Path, *, properties: Mapping[str, str] | None = None
) -> Iterator[SecureBroker]:
    """Start a broker with certificates and users of its own; it is stopped when the context ends.

    Args:
        release: of Apache Kafka.
        folder: an empty folder.
        properties: further ``server.properties``; they win.

    Raises:
        BrokerError: if it does not answer in time.
    """
    authority = CertificateAuthority(folder)
    server = authority.issue("localhost", hosts=("DNS:localhost", "IP:127.0.0.1"))
    settings = {
        **AUTHORIZER,
        "super.users": f"User:ANONYMOUS;User:{SUPER_USER}",
        "delegation.token.secret.key": "kafkawire-tests",
        **_trust_store(authority),
        **_key_store(server),
        "listener.name.mutual_tls.ssl.client.auth": "required",
        # Long enough that no client has to log in again, but may.
        "listener.name.sasl_plaintext.plain.connections.max.reauth.ms": "3600000",
        **_sasl_of("sasl_plaintext"),
        **_sasl_of("sasl_ssl"),
        **(properties or {}),
    }
    with running_broker(
        release, folder, properties=settings, listeners=_LISTENERS, format_arguments=_scram_credentials()
    ) as broker:
        yield SecureBroker(broker, authority, authority.issue(CLIENT_NAME))


def unsecured_token(user: str, *, seconds: float = _TOKEN_SECONDS) -> str:
    """A token for OAUTHBEARER as these brokers accept it: unsigned.

    Args:
        user: whose token it is.
        seconds: for how long it is good; negative for one that is good no more.
    """
    now = time.time()
    claims = {"sub": user, "iat": min(now, now + seconds), "exp": now + seconds}
    return f"{_base64({'alg': 'none'})}.{_base64(claims)}."


def _sasl_of(listener: str) -> dict[str, str]:
    plain = " ".join(f'user_{user}="{password}"' for user, password in PASSWORDS.items())
    options = {"PLAIN": plain, "OAUTHBEARER": f'unsecuredLoginStringClaim_sub="{SUPER_USER}"'}
    prefix = f"listener.name.{listener}"
    jaas = {
        f"{prefix}.{mechanism.lower()}.sasl.jaas.config": f"{module} required {options.get(mechanism, '')};"
        for mechanism, module in _LOGIN_MODULES.items()
    }
    return {f"{prefix}.sasl.enabled.mechanisms": ",".join(MECHANISMS), **jaas}


def _scram_credentials() -> list[str]:
    return [
        argument
        for mechanism in MECHANISMS
        if mechanism.startswith("SCRAM")
        for user, password in PASSWORDS.items()
        for argument in ("--add-scram", f"{mechanism}=[name={user},password={password}]")
    ]


def _trust_store(authority: CertificateAuthority) -> dict[str, str]:
    return {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(authority.certificate)}


def _key_store(certificate: Certificate) -> dict[str, str]:
    return {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(certificate.both)}


def _base64(claims: Mapping[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
