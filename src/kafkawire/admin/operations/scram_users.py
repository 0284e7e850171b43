"""SCRAM credentials of users: describe and alter (admin-scram, KIP-554)."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, Progress, Request, TotalProgress, failure
from kafkawire.admin.engine.route import CONTROLLER
from kafkawire.admin.engine.wanted import Wanted
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.record_limit import MAXIMUM_RECORDS
from kafkawire.admin.results import Results
from kafkawire.model.scram import (
    ScramAlteration,
    ScramCredentialInfo,
    ScramMechanism,
    ScramUpsertion,
    UserMechanism,
    refusal_of_alteration,
    salted,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import DuplicateResourceError
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError, OperationTimeoutError

Infos = tuple[ScramCredentialInfo, ...]
AllInfos = Mapping[str, Infos | KafkaError]
Salted = tuple[bytes, bytes]


class DescribeScramCredentials(Operation[str, Infos, "protocol.DescribeUserScramCredentialsResponse"]):
    """The credentials of given users."""

    name = "describe_user_scram_credentials"
    api = ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS
    batch = MAXIMUM_RECORDS

    def build(self, request: Request[str]) -> Message:
        message = protocol.DescribeUserScramCredentialsRequest
        return message(users=tuple(message.UserName(user) for user in request.items))

    def read(
        self, request: Request[str], response: protocol.DescribeUserScramCredentialsResponse
    ) -> Outcomes[str, Infos]:
        return _described(response)


class DescribeAllScramCredentials(Operation[None, AllInfos, "protocol.DescribeUserScramCredentialsResponse"]):
    """The credentials of all users. Kafka 4.3.1 never answers a client without the right."""

    name = "describe_user_scram_credentials"
    api = ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS

    def build(self, request: Request[None]) -> Message:
        return protocol.DescribeUserScramCredentialsRequest(users=None)

    def read(
        self, request: Request[None], response: protocol.DescribeUserScramCredentialsResponse
    ) -> Outcomes[None, AllInfos]:
        return {None: _described(response)}


def _described(response: protocol.DescribeUserScramCredentialsResponse) -> AllInfos:
    return {
        result.user: failure(result.error_code, result.error_message)
        or tuple(
            ScramCredentialInfo(ScramMechanism(info.mechanism), info.iterations)
            for info in sorted(result.credential_infos, key=lambda info: info.mechanism)
        )
        for result in response.results
    }


class AlterScramCredentials(Operation[UserMechanism, None, "protocol.AlterUserScramCredentialsResponse"]):
    """At most one alteration for each user, since results name only the user (C29, C30)."""

    name = "alter_user_scram_credentials"
    api = ApiKey.ALTER_USER_SCRAM_CREDENTIALS
    route = CONTROLLER
    mutates = True
    batch = MAXIMUM_RECORDS

    def __init__(
        self,
        alterations: Mapping[UserMechanism, ScramAlteration],
        refusals: Mapping[UserMechanism, KafkaError],
        salted_passwords: Mapping[UserMechanism, Salted],
    ) -> None:
        self._alterations = alterations
        self._refusals = refusals
        self._salted_passwords = salted_passwords

    def validate(self, item: UserMechanism) -> KafkaError | None:
        if item in self._refusals:
            return self._refusals[item]
        if isinstance(self._alterations[item], ScramUpsertion) and item not in self._salted_passwords:
            return OperationTimeoutError(self.name, "its password was not yet salted")
        return None

    def build(self, request: Request[UserMechanism]) -> Message:
        message = protocol.AlterUserScramCredentialsRequest
        return message(
            deletions=tuple(
                message.ScramCredentialDeletion(*item) for item in request.items if item not in self._salted_passwords
            ),
            upsertions=tuple(self._upsertion(item) for item in request.items if item in self._salted_passwords),
        )

    def read(
        self, request: Request[UserMechanism], response: protocol.AlterUserScramCredentialsResponse
    ) -> Outcomes[UserMechanism, None]:
        mechanisms = dict(request.items)
        return {
            (result.user, mechanisms[result.user]): failure(result.error_code, result.error_message)
            for result in response.results
            if result.user in mechanisms
        }

    def _upsertion(self, item: UserMechanism) -> protocol.AlterUserScramCredentialsRequest.ScramCredentialUpsertion:
        alteration = self._alterations[item]
        iterations = alteration.iterations if isinstance(alteration, ScramUpsertion) else 0
        return protocol.AlterUserScramCredentialsRequest.ScramCredentialUpsertion(
            *item, iterations, *self._salted_passwords[item]
        )


class ScramOperations(OperationFamily):
    """SCRAM credentials of users."""

    @needs(DescribeScramCredentials, rights="DESCRIBE CLUSTER")
    async def describe_user_scram_credentials(
        self, users: Iterable[str] | None = None, *, timeout: float | None = None, progress: Progress | None = None
    ) -> Results[str, tuple[ScramCredentialInfo, ...]]:
        """Which credentials users have.

        Args:
            users: names; None for all users that have one. Kafka 4.3.1 leaves a client without the right to describe
                the cluster without any answer to that: its call ends with the timeout.
            timeout, progress: see `AdminClient`.

        Returns:
            User to the credentials, by mechanism, or to what went wrong: `ResourceNotFoundError` (there is none),
            `ClusterAuthorizationFailedError` ...

        Raises:
            KafkaError: if ``users`` is None and no broker answers.

        Example:
            ```python
            for user, credentials in (await admin.describe_user_scram_credentials()).all().items():
                for credential in credentials:
                    print(user, credential.mechanism, credential.iterations)
            ```
        """
        if users is not None:
            return await self._each(DescribeScramCredentials(), users, timeout, progress)
        found = Results(await self._only(DescribeAllScramCredentials(), None, timeout))
        if progress is not None:
            progress(len(found), len(found))
        return found

    @needs(AlterScramCredentials, rights="ALTER CLUSTER")
    async def alter_user_scram_credentials(
        self,
        alterations: Iterable[ScramAlteration],
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[UserMechanism, None]:
        """Set and delete passwords of any number of users, for any of the mechanisms.

        Brokers take one alteration of a user in a request. Further mechanisms of a user follow in further requests,
        so that one of them may fail although another is done.

        Args:
            alterations: `ScramUpsertion` and `ScramDeletion`. The client salts passwords, on all processors and
                outside of the event loop.
            timeout, progress: see `AdminClient`. The time includes salting.

        Returns:
            User and mechanism to None, or to what went wrong: `UnacceptableCredentialError`,
            `UnsupportedSaslMechanismError`, `ResourceNotFoundError` (nothing to delete), `DuplicateResourceError` (two
            different alterations of one credential) ...

        Example:
            ```python
            import secrets

            password = secrets.token_urlsafe(24)
            results = await admin.alter_user_scram_credentials(
                [ScramUpsertion("reports", "SCRAM-SHA-512", password), ScramDeletion("billing", "SCRAM-SHA-256")]
            )
            for (user, mechanism), error in results.errors().items():
                print(user, mechanism, error)
            ```
        """
        deadline = self._deadline(timeout)
        wanted = Wanted(alterations, _credential_of, _joined)
        refusals = {**wanted.refused, **_refusals(wanted.values)}
        items = dict.fromkeys(wanted.items)
        total = TotalProgress(progress, len(items))
        outcomes: dict[UserMechanism, KafkaError | None] = {}
        salted_passwords = await _salted_until(deadline, wanted.values, refusals)
        operation = AlterScramCredentials(wanted.values, refusals, salted_passwords)
        for one_of_each_user in _rounds(items):
            results = await self._until(deadline, operation, one_of_each_user, total.one_more)
            outcomes.update(results.items())
        return Results(outcomes, wanted.items)


def _credential_of(alteration: ScramAlteration) -> UserMechanism:
    return alteration.user, alteration.mechanism


def _joined(one: ScramAlteration, other: ScramAlteration) -> ScramAlteration | KafkaError:
    if one == other:
        return one
    return DuplicateResourceError("two different alterations of one credential: give one")


def _refusals(alterations: Mapping[UserMechanism, ScramAlteration]) -> dict[UserMechanism, KafkaError]:
    """The errors of alterations that are invalid without asking a broker."""
    found = ((item, refusal_of_alteration(alteration)) for item, alteration in alterations.items())
    return {item: refusal for item, refusal in found if refusal is not None}


async def _salted_until(
    deadline: float, wanted: Mapping[UserMechanism, ScramAlteration], refused: Mapping[UserMechanism, KafkaError]
) -> dict[UserMechanism, Salted]:
    """Salts and salted passwords, as many as are ready at the deadline.

    Hashing releases the interpreter's lock. The event loop's own threads are left alone: they look up host names.
    """
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 slow to import, and few need it

    loop = asyncio.get_running_loop()
    upsertions = {
        item: alteration
        for item, alteration in wanted.items()
        if isinstance(alteration, ScramUpsertion) and item not in refused
    }
    ready: dict[UserMechanism, Salted] = {}
    threads = ThreadPoolExecutor(os.cpu_count() or 1, "kafkawire salts passwords")
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(deadline):
                running = {item: loop.run_in_executor(threads, salted, one) for item, one in upsertions.items()}
                for item, hashing in running.items():
                    ready[item] = await hashing
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
    return ready


def _rounds(items: Iterable[UserMechanism]) -> Iterable[Sequence[UserMechanism]]:
    """The first item of each user, then the second of each ... (C29)."""
    rounds: defaultdict[int, list[UserMechanism]] = defaultdict(list)
    items_of_user: Counter[str] = Counter()
    for item in items:
        user, _ = item
        rounds[items_of_user[user]].append(item)
        items_of_user[user] += 1
    return rounds.values()
