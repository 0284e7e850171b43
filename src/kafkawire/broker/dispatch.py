"""From the frame of a request to the frame of its answer."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.clock import Clock
from kafkawire.broker.controller import Controller
from kafkawire.broker.faults.answering import Answering, answer_with_faults, throttled
from kafkawire.broker.faults.fault import Occasion
from kafkawire.broker.faults.faults import Faults
from kafkawire.broker.quotas.client_quotas import ClientQuotas
from kafkawire.broker.quotas.request_time import MeasuredTime
from kafkawire.broker.refusals import refusal
from kafkawire.broker.request_log import ReceivedRequest, RequestLog
from kafkawire.broker.request_work import SMALL_FRAME, RequestWork, decoded
from kafkawire.broker.requests import (
    UNMEASURED,
    Answer,
    Appended,
    Call,
    Refused,
    RefusedRequestError,
    RequestTime,
    Unanswered,
)
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.sessions import Session, software_of
from kafkawire.broker.storage.errors import StorageError
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import ApiVersionsRequest, ApiVersionsResponse
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.clients.request_header import RequestHeader
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.rpc import UNSUPPORTED_VERSION, Request, api_of, encode_response
from kafkawire.wire import EncodeError, Message
from kafkawire.wire.kafka_errors import ApiError
from kafkawire.wire.message import Struct

_log = logging.getLogger(__name__)
_PRESENT: Final = (Message, Refused, Unanswered, type(None))
_UNLIMITED: Final = frozenset({ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})


class Reply(Struct, frozen=True, gc=False):
    """The outcome of a request.

    Attributes:
        frame: the response; None if there is none.
        end_offset: all metadata records below this offset must be durable before the response is sent.
        muted_until: until when the connection is muted, in seconds of the broker's clock; 0 if it is not (KIP-219).
        session: the session from now on, if the request changed it, else None.
        appended: the records of partitions that must be durable before the response is sent.
    """

    frame: bytes | None
    end_offset: int
    muted_until: float = 0.0
    session: Session | None = None
    appended: Sequence[Appended] = ()


class Dispatcher:
    """Passes each request to its handler.

    Args:
        apis: the APIs with their handlers.
        offered: API key to the versions that clients are offered.
        controller: has the end offset of the metadata log.
        quotas: the client quotas.
        faults: the faults that tests set.
        clock: the broker's.
        work: decodes requests and encodes responses.
        received: gets every request that is handled.

    Attributes:
        offered: API key to the versions that clients are offered.
    """

    def __init__(
        self,
        apis: Sequence[ServedApi],
        offered: Mapping[int, range],
        controller: Controller,
        *,
        quotas: ClientQuotas,
        faults: Faults,
        clock: Clock,
        work: RequestWork,
        received: RequestLog,
    ) -> None:
        self._apis = {api.api_key: api for api in apis}
        self.offered = offered
        self._controller = controller
        self._quotas = quotas
        self._faults = faults
        self._clock = clock
        self._work = work
        self._received = received

    async def reply(self, frame: bytes, session: Session) -> Reply:
        """Answer the request in a frame.

        Raises:
            RefusedRequestError: the API or version is not served, or the frame is malformed.
            StorageError: the broker cannot write any more, and halts.
        """
        api_versions = self.offered.get(ApiKey.API_VERSIONS)
        if len(frame) <= SMALL_FRAME:
            return await self._replied(decoded(frame, api_versions), session, len(frame))
        async with self._work.request(frame, api_versions=api_versions) as request:
            return await self._replied(request, session, len(frame))

    async def _replied(self, request: Request, session: Session, size: int) -> Reply:
        header, body = request.header, request.body
        key, version = header.request_api_key, header.request_api_version
        if body is None or version not in self.offered.get(key, ()):
            return self._reply(
                encode_response(self._unknown_version(request), 0, correlation_id=header.correlation_id), 0
            )
        call = self._call(header, session, size)
        try:
            answer, muted_ms = await (self._with_faults(body, call) if self._faults else self._answer(body, call))
            encoded = await self._encoded(answer, body, header)
        except RefusedRequestError:
            self._log_request(body, call, None, None)
            raise
        self._log_request(body, call, answer, encoded)
        reply = self._reply(encoded, muted_ms, _session_with_software(session, body, version))
        return replace(reply, appended=call.appended) if call.appended else reply

    async def unmuted(self, reply: Reply) -> None:
        """Wait until the connection is no longer muted after a reply."""
        await self._clock.sleep(reply.muted_until - self._clock.seconds())

    def _log_request(self, body: Message, call: Call, answer: Answer, encoded: bytes | None) -> None:
        response = answer if isinstance(answer, Message) else None
        received = ReceivedRequest(body, call.version, call.client_id, call.session, response)
        self._received.add(received, call.size + len(encoded or b""))

    def _call(self, header: RequestHeader, session: Session, size: int) -> Call:
        key, client_id = header.request_api_key, header.client_id or ""
        time: RequestTime = UNMEASURED
        if self._quotas.request.enabled and key not in _UNLIMITED:
            time = MeasuredTime(self._quotas.request, session, client_id, self._clock)
        return Call(key, header.request_api_version, client_id, session, size, time)

    async def _with_faults(self, body: Message, call: Call) -> tuple[Answer, int]:
        """An answer that faults may change; a fault that throttles does not mute the connection."""
        muted_ms = 0

        async def handle(request: Message) -> Answer:
            nonlocal muted_ms
            handled, muted_ms = await self._answer(request, call)
            return handled

        async def refuse(request: Message, refused: Refused) -> Message:
            return await self._refusal(request, call.version, refused)

        async def refuse_items(request: Message, refused: Refused) -> Message:
            return await self._work.refusal(request, call.version, refused, partial(refusal, always_with_items=True))

        answering = Answering(handle, refuse, refuse_items, self._clock)
        return await answer_with_faults(self._faults, answering, Occasion(body, call, self._topic_id)), muted_ms

    def _topic_id(self, name: str) -> Uuid | None:
        topic = self._controller.image.topics.by_name.get(name)
        return None if topic is None else topic.topic_id

    async def _answer(self, body: Message, call: Call) -> tuple[Answer, int]:
        """The answer of the handler, with the throttle time in it, and that time in milliseconds."""
        try:
            answer = self._apis[call.api_key].handler(body, call)
            if not isinstance(answer, _PRESENT):
                answer = await (call.time.of(answer) if isinstance(call.time, MeasuredTime) else answer)
        except (RefusedRequestError, StorageError):
            raise
        except ApiError as error:
            answer = Refused(error.code, error.message or None)
        except Exception:  # noqa: BLE001 - a defect here or in a plug-in must reach the client as an error
            _log.exception("%s version %d could not be answered", body.NAME, call.version)
            answer = Refused(ErrorCode.UNKNOWN_SERVER_ERROR)
        if isinstance(answer, Refused):
            answer = await self._refusal(body, call.version, answer)
        return self._throttled(answer, call)

    async def _refusal(self, body: Message, version: int, refused: Refused) -> Message:
        api = self._apis[api_of(body).key]
        return await self._work.refusal(refused.request or body, version, refused, api.refuse)

    def _throttled(self, answer: Answer, call: Call) -> tuple[Answer, int]:
        """Use the longest of all throttle times (D14)."""
        if answer is None:
            return None, 0
        own: int = getattr(answer, "throttle_time_ms", 0)
        if call.time is UNMEASURED or isinstance(answer, Unanswered):
            return answer, own
        for_time = _throttled_for_time(call)
        if for_time <= own:
            return answer, own
        return throttled(answer, call.version, for_time), for_time

    async def _encoded(self, answer: Answer, body: Message, header: RequestHeader) -> bytes | None:
        """The frame of an answer. One that cannot be encoded, such as a surrogate in a plug-in's text, is a defect."""
        if not isinstance(answer, Message):
            return None
        version, correlation_id = header.request_api_version, header.correlation_id
        try:
            return await self._work.answer(answer, version, correlation_id)
        except EncodeError:
            _log.exception("The answer to %s version %d cannot be encoded", body.NAME, version)
            refused = await self._refusal(body, version, Refused(ErrorCode.UNKNOWN_SERVER_ERROR))
            return await self._work.answer(refused, version, correlation_id)

    def _reply(self, frame: bytes | None, muted_ms: int, session: Session | None = None) -> Reply:
        muted_until = self._clock.seconds() + muted_ms / 1000 if muted_ms else 0.0
        return Reply(frame, self._controller.end_offset, muted_until, session)

    def _unknown_version(self, request: Request) -> Message:
        """Only ApiVersions is answered, in version 0, so that the client learns which versions are served (KIP-511)."""
        key = request.header.request_api_key
        if key != ApiKey.API_VERSIONS:
            version = request.header.request_api_version
            raise RefusedRequestError(f"version {version} of API {key} is not served")
        own = self.offered[ApiKey.API_VERSIONS]
        known = ApiVersionsResponse.ApiVersion(ApiKey.API_VERSIONS, own[0], own[-1])
        return ApiVersionsResponse(UNSUPPORTED_VERSION, (known,))


def _session_with_software(session: Session, body: Message, version: int) -> Session | None:
    """The session with the software that an ApiVersions request names (KIP-511)."""
    software = software_of(body, version) if isinstance(body, ApiVersionsRequest) else ""
    return replace(session, software=software) if software else None


def _throttled_for_time(call: Call) -> int:
    """Milliseconds; 0 if the user's callback fails, so that requests to configure another one still succeed."""
    try:
        return call.time.throttle_time_ms()
    except Exception:  # noqa: BLE001 - code of users
        _log.exception("The callback for the quota on request time failed; the request is not throttled")
        return 0
