"""The TLS settings of a listener, from PEM files or PEM texts in Kafka's properties (KIP-651)."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Final

from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration, ConfigurationError
from kafkawire.broker.listener.configured_listeners import ConfiguredListener
from kafkawire.broker.sessions import ANONYMOUS, Principal
from kafkawire.model.distinguished_names import subject_of

_VERSIONS: Final = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_CLIENT_AUTH: Final = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}


def server_context(configuration: BrokerConfiguration, listener: ConfiguredListener) -> ssl.SSLContext:
    """The TLS context of a listener.

    Args:
        configuration: the listener's ``ssl.*`` properties.
        listener: the listener.

    Raises:
        ConfigurationError: a property is missing, is not PEM, cannot be read, or the key does not fit the certificate.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _set_versions(context, configuration)
    if configuration.strings("ssl.cipher.suites"):
        raise ConfigurationError(
            "ssl.cipher.suites has Java's names, which this broker does not support: remove the property"
        )
    if configuration.text("ssl.principal.mapping.rules") != "DEFAULT":
        raise ConfigurationError("ssl.principal.mapping.rules is not supported: remove it to use whole subject names")
    _load_key(context, configuration, listener.name)
    wanted = configuration.text("ssl.client.auth")
    # With SASL only the listener's own property counts, as in Kafka: the principal comes from the login.
    own = f"listener.name.{listener.name.lower()}.ssl.client.auth"
    if listener.has_sasl and own not in configuration.properties:
        wanted = "none"
    context.verify_mode = _CLIENT_AUTH[wanted]
    if context.verify_mode is not ssl.CERT_NONE:
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # a trusted authority need not be a root (decision 0107)
        _load_trusted(context, configuration, listener.name)
    return context


def principal_of(writer: asyncio.StreamWriter) -> Principal:
    """The subject of the client's certificate; ``ANONYMOUS`` if the client has not sent one."""
    connection = writer.get_extra_info("ssl_object")
    certificate = connection.getpeercert(binary_form=True) if isinstance(connection, ssl.SSLObject) else None
    return Principal(subject_of(certificate)) if certificate else ANONYMOUS


def _set_versions(context: ssl.SSLContext, configuration: BrokerConfiguration) -> None:
    names = configuration.strings("ssl.enabled.protocols")
    unknown = [name for name in names if name not in _VERSIONS]
    if unknown or not names:
        raise ConfigurationError(
            f"ssl.enabled.protocols has {', '.join(unknown) or 'nothing'}: use {', '.join(_VERSIONS)}"
        )
    versions = [_VERSIONS[name] for name in names]
    context.minimum_version, context.maximum_version = min(versions), max(versions)


def _load_key(context: ssl.SSLContext, configuration: BrokerConfiguration, listener: str) -> None:
    _check_type(configuration, "ssl.keystore", listener)
    location = configuration.text("ssl.keystore.location")
    key, chain = configuration.text("ssl.keystore.key"), configuration.text("ssl.keystore.certificate.chain")
    password = configuration.text("ssl.key.password")
    if bool(location) == bool(key and chain):
        raise ConfigurationError(
            f"{listener} needs its certificate: set ssl.keystore.location to a PEM file with the key and the "
            "certificates, or both ssl.keystore.key and ssl.keystore.certificate.chain to their texts"
        )
    try:
        with _file(f"{key}\n{chain}") if not location else nullcontext(location) as path:
            context.load_cert_chain(path, password=password)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"the key store of {listener} cannot be used ({location or 'its text'}): {error}"
        ) from None


def _load_trusted(context: ssl.SSLContext, configuration: BrokerConfiguration, listener: str) -> None:
    location, text = configuration.text("ssl.truststore.location"), configuration.text("ssl.truststore.certificates")
    if not location and not text:
        context.load_default_certs(ssl.Purpose.CLIENT_AUTH)
        return
    _check_type(configuration, "ssl.truststore", listener)
    try:
        context.load_verify_locations(cadata=text or Path(location).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"the trust store of {listener} cannot be used ({location or 'its text'}): {error}"
        ) from None


def _check_type(configuration: BrokerConfiguration, store: str, listener: str) -> None:
    kind = configuration.text(f"{store}.type")
    if kind.upper() != "PEM":
        raise ConfigurationError(f"{store}.type is {kind} for {listener}: only PEM is supported; set it to PEM")


@contextmanager
def _file(text: str) -> Iterator[str]:
    """A temporary file for a key, which OpenSSL reads from files only, in a folder that only this user can open."""
    import tempfile  # noqa: PLC0415 slow to import, and few need it

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pem")
        path.touch(mode=0o600)
        path.write_text(text, "utf-8")
        yield str(path)
