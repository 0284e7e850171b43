"""DescribeUserScramCredentials and AlterUserScramCredentials (KIP-554)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, TypeAlias

from kafkawire.broker.controller import TooManyRecordsError
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.model.scram import MAXIMUM_ITERATIONS, MINIMUM_ITERATIONS, ScramMechanism, derived_keys
from kafkawire.protocol import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    DuplicateResourceError,
    ResourceNotFoundError,
    UnacceptableCredentialError,
    UnknownServerError,
    UnsupportedSaslMechanismError,
    UnsupportedVersionError,
)
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import ApiError

_SCRAM_SINCE: Final = 11
"""The level of ``metadata.version`` from which on the log has records of credentials, 3.5-IV2."""

_Deletion: TypeAlias = AlterUserScramCredentialsRequest.ScramCredentialDeletion
_Upsertion: TypeAlias = AlterUserScramCredentialsRequest.ScramCredentialUpsertion
_Altered: TypeAlias = AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult
_Described: TypeAlias = DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult


class ScramHandlers:
    """Describe and alter SCRAM credentials (C27 to C30); descriptions contain neither salts nor keys."""

    def __init__(self, context: HandlerContext) -> None:
        self._controller = context.controller
        self._credentials = context.controller.image.scram.by_user
        self._access = context.access
        self.apis = (
            ServedApi(DescribeUserScramCredentialsRequest, self._describe, 0, 0),
            ServedApi(AlterUserScramCredentialsRequest, self._alter, 0, 0),
        )

    async def _describe(self, request: DescribeUserScramCredentialsRequest, call: Call) -> Message | Refused:
        if not self._access.allows_on_cluster(call.session, AclOperation.DESCRIBE):
            return DescribeUserScramCredentialsResponse(
                error_code=ClusterAuthorizationFailedError.code, error_message=None
            )
        asked = Counter(user.name for user in request.users or ())
        if not asked:
            users = in_slices(tuple(self._credentials))
            return DescribeUserScramCredentialsResponse(results=tuple([self._described(user) async for user in users]))
        results = [
            self._described(user) if times == 1 else _twice(user) async for user, times in in_slices(asked.items())
        ]
        return DescribeUserScramCredentialsResponse(results=tuple(results))

    def _described(self, user: str) -> _Described:
        known = self._credentials.get(user)
        if known is None:
            reason = f"Attempt to describe a user credential that does not exist: {user}"
            return _Described(user, ResourceNotFoundError.code, reason)
        info = DescribeUserScramCredentialsResponse.CredentialInfo
        return _Described(
            user, credential_infos=tuple(info(mechanism, one.iterations) for mechanism, one in sorted(known.items()))
        )

    async def _alter(self, request: AlterUserScramCredentialsRequest, call: Call) -> Message | Refused:
        if not self._access.allows_on_cluster(call.session, AclOperation.ALTER):
            reason = "Cluster authorization failed."
            return Refused(ClusterAuthorizationFailedError.code, reason)
        alterations: list[_Deletion | _Upsertion] = [*request.deletions, *request.upsertions]
        try:
            async with self._controller.turn:
                errors = await self._errors(alterations)
                good = [one for one in alterations if errors[one.name] is None]
                self._controller.commit([_record(one) async for one in in_slices(good)])
        except TooManyRecordsError:
            return Refused(UnknownServerError.code)
        results = [
            _Altered(user, error.code, error.message or None) if error else _Altered(user, error_message=None)
            async for user, error in in_slices(errors.items())
        ]
        return AlterUserScramCredentialsResponse(results=tuple(results))

    async def _errors(self, alterations: Iterable[_Deletion | _Upsertion]) -> dict[str, ApiError | None]:
        """Why users' alterations are refused; None for those that are not. A user may be altered once (C29)."""
        errors: dict[str, ApiError | None] = {}
        async for alteration in in_slices(alterations):
            user = alteration.name
            if user not in errors:
                errors[user] = self._error(alteration)
            elif errors[user] is None:
                errors[user] = DuplicateResourceError("A user credential cannot be altered twice in the same request")
        return errors

    def _error(self, alteration: _Deletion | _Upsertion) -> ApiError | None:
        if self._controller.image.features.levels.get("metadata.version", _SCRAM_SINCE) < _SCRAM_SINCE:
            return UnsupportedVersionError("The current metadata version does not support SCRAM")
        if not alteration.name:
            return UnacceptableCredentialError("Username must not be empty")
        if ScramMechanism(alteration.mechanism).is_unknown:
            return UnsupportedSaslMechanismError("Unknown SCRAM mechanism")
        if isinstance(alteration, _Upsertion):
            return _error_of_upsertion(alteration)
        if alteration.mechanism not in self._credentials.get(alteration.name, ()):
            return ResourceNotFoundError("Attempt to delete a user credential that does not exist")
        return None


def _error_of_upsertion(upsertion: _Upsertion) -> ApiError | None:
    if upsertion.iterations < MINIMUM_ITERATIONS:
        return UnacceptableCredentialError("Too few iterations")
    if upsertion.iterations > MAXIMUM_ITERATIONS:
        return UnacceptableCredentialError("Too many iterations")
    if not upsertion.salted_password:
        return UnknownServerError()
    return None


def _record(alteration: _Deletion | _Upsertion) -> Message:
    if isinstance(alteration, _Deletion):
        return RemoveUserScramCredentialRecord(alteration.name, alteration.mechanism)
    stored_key, server_key = derived_keys(ScramMechanism(alteration.mechanism), alteration.salted_password)
    return UserScramCredentialRecord(
        name=alteration.name,
        mechanism=alteration.mechanism,
        salt=alteration.salt,
        stored_key=stored_key,
        server_key=server_key,
        iterations=alteration.iterations,
    )


def _twice(user: str) -> _Described:
    reason = f"Cannot describe SCRAM credentials for the same user twice in a single request: {user}"
    return _Described(user, DuplicateResourceError.code, reason)
