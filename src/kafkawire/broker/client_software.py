"""What clients say that they are, in ApiVersions (KIP-511)."""

from __future__ import annotations

import re
from typing import Final

from kafkawire.protocol import ApiVersionsRequest

__all__ = ["says_what_it_is", "software_of"]

_SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_SAYS_ITS_SOFTWARE: Final = 3
"""The version of ApiVersions from which on clients say what they are (KIP-511)."""

_LONGEST_SOFTWARE: Final = 200


def says_what_it_is(request: ApiVersionsRequest, version: int) -> bool:
    """Whether the names of the client's software and of its version are such as Kafka takes (KIP-511)."""
    said = (request.client_software_name, request.client_software_version)
    return version < _SAYS_ITS_SOFTWARE or all(_SOFTWARE.fullmatch(name) for name in said)


def software_of(request: ApiVersionsRequest, version: int) -> str:
    """The client's software and its version, ``apache-kafka-java 4.3.1``; empty if the request does not name them."""
    if version < _SAYS_ITS_SOFTWARE or not says_what_it_is(request, version):
        return ""
    return f"{request.client_software_name} {request.client_software_version}"[:_LONGEST_SOFTWARE]
