"""Which header version goes with which version of a request or response (header-request, header-response)."""

from __future__ import annotations

from kafkawire.codegen.check.header_versions import is_api_versions_response
from kafkawire.codegen.definition import MessageDefinition

CONTROLLED_SHUTDOWN_KEY = 7


REQUEST_HEADER = "RequestHeader"
RESPONSE_HEADER = "ResponseHeader"


def header_versions(message: MessageDefinition) -> tuple[str | None, dict[int, int]]:
    """The name of the header of a message, and its version for each version of the message.

    Versions of the header are those in ``headerVersions``, else those that the rules give. Only requests and responses
    have a header.
    """
    match message.type:
        case "request":
            name, derived = REQUEST_HEADER, _request_header
        case "response":
            name, derived = RESPONSE_HEADER, _response_header
        case _:
            return None, {}
    return name, {version: _stated(message, version, derived(message, version)) for version in message.valid_versions}


def _stated(message: MessageDefinition, version: int, derived: int) -> int:
    for versions, header in message.header_versions or ():
        if version in versions:
            return header
    return derived


def _request_header(message: MessageDefinition, version: int) -> int:
    is_controlled_shutdown = (message.api_key, message.name) == (CONTROLLED_SHUTDOWN_KEY, "ControlledShutdownRequest")
    if is_controlled_shutdown and version == 0:
        return 0  # header-controlled-shutdown-0
    return 2 if version in message.flexible_versions else 1


def _response_header(message: MessageDefinition, version: int) -> int:
    if is_api_versions_response(message):
        return 0  # header-api-versions-response: the client cannot know yet what the broker understood
    return 1 if version in message.flexible_versions else 0
