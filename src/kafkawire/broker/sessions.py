"""The client at the other end of a connection: its principal, address and software."""

from __future__ import annotations

import re
from typing import Final

from kafkawire.protocol import ApiVersionsRequest
from kafkawire.wire.message import Struct

_SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_SOFTWARE_SINCE: Final = 3
"""The first version of ApiVersions that has the name and version of the client's software (KIP-511)."""

_LONGEST_SOFTWARE: Final = 200


class Principal(Struct, frozen=True, gc=False):
    """The identity of a client, as authorizers, quotas and policies see it.

    Attributes:
        name: ``alice``; any text.
        kind: ``User`` for every principal of the built-in logins.
    """

    name: str
    kind: str = "User"

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


ANONYMOUS: Final = Principal("ANONYMOUS")
"""The principal of clients that have not logged in, as on listeners without SASL."""


class Session(Struct, frozen=True, gc=False):
    """The client that sends requests on a connection.

    Attributes:
        principal: its identity.
        host: its address, ``127.0.0.1``.
        listener: name of the listener that it is connected to, ``PLAINTEXT``.
        software: name and version of the client's software, ``apache-kafka-java 4.3.1``; empty if the client does not
            send them (KIP-511).
        has_token: whether the client has logged in with a delegation token (KIP-48).
        connection: the number of the connection; each has another one.
    """

    principal: Principal
    host: str
    listener: str
    software: str = ""
    has_token: bool = False
    connection: int = 0


def has_valid_software(request: ApiVersionsRequest, version: int) -> bool:
    """Whether the name and version of the client's software are valid, or not in this version (KIP-511)."""
    names = (request.client_software_name, request.client_software_version)
    return version < _SOFTWARE_SINCE or all(_SOFTWARE.fullmatch(name) for name in names)


def software_of(request: ApiVersionsRequest, version: int) -> str:
    """The name and version of the client's software, ``apache-kafka-java 4.3.1``; empty if it sent no valid ones."""
    if version < _SOFTWARE_SINCE or not has_valid_software(request, version):
        return ""
    return f"{request.client_software_name} {request.client_software_version}"[:_LONGEST_SOFTWARE]
