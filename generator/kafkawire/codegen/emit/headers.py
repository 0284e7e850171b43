"""Which header version goes with which version of a request or response (header-request, header-response)."""

from __future__ import annotations

from kafkawire.codegen.check.header_versions import is_api_versions_response
from kafkawire.codegen.definition import MessageDefinition

CONTROLLED_SHUTDOWN_KEY = 7


REQUEST_HEADER = "RequestHeader"
RESPONSE_HEADER = "ResponseHeader"


def header_versions(message: MessageDefinition) -> tuple[str | None, dict[int, int]]:
    """The name of the header that a message travels with, and its version for each version of the message."""
    match message.type:
        case "request":
            return REQUEST_HEADER, request_header_versions(message)
        case "response":
            return RESPONSE_HEADER, response_header_versions(message)
        case _:
            return None, {}


def request_header_versions(request: MessageDefinition) -> dict[int, int]:
    """Request version to version of RequestHeader: ``headerVersions`` where given, else the rules."""
    return {version: _stated(request, version, _request_header(request, version)) for version in request.valid_versions}


def response_header_versions(response: MessageDefinition) -> dict[int, int]:
    """Response version to version of ResponseHeader: ``headerVersions`` where given, else the rules."""
    return {
        version: _stated(response, version, _response_header(response, version)) for version in response.valid_versions
    }


def _stated(message: MessageDefinition, version: int, derived: int) -> int:
    for versions, header in message.header_versions or ():
        if version in versions:
            return header
    return derived


def _request_header(request: MessageDefinition, version: int) -> int:
    is_controlled_shutdown = (request.api_key, request.name) == (CONTROLLED_SHUTDOWN_KEY, "ControlledShutdownRequest")
    if is_controlled_shutdown and version == 0:
        return 0  # header-controlled-shutdown-0
    return 2 if version in request.flexible_versions else 1


def _response_header(response: MessageDefinition, version: int) -> int:
    if is_api_versions_response(response):
        return 0  # header-api-versions-response: the client cannot know yet what the broker understood
    return 1 if version in response.flexible_versions else 0
