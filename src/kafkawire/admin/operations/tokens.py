"""Delegation tokens: create, renew, expire, describe (admin-tokens)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, R, Request, V
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.first_versions import first_version
from kafkawire.admin.needs import needs
from kafkawire.admin.tokens import DelegationToken, principal_parts, token_error
from kafkawire.protocol.api_table import ApiKey
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError

_DEFAULT = -1
"""The lifetime or period of the broker's settings; as the period of an expiry: at once."""


class _TokenOperation(Operation[None, V, R]):
    """Explains the errors of tokens, for which brokers send no message."""

    def error(self, code: int, message: str | None) -> KafkaError:
        return token_error(code)


class CreateDelegationToken(_TokenOperation[DelegationToken, "protocol.CreateDelegationTokenResponse"]):
    """KIP-48, KIP-373 (for another owner)."""

    name = "create_delegation_token"
    api = ApiKey.CREATE_DELEGATION_TOKEN
    mutates = True

    def __init__(self, owner: str | None, renewers: tuple[str, ...], max_lifetime_ms: int | None) -> None:
        self._owner: tuple[str | None, str | None] = (None, None) if owner is None else principal_parts(owner)
        self._renewers = renewers
        self._creatable_renewers = tuple(map(principal_parts, renewers))
        self._max_lifetime_ms = _DEFAULT if max_lifetime_ms is None else max_lifetime_ms
        self.needs = () if owner is None else ("owner_principal_name",)

    def build(self, request: Request[None]) -> Message:
        message = protocol.CreateDelegationTokenRequest
        renewers = tuple(message.CreatableRenewers(*renewer) for renewer in self._creatable_renewers)
        if request.version < first_version(message, "owner_principal_name"):
            return message(renewers=renewers, max_lifetime_ms=self._max_lifetime_ms)
        owner_type, owner_name = self._owner
        return message(owner_type, owner_name, renewers, self._max_lifetime_ms)

    def read(
        self, request: Request[None], response: protocol.CreateDelegationTokenResponse
    ) -> Outcomes[None, DelegationToken]:
        return {
            None: DelegationToken(
                token_id=response.token_id,
                hmac=response.hmac,
                owner=f"{response.principal_type}:{response.principal_name}",
                requester=_principal(response.token_requester_principal_type, response.token_requester_principal_name),
                renewers=self._renewers,
                issue_timestamp_ms=response.issue_timestamp_ms,
                expiry_timestamp_ms=response.expiry_timestamp_ms,
                max_timestamp_ms=response.max_timestamp_ms,
            )
        }


_Moved: TypeAlias = "protocol.RenewDelegationTokenResponse | protocol.ExpireDelegationTokenResponse"


class _MoveExpiry(_TokenOperation[int, _Moved]):
    """KIP-48: changes when a token expires."""

    mutates = True

    def __init__(self, hmac: bytes, period_ms: int | None) -> None:
        self._hmac = hmac
        self._period_ms = _DEFAULT if period_ms is None else period_ms

    def read(self, request: Request[None], response: _Moved) -> Outcomes[None, int]:
        return {None: response.expiry_timestamp_ms}


class RenewDelegationToken(_MoveExpiry):
    """Makes a token valid for longer."""

    name = "renew_delegation_token"
    api = ApiKey.RENEW_DELEGATION_TOKEN

    def build(self, request: Request[None]) -> Message:
        return protocol.RenewDelegationTokenRequest(self._hmac, self._period_ms)


class ExpireDelegationToken(_MoveExpiry):
    """Makes a token invalid, at once or soon."""

    name = "expire_delegation_token"
    api = ApiKey.EXPIRE_DELEGATION_TOKEN

    def build(self, request: Request[None]) -> Message:
        return protocol.ExpireDelegationTokenRequest(self._hmac, self._period_ms)


class DescribeDelegationToken(_TokenOperation[tuple[DelegationToken, ...], "protocol.DescribeDelegationTokenResponse"]):
    """KIP-48."""

    name = "describe_delegation_token"
    api = ApiKey.DESCRIBE_DELEGATION_TOKEN

    def __init__(self, owners: Iterable[str] | None) -> None:
        self._owners = None if owners is None else tuple(map(principal_parts, owners))

    def build(self, request: Request[None]) -> Message:
        message = protocol.DescribeDelegationTokenRequest
        if self._owners is None:
            return message(owners=None)
        return message(owners=tuple(message.DescribeDelegationTokenOwner(*owner) for owner in self._owners))

    def read(
        self, request: Request[None], response: protocol.DescribeDelegationTokenResponse
    ) -> Outcomes[None, tuple[DelegationToken, ...]]:
        return {None: tuple(map(_described, response.tokens))}


def _described(token: protocol.DescribeDelegationTokenResponse.DescribedDelegationToken) -> DelegationToken:
    return DelegationToken(
        token_id=token.token_id,
        hmac=token.hmac,
        owner=f"{token.principal_type}:{token.principal_name}",
        requester=_principal(token.token_requester_principal_type, token.token_requester_principal_name),
        renewers=tuple(f"{renewer.principal_type}:{renewer.principal_name}" for renewer in token.renewers),
        issue_timestamp_ms=token.issue_timestamp,
        expiry_timestamp_ms=token.expiry_timestamp,
        max_timestamp_ms=token.max_timestamp,
    )


def _principal(kind: str, name: str) -> str | None:
    return f"{kind}:{name}" if kind else None


class TokenOperations(OperationFamily):
    """Delegation tokens. These methods need a connection that is authenticated, by SASL or by mutual TLS."""

    @needs(CreateDelegationToken)
    async def create_delegation_token(
        self,
        *,
        owner: str | None = None,
        renewers: Iterable[str] = (),
        max_lifetime_ms: int | None = None,
        timeout: float | None = None,
    ) -> DelegationToken:
        """Create a token. The brokers may accept it only after a moment.

        Args:
            owner: the owner of the token, ``User:alice``; None for the caller. Another's needs brokers of 3.3
                or newer and the right CREATE_TOKENS on that user.
            renewers: who else may renew it, ``User:bob`` ...
            max_lifetime_ms: its maximum lifetime; None for the brokers' setting.
            timeout: see `AdminClient`.

        Raises:
            DelegationTokenRequestNotAllowedError: if the connection is not authenticated: it needs SASL, or TLS with a
                certificate of the client; a login by a token does not count.
            DelegationTokenAuthDisabledError: if the brokers have no secret to make tokens with.
            DelegationTokenAuthorizationFailedError: if the caller may not make one for the owner.
            InvalidPrincipalTypeError: for a principal that is not written as ``User:name``.

        Example:
            ```python
            token = await admin.create_delegation_token(renewers=["User:scheduler"], max_lifetime_ms=86_400_000)
            print(token.token_id, "of", token.owner, "expires at", token.expiry_timestamp_ms)
            job = AdminClient("localhost:9092", credentials=token.credentials())  # for a program without a password
            await job.close()
            ```
        """
        return await self._only(CreateDelegationToken(owner, tuple(renewers), max_lifetime_ms), None, timeout)

    @needs(RenewDelegationToken)
    async def renew_delegation_token(
        self, hmac: bytes, *, renew_period_ms: int | None = None, timeout: float | None = None
    ) -> int:
        """Renew a token, at most until its maximum lifetime.

        Args:
            hmac: of the token.
            renew_period_ms: the period from now; None for the brokers' setting.
            timeout: see `AdminClient`.

        Returns:
            The new time of expiry, in milliseconds since 1970.

        Raises:
            DelegationTokenNotFoundError: if no token has the HMAC.
            DelegationTokenExpiredError: if it is too late.
            DelegationTokenOwnerMismatchError: if the caller is neither its owner nor a renewer.
            DelegationTokenRequestNotAllowedError, DelegationTokenAuthDisabledError: as `create_delegation_token`.

        Example:
            ```python
            from datetime import UTC, datetime

            for token in await admin.describe_delegation_token():
                until_ms = await admin.renew_delegation_token(token.hmac, renew_period_ms=3_600_000)
                print(token.token_id, "is valid until", datetime.fromtimestamp(until_ms / 1000, UTC))
            ```
        """
        return await self._only(RenewDelegationToken(hmac, renew_period_ms), None, timeout)

    @needs(ExpireDelegationToken)
    async def expire_delegation_token(
        self, hmac: bytes, *, expiry_period_ms: int | None = None, timeout: float | None = None
    ) -> int:
        """Expire a token.

        Args:
            hmac: of the token.
            expiry_period_ms: the period from now; None to delete it at once.
            timeout: see `AdminClient`.

        Returns:
            The new time of expiry, in milliseconds since 1970.

        Raises:
            DelegationTokenNotFoundError, DelegationTokenExpiredError, DelegationTokenOwnerMismatchError,
            DelegationTokenRequestNotAllowedError, DelegationTokenAuthDisabledError: as `renew_delegation_token`.

        Example:
            ```python
            for token in await admin.describe_delegation_token(owners=["User:admin"]):
                await admin.expire_delegation_token(token.hmac)  # at once: no login with it succeeds any more
            ```
        """
        return await self._only(ExpireDelegationToken(hmac, expiry_period_ms), None, timeout)

    @needs(DescribeDelegationToken)
    async def describe_delegation_token(
        self, owners: Iterable[str] | None = None, *, timeout: float | None = None
    ) -> tuple[DelegationToken, ...]:
        """The tokens that the caller owns, may renew or may describe.

        Args:
            owners: whose, ``User:alice`` ...; None for all.
            timeout: see `AdminClient`.

        Raises:
            DelegationTokenRequestNotAllowedError, DelegationTokenAuthDisabledError: as `create_delegation_token`.
            InvalidPrincipalTypeError: for a principal that is not written as ``User:name``.

        Example:
            ```python
            for token in await admin.describe_delegation_token():
                print(token.token_id, token.owner, token.renewers, token.expiry_timestamp_ms)
            ```
        """
        return await self._only(DescribeDelegationToken(owners), None, timeout)
