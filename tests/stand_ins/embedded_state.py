"""ACLs and client quotas for a `StandInCluster`, kept and described by the embedded broker's own handlers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import TypeAlias

from msgspec import structs
from tests.embedded.handlers import handlers_by_request
from tests.stand_ins.broker import Answer

from kafkawire.broker.authorization import Authorization
from kafkawire.broker.controller import Controller
from kafkawire.broker.handlers.acls import AclHandlers
from kafkawire.broker.handlers.quota_proposals import QuotaProposalHandlers
from kafkawire.broker.handlers.quotas import QuotaHandlers
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.broker.plugins.standard_authorizer import StandardAuthorizer
from kafkawire.broker.refusals import refusal
from kafkawire.broker.requests import Call, Handler, Refused, RefusedRequestError
from kafkawire.broker.sessions import Principal, Session
from kafkawire.layout import Uuid
from kafkawire.model.acls.bindings import AclBinding
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.protocol import AccessControlEntryRecord, ClientQuotaRecord
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.rpc import Request
from kafkawire.wire import Message

Handlers: TypeAlias = Mapping[type[Message], Callable[[int, Request], Awaitable[Message | Answer]]]
"""Request class to handler of any node."""

_ROOT = Principal("root")


class EmbeddedState:
    """The state of a cluster; its handlers fit any number of nodes.

    Args:
        acls: the ACLs at the beginning.
        quotas: the quotas at the beginning.

    Attributes:
        handlers: of ACLs and client quotas.
        kip_248_handlers: of the requests of KIP-248.
        principal: the user of all clients, at first one with all rights.
        refusal: the error and message of every answer from now on; None for true answers.
    """

    def __init__(
        self,
        acls: Iterable[AclBinding] = (),
        quotas: Mapping[ClientQuotaEntity, Mapping[str, float]] | None = None,
    ) -> None:
        self._image = MetadataImage()
        self.principal = _ROOT
        self.refusal: tuple[ErrorCode, str] | None = None
        for acl in dict.fromkeys(acls):
            self._image.apply(AccessControlEntryRecord(id=Uuid.random(), **structs.asdict(acl)))
        for entity, values in (quotas or {}).items():
            parts = tuple(ClientQuotaRecord.EntityData(*part) for part in entity.items())
            for key, value in values.items():
                self._image.apply(ClientQuotaRecord(parts, key, value))
        controller = Controller(MetadataLog(), self._image)
        access = Authorization(StandardAuthorizer(self._image.acls, {str(_ROOT)}, allow_everyone_if_no_acl=False))
        acl_handlers, quota_handlers, kip_248_handlers = (
            handlers_by_request(each, controller, access)
            for each in (AclHandlers, QuotaHandlers, QuotaProposalHandlers)
        )
        self.handlers = self._node_handlers({**acl_handlers, **quota_handlers})
        self.kip_248_handlers = self._node_handlers(kip_248_handlers)

    @property
    def acls(self) -> list[AclBinding]:
        """The ACLs in the order of their creation."""
        return list(self._image.acls.ids)

    @property
    def quotas(self) -> Mapping[ClientQuotaEntity, Mapping[str, float]]:
        """The quotas of each entity that has any."""
        return self._image.client_quotas.by_entity

    def _node_handlers(self, handlers: Mapping[type[Message], Handler]) -> Handlers:
        return {request: partial(self._handle, handler) for request, handler in handlers.items()}

    async def _handle(self, handler: Handler, _: int, request: Request) -> Message | Answer:
        header, body = request.header, request.body
        assert body is not None
        call = Call(
            header.request_api_key,
            header.request_api_version,
            "test",
            Session(self.principal, "127.0.0.1", "PLAINTEXT"),
        )
        if self.refusal is not None:
            code, message = self.refusal
            return refusal(body, call.version, code, message=message)
        try:
            answer = handler(body, call)
            answer = await answer if isinstance(answer, Awaitable) else answer
        except RefusedRequestError:
            return Answer(close=True)
        if isinstance(answer, Refused):
            return refusal(body, call.version, answer.code, message=answer.message)
        assert isinstance(answer, Message)
        return answer
