"""What the properties of Java's clients set in an admin client: the files that Kafka's own tools take."""

from __future__ import annotations

import logging
import os
import re
import ssl
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from kafkawire.admin.connection.sasl.credentials import CredentialsSource, PlainCredentials, ScramCredentials
from kafkawire.admin.connection.tls import Tls
from kafkawire.admin.settings import AdminSettings
from kafkawire.admin.store_properties import SSL_PROPERTIES, refuse, tls_of
from kafkawire.model.configs.checks import InvalidValueError
from kafkawire.model.configs.values import ValueType, parse
from kafkawire.model.jaas import JaasError, jaas_options
from kafkawire.model.properties_file import PropertiesError, parse_properties
from kafkawire.model.redaction import Redacted

_log = logging.getLogger(__name__)

_ENCODING: Final = "iso-8859-1"
"""Java's of such files; other characters are written as ``\\uXXXX``."""

_MILLISECONDS: Final = 1000.0
_SHORTEST_PAUSE: Final = 1
"""Milliseconds; Java's clients take 0, too."""

_SECONDS: Final[Mapping[str, str]] = {
    "request.timeout.ms": "request_timeout",
    "default.api.timeout.ms": "call_timeout",
    "retry.backoff.ms": "retry_backoff",
    "retry.backoff.max.ms": "retry_backoff_maximum",
    "reconnect.backoff.ms": "reconnect_backoff",
    "reconnect.backoff.max.ms": "reconnect_backoff_maximum",
    "socket.connection.setup.timeout.ms": "connect_timeout",
    "metadata.max.age.ms": "metadata_maximum_age",
    "connections.max.idle.ms": "idle_timeout",
}
"""Property in milliseconds to the setting in seconds."""

_NEVER: Final = "connections.max.idle.ms"
"""The one property that means never if it is negative."""

_DIRECT: Final = frozenset({
    "bootstrap.servers", "bootstrap.controllers", "client.id", "metadata.cluster.check.enable", "security.protocol",
})  # fmt: skip

_WITHOUT_EFFECT: Final = frozenset({
    "auto.include.jmx.reporter", "client.dns.lookup", "enable.metrics.push", "metadata.recovery.rebootstrap.trigger.ms",
    "metadata.recovery.strategy", "metric.reporters", "metrics.num.samples", "metrics.recording.level",
    "metrics.sample.window.ms", "receive.buffer.bytes", "retries", "send.buffer.bytes",
    "socket.connection.setup.timeout.max.ms",
})  # fmt: skip
"""Properties of Java's admin client for things that this one does not have: sizes of buffers, metrics."""

_REFUSED: Final[Mapping[str, str]] = {
    "config.providers": "write the values themselves, or give properties as a mapping",
    "security.providers": "remove it",
}
"""Properties that cannot be honoured to what to do."""

_REFUSED_WITH_SASL: Final[Mapping[str, str]] = {
    "sasl.client.callback.handler.class": "pass credentials=, a function that returns credentials",
    "sasl.login.callback.handler.class": "pass credentials=, a function that returns credentials",
    "sasl.login.class": "pass credentials=, a function that returns credentials",
}

_SASL: Final = frozenset({*_REFUSED_WITH_SASL, "sasl.mechanism", "sasl.jaas.config"})
_SASL_PREFIXES: Final = ("sasl.kerberos.", "sasl.login.", "sasl.oauthbearer.")
"""Properties of mechanisms whose credentials do not come from properties here."""

_NAME: Final = re.compile(r"[a-z][a-z0-9]{0,39}(?:[._-][a-z0-9]{1,39}){1,15}")
"""What a log shows as a name: the lines of a key or a password that was not continued with ``\\`` look otherwise."""

_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


class ClientArguments(Redacted, frozen=True, kw_only=True):
    """The arguments of an admin client.

    Attributes:
        bootstrap_servers, bootstrap_controllers, tls, credentials, settings: as of `AdminClient`.
    """

    UNSHOWN: ClassVar[frozenset[str]] = frozenset({"tls", "credentials"})

    bootstrap_servers: str | Iterable[str] | None
    bootstrap_controllers: str | Iterable[str] | None
    tls: ssl.SSLContext | Tls | None
    credentials: CredentialsSource | None
    settings: AdminSettings | None


def is_client_property(name: str) -> bool:
    """Whether Java's admin client has a property of this name, as far as this one knows; its value may be a secret."""
    known = _DIRECT | _SECONDS.keys() | _WITHOUT_EFFECT | _REFUSED.keys() | SSL_PROPERTIES | _SASL
    return name in known or name.startswith(_SASL_PREFIXES)


def client_arguments(
    properties: str | os.PathLike[str] | Mapping[str, str],
    *,
    bootstrap_servers: str | Iterable[str] | None = None,
    bootstrap_controllers: str | Iterable[str] | None = None,
    tls: ssl.SSLContext | Tls | None = None,
    credentials: CredentialsSource | None = None,
    settings: AdminSettings | None = None,
    source: str | None = None,
) -> ClientArguments:
    """The arguments that properties of a Java client mean.

    Args:
        properties: the path of a ``.properties`` file, or names and values.
        bootstrap_servers, bootstrap_controllers, tls, credentials, settings: used instead of what the properties say;
            the properties for it are not read then.
        source: names the properties in errors; the path of the file, or "properties", if it is not given.

    Raises:
        OSError: if the file cannot be read.
        ValueError: for a property that is invalid or cannot be honoured; names it, and says what to do.
    """
    where, given = _read(properties)
    where = source or where
    try:
        refuse(_REFUSED, given)
        protocol = _protocol(given)
        _log_ignored(where, given, protocol)
        if bootstrap_servers is None and bootstrap_controllers is None:
            bootstrap_servers, bootstrap_controllers = _bootstrap(given)
        if tls is None and protocol.endswith("SSL"):
            tls = tls_of(given)
        if credentials is None and protocol.startswith("SASL"):
            credentials = _credentials(given)
        return ClientArguments(
            bootstrap_servers=bootstrap_servers, bootstrap_controllers=bootstrap_controllers, tls=tls,
            credentials=credentials, settings=_settings(given) if settings is None else settings,
        )  # fmt: skip
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _read(properties: str | os.PathLike[str] | Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    """A name for errors, and the properties."""
    if isinstance(properties, Mapping):
        return "properties", properties
    path = Path(properties)
    try:
        return str(path), parse_properties(path.read_text(_ENCODING))
    except PropertiesError as error:
        raise ValueError(f"{path}: {error}") from None


def _protocol(given: Mapping[str, str]) -> str:
    protocol = given.get("security.protocol", _PROTOCOLS[0]).strip().upper()
    if protocol not in _PROTOCOLS:
        raise ValueError(f"security.protocol: {protocol!r} is none: write one of {', '.join(_PROTOCOLS)}")
    return protocol


def _log_ignored(where: str, given: Mapping[str, str], protocol: str) -> None:
    secured = sorted(name for name in given if name in SSL_PROPERTIES | _SASL or name.startswith(_SASL_PREFIXES))
    known = _DIRECT | _SECONDS.keys() | _WITHOUT_EFFECT | _REFUSED.keys() | {*secured}
    unknown = sorted(given.keys() - known)
    named = [name for name in unknown if _NAME.fullmatch(name)]
    if named:
        _log.warning("%s: these properties are unknown here, and are ignored: %s", where, ", ".join(named))
    if len(named) < len(unknown):
        _log.warning(
            "%s: %d entries do not begin with the name of a property, and are ignored: "
            "a value of several lines needs \\ at the end of each line but the last",
            where, len(unknown) - len(named),
        )  # fmt: skip
    idle = sorted(given.keys() & _WITHOUT_EFFECT)
    if idle:
        _log.info("%s: these properties have no effect here: %s", where, ", ".join(idle))
    if secured and protocol == _PROTOCOLS[0] and "security.protocol" not in given:
        _log.warning(
            "%s: security.protocol is not set, so these properties have no effect: %s", where, ", ".join(secured)
        )


def _bootstrap(given: Mapping[str, str]) -> tuple[str | None, str | None]:
    servers, controllers = given.get("bootstrap.servers"), given.get("bootstrap.controllers")
    if not servers and not controllers:
        raise ValueError("bootstrap.servers: is missing: set it, or pass bootstrap_servers=")
    return servers or None, controllers or None


def _settings(given: Mapping[str, str]) -> AdminSettings:
    found: dict[str, Any] = {}
    for name, field in _SECONDS.items():
        if name in given:
            found[field] = _seconds(name, given[name])
    if given.get("client.id"):
        found["client_id"] = given["client.id"]
    if "metadata.cluster.check.enable" in given:
        found["cluster_check"] = _value("metadata.cluster.check.enable", "boolean", given)
    defaults = AdminSettings()
    request, call = found.get("request_timeout", defaults.request_timeout), found.get("call_timeout")
    if call is None:
        # Java's clients do so too; where both are given, they refuse a call that is shorter than a request.
        found["call_timeout"] = max(request, defaults.call_timeout)
    elif request > call:
        raise ValueError("default.api.timeout.ms: must be at least request.timeout.ms")
    return AdminSettings(**found)


def _seconds(name: str, text: str) -> float:
    milliseconds = _value(name, "long", {name: text})
    if name == _NEVER and milliseconds < 0:
        return float("inf")
    if "backoff" in name and milliseconds == 0:
        milliseconds = _SHORTEST_PAUSE
    if milliseconds <= 0:
        raise ValueError(f"{name}: must be above 0, not {text.strip()}")
    return float(milliseconds) / _MILLISECONDS


def _value(name: str, kind: ValueType, given: Mapping[str, str]) -> Any:  # noqa: ANN401 as the kind says
    try:
        return parse(name, kind, given[name])
    except InvalidValueError as error:
        raise ValueError(str(error)) from None


def _credentials(given: Mapping[str, str]) -> CredentialsSource:
    refuse(_REFUSED_WITH_SASL, given)
    mechanism = given.get("sasl.mechanism", "GSSAPI").strip()
    login = _LOGINS.get(mechanism)
    if login is None:
        supported = ", ".join(_LOGINS)
        advice = "pass credentials=, a function that returns OAuthBearerCredentials, beside the properties"
        if mechanism != "OAUTHBEARER":
            advice = f"use one of {supported}, or OAUTHBEARER with credentials="
        raise ValueError(f"sasl.mechanism: {mechanism} cannot be set up from properties: {advice}")
    entry = given.get("sasl.jaas.config")
    if not entry:
        raise ValueError(
            "sasl.jaas.config: is missing: write the login module with username and password, or pass credentials="
        )
    try:
        options = jaas_options(entry)
        return login(mechanism, options)
    except KeyError as error:
        raise ValueError(f'sasl.jaas.config: has no {error.args[0]}: write {error.args[0]}="..." in it') from None
    except (JaasError, ValueError) as error:
        raise ValueError(f"sasl.jaas.config: {error}") from None


def _plain(_: str, options: Mapping[str, str]) -> CredentialsSource:
    return PlainCredentials(options["username"], options["password"])


def _scram(mechanism: str, options: Mapping[str, str]) -> CredentialsSource:
    return ScramCredentials(
        options["username"],
        options["password"],
        "SCRAM-SHA-256" if mechanism == "SCRAM-SHA-256" else "SCRAM-SHA-512",
        is_delegation_token=options.get("tokenauth", "").lower() == "true",
    )


_LOGINS: Final[Mapping[str, Callable[[str, Mapping[str, str]], CredentialsSource]]] = {
    "PLAIN": _plain,
    "SCRAM-SHA-256": _scram,
    "SCRAM-SHA-512": _scram,
}
