"""From the frame of a request to the frame of its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping

from kafkawire.broker.calls import Call, RefusedRequestError, Routes
from kafkawire.broker.controller import Controller
from kafkawire.broker.sessions import Session
from kafkawire.protocol import ApiVersionsResponse
from kafkawire.protocol.api_table import ApiKey
from kafkawire.rpc import UNSUPPORTED_VERSION, Request, decode_request, encode_response
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.message import Struct

__all__ = ["Dispatcher", "RefusedRequestError", "Reply"]


class Reply(Struct, frozen=True, gc=False):
    """What becomes of a request.

    Attributes:
        frame: the answer; None if there is none.
        end_offset: everything below it must be durable before the answer is sent.
    """

    frame: bytes | None
    end_offset: int


class Dispatcher:
    """Hands each request to its handler.

    Args:
        routes: what answers each request.
        offered: API key to the versions that are served.
        controller: knows how far the state has come.
    """

    def __init__(self, routes: Routes, offered: Mapping[int, range], controller: Controller) -> None:
        self._handlers = {request.API_KEY: handler for request, handler in routes.items()}
        self._offered = offered
        self._controller = controller

    async def reply(self, frame: bytes, session: Session) -> Reply:
        """Answer a request.

        Raises:
            RefusedRequestError: it is none that is served, or makes no sense.
        """
        try:
            request = decode_request(frame)
        except DecodeError as error:
            raise RefusedRequestError(str(error)) from error
        header = request.header
        key, version = header.request_api_key, header.request_api_version
        response: Message | None
        if version not in self._offered.get(key, ()):
            response, version = self._unknown_version(request), 0
        else:
            call = Call(key, version, header.client_id or "", session)
            answer = self._handlers[key](request.body, call)
            response = await answer if isinstance(answer, Awaitable) else answer
        content = None
        if response is not None:
            content = encode_response(response, version, correlation_id=header.correlation_id)
        return Reply(content, self._controller.end_offset)

    def _unknown_version(self, request: Request) -> Message:
        """Only ApiVersions is answered, in version 0, so that the client learns what there is (KIP-511)."""
        key = request.header.request_api_key
        if key != ApiKey.API_VERSIONS:
            version = request.header.request_api_version
            raise RefusedRequestError(f"version {version} of API {key} is not served")
        own = self._offered[ApiKey.API_VERSIONS]
        known = ApiVersionsResponse.ApiVersion(ApiKey.API_VERSIONS, own[0], own[-1])
        return ApiVersionsResponse(UNSUPPORTED_VERSION, (known,))
