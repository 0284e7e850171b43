"""The listeners in the properties, with their advertised addresses (KIP-103)."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration, ConfigurationError

SecurityProtocol: TypeAlias = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]

_PROTOCOLS: Final[tuple[SecurityProtocol, ...]] = get_args(SecurityProtocol)
_ADDRESS: Final = re.compile(r"([^:/]+)://(\[[0-9a-fA-F:.%]+\]|[^:/\[\]]*):(\d{1,5})")


@dataclass(frozen=True, slots=True)
class ConfiguredListener:
    """One listener.

    Attributes:
        name: of the listener, in upper case.
        protocol: its security protocol.
        host, port: where it listens; all addresses of the machine for an empty host, a free port for 0.
        advertised_host, advertised_port: where clients connect; the bound port for 0.
    """

    name: str
    protocol: SecurityProtocol
    host: str
    port: int
    advertised_host: str
    advertised_port: int

    @property
    def protocol_code(self) -> int:
        """The number of its protocol in messages and records."""
        return _PROTOCOLS.index(self.protocol)

    @property
    def has_tls(self) -> bool:
        """Whether connections are encrypted."""
        return self.protocol in {"SSL", "SASL_SSL"}

    @property
    def has_sasl(self) -> bool:
        """Whether clients log in with SASL."""
        return self.protocol in {"SASL_PLAINTEXT", "SASL_SSL"}


def configured_listeners(configuration: BrokerConfiguration, host: str, port: int) -> tuple[ConfiguredListener, ...]:
    """All listeners for clients, in the order of the properties. Those of controllers are left out.

    Args:
        configuration: its ``listeners``, ``advertised.listeners``, ``listener.security.protocol.map``.
        host, port: of the only listener, ``PLAINTEXT``, if no ``listeners`` are configured.

    Raises:
        ConfigurationError: they are invalid.
    """
    protocols = _protocols(configuration)
    if "listeners" in configuration.properties:
        addresses = _addresses(configuration, "listeners")
    else:
        addresses = {"PLAINTEXT": (host, port)}
    of_controllers = {name.upper() for name in configuration.strings("controller.listener.names")}
    advertised = _addresses(configuration, "advertised.listeners")
    for name in advertised:
        if name not in addresses:
            raise ConfigurationError(
                f"advertised.listeners has {name}, which is not among listeners: name it there too"
            )
    found = tuple(
        ConfiguredListener(name, _protocol(protocols, name), *address, *advertised.get(name, _advertised(address)))
        for name, address in addresses.items()
        if name not in of_controllers
    )
    if not found:
        raise ConfigurationError("listeners has none for clients: add one, such as PLAINTEXT://127.0.0.1:9092")
    return found


def _advertised(address: tuple[str, int]) -> tuple[str, int]:
    host, port = address
    return host or socket.gethostname(), port


def _addresses(configuration: BrokerConfiguration, name: str) -> dict[str, tuple[str, int]]:
    """Listener to host and port."""
    addresses: dict[str, tuple[str, int]] = {}
    for text in configuration.strings(name):
        found = _ADDRESS.fullmatch(text)
        if found is None or int(found[3]) > 0xFFFF:
            raise ConfigurationError(f"{name} has {text!r}, which is not a listener: write it as NAME://host:port")
        listener = found[1].upper()
        if listener in addresses:
            raise ConfigurationError(f"{name} has {listener} twice: give each listener a name of its own")
        addresses[listener] = found[2].strip("[]"), int(found[3])
    return addresses


def _protocols(configuration: BrokerConfiguration) -> dict[str, str]:
    return dict(_pair(text) for text in configuration.text("listener.security.protocol.map").split(",") if text.strip())


def _pair(text: str) -> tuple[str, str]:
    listener, colon, protocol = text.strip().rpartition(":")
    if not colon:
        raise ConfigurationError(f"listener.security.protocol.map has {text!r}: write NAME:PROTOCOL")
    return listener.upper(), protocol.upper()


def _protocol(protocols: dict[str, str], listener: str) -> SecurityProtocol:
    configured = protocols.get(listener)
    if configured is None:
        raise ConfigurationError(f"listener.security.protocol.map does not have {listener}: add its security protocol")
    for protocol in _PROTOCOLS:
        if protocol == configured:
            return protocol
    known = ", ".join(_PROTOCOLS)
    raise ConfigurationError(f"listener.security.protocol.map has {configured} for {listener}: use one of {known}")
