"""CreateDelegationToken, RenewDelegationToken, ExpireDelegationToken and DescribeDelegationToken (KIP-48, KIP-373)."""

from __future__ import annotations

from collections.abc import Set
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.sessions import ANONYMOUS, Session
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    DelegationTokenRecord,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
    RemoveDelegationTokenRecord,
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

_USER: Final = "User"
_NO_TIME: Final = -1
_NO_TIMES: Final = (_NO_TIME, _NO_TIME, _NO_TIME)
_REQUESTER_SINCE: Final = 3
_PLAINTEXT, _SSL = 0, 1

_Described = DescribeDelegationTokenResponse.DescribedDelegationToken
_Renewer = DescribeDelegationTokenResponse.DescribedDelegationTokenRenewer


class DelegationTokenHandlers:
    """Make, renew, expire and describe delegation tokens, for clients that have logged in without one."""

    def __init__(self, context: HandlerContext) -> None:
        self._tokens = context.tokens
        self._by_id = context.controller.image.tokens.by_id
        self._controller = context.controller
        self._cluster = context.cluster
        self._clock = context.clock
        self._access = context.access
        self.apis = (
            ServedApi(CreateDelegationTokenRequest, self._create, 1, 3),
            ServedApi(RenewDelegationTokenRequest, self._renew, 1, 2),
            ServedApi(ExpireDelegationTokenRequest, self._expire, 1, 2),
            ServedApi(DescribeDelegationTokenRequest, self._describe, 1, 3),
        )

    def _create(self, request: CreateDelegationTokenRequest, call: Call) -> CreateDelegationTokenResponse | Refused:
        requester = str(call.session.principal)
        owner = requester
        if call.version >= _REQUESTER_SINCE and request.owner_principal_name:
            if request.owner_principal_type is None:
                return Refused(ErrorCode.UNKNOWN_SERVER_ERROR)
            owner = f"{request.owner_principal_type}:{request.owner_principal_name}"
        refused = self._refused_creation(request, owner, call.session)
        if refused:
            return _created(refused, owner, requester, call.version, times=_NO_TIMES)
        if not self._tokens.is_enabled:
            return _created(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED, owner, requester, call.version)
        renewers = [f"{renewer.principal_type}:{renewer.principal_name}" for renewer in request.renewers]
        token = self._tokens.new(owner, requester, renewers, request.max_lifetime_ms)
        self._controller.commit((token,))
        times = (token.issue_timestamp, token.expiration_timestamp, token.max_timestamp)
        answer = _created(ErrorCode.NONE, owner, requester, call.version, times=times)
        return replace(answer, token_id=token.token_id, hmac=self._tokens.hmac_of(token.token_id))

    def _refused_creation(self, request: CreateDelegationTokenRequest, owner: str, session: Session) -> ErrorCode:
        if not self._may_ask(session):
            return ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
        is_own = owner == str(session.principal)
        if not is_own and not self._access.allows(session, AclOperation.CREATE_TOKENS, ResourceType.USER, owner):
            return ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
        if any(renewer.principal_type != _USER for renewer in request.renewers):
            return ErrorCode.INVALID_PRINCIPAL_TYPE
        return ErrorCode.NONE

    def _renew(self, request: RenewDelegationTokenRequest, call: Call) -> RenewDelegationTokenResponse:
        if not self._may_ask(call.session):
            return RenewDelegationTokenResponse(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, _NO_TIME)
        token = self._tokens.find(request.hmac)
        error = self._refused_change(token, call.session, expires=False)
        if token is None or error:
            return RenewDelegationTokenResponse(error)
        period = self._tokens.period_ms
        if request.renew_period_ms > 0:
            period = min(period, request.renew_period_ms)
        return RenewDelegationTokenResponse(expiry_timestamp_ms=self._move(token, period))

    def _expire(self, request: ExpireDelegationTokenRequest, call: Call) -> ExpireDelegationTokenResponse:
        if not self._may_ask(call.session):
            return ExpireDelegationTokenResponse(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, _NO_TIME)
        token = self._tokens.find(request.hmac)
        at_once = request.expiry_time_period_ms < 0
        error = self._refused_change(token, call.session, expires=at_once)
        if token is None or error:
            return ExpireDelegationTokenResponse(error)
        if at_once:
            self._controller.commit((RemoveDelegationTokenRecord(token.token_id),))
            return ExpireDelegationTokenResponse(expiry_timestamp_ms=self._clock.now_ms())
        return ExpireDelegationTokenResponse(expiry_timestamp_ms=self._move(token, request.expiry_time_period_ms))

    def _refused_change(self, token: DelegationTokenRecord | None, session: Session, *, expires: bool) -> ErrorCode:
        """Why a session may not change a token.

        Args:
            token: None if there is none.
            session: the client.
            expires: whether the token is removed at once, as it can be even if it has expired.
        """
        if not self._tokens.is_enabled:
            return ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
        if token is None:
            return ErrorCode.DELEGATION_TOKEN_NOT_FOUND
        if str(session.principal) not in (token.owner, *token.renewers):
            return ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
        has_expired = not expires and self._tokens.has_expired(token)
        return ErrorCode.DELEGATION_TOKEN_EXPIRED if has_expired else ErrorCode.NONE

    def _move(self, token: DelegationTokenRecord, period_ms: int) -> int:
        """Let a token expire after a period; returns when it does."""
        until = min(token.max_timestamp, self._clock.now_ms() + period_ms)
        self._controller.commit((replace(token, expiration_timestamp=until),))
        return until

    async def _describe(self, request: DescribeDelegationTokenRequest, call: Call) -> DescribeDelegationTokenResponse:
        if not self._may_ask(call.session):
            return DescribeDelegationTokenResponse(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
        if not self._tokens.is_enabled:
            return DescribeDelegationTokenResponse(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
        owners = None
        if request.owners is not None:
            owners = {f"{owner.principal_type}:{owner.principal_name}" for owner in request.owners}
        tokens = () if owners == set() else tuple(self._by_id.values())
        described = [
            self._described(token, call.version)
            async for token in in_slices(tokens)
            if self._may_see(token, owners, call.session)
        ]
        return DescribeDelegationTokenResponse(tokens=tuple(described))

    def _may_see(self, token: DelegationTokenRecord, owners: Set[str] | None, session: Session) -> bool:
        """Whether a token is wanted, and it is the session's, or the session may describe it or its owner's."""
        concerned = {token.owner, token.requester, *token.renewers}
        if owners is not None and not owners & concerned:
            return False
        return (
            str(session.principal) in concerned
            or self._access.allows(session, AclOperation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.token_id)
            or self._access.allows(session, AclOperation.DESCRIBE_TOKENS, ResourceType.USER, token.owner)
        )

    def _described(self, token: DelegationTokenRecord, version: int) -> _Described:
        owner, requester = _parts(token.owner), _parts(token.requester)
        return _Described(
            *owner,
            *(requester if version >= _REQUESTER_SINCE else ("", "")),
            token.issue_timestamp,
            token.expiration_timestamp,
            token.max_timestamp,
            token.token_id,
            self._tokens.hmac_of(token.token_id),
            tuple(_Renewer(*_parts(renewer)) for renewer in token.renewers),
        )

    def _may_ask(self, session: Session) -> bool:
        """Whether a session may send these requests: it has proven who it is, and not with a token."""
        protocol = self._cluster.endpoint(session.listener).security_protocol
        is_anonymous = protocol == _PLAINTEXT or (protocol == _SSL and session.principal == ANONYMOUS)
        return not (is_anonymous or session.has_token)


def _created(
    code: ErrorCode, owner: str, requester: str, version: int, *, times: tuple[int, int, int] = (0, 0, 0)
) -> CreateDelegationTokenResponse:
    """A response without a token; ``times`` are those of issue, expiry and the latest expiry."""
    asked_by = _parts(requester) if version >= _REQUESTER_SINCE else ("", "")
    return CreateDelegationTokenResponse(code, *_parts(owner), *asked_by, *times)


def _parts(principal: str) -> tuple[str, str]:
    kind, _, name = principal.partition(":")
    return kind, name
