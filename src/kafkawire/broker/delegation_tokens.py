"""Delegation tokens: they are made, found and expire here (KIP-48, KIP-373, KIP-900)."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from base64 import b64encode
from collections.abc import Sequence
from typing import Final

from kafkawire.broker.clock import Clock
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.controller import MAXIMUM_RECORDS, Controller
from kafkawire.broker.image.scram_users import JAVA_SALT_BITS, base_36
from kafkawire.broker.storage.errors import StorageError
from kafkawire.layout.uuid import Uuid
from kafkawire.model.scram import MINIMUM_ITERATIONS, ScramMechanism, ScramUpsertion, derived_keys, salted
from kafkawire.protocol import DelegationTokenRecord, RemoveDelegationTokenRecord, UserScramCredentialRecord
from kafkawire.protocol.errors import PolicyViolationError
from kafkawire.wire import Message
from kafkawire.wire.message import Struct

_KEY: Final = "delegation.token.secret.key"
_INTERVAL: Final = "delegation.token.expiry.check.interval.ms"
_MOST_TOKENS: Final = 100_000
_MOST_CHARACTERS: Final = 16 * 1024 * 1024
_LAST_TIMESTAMP: Final = (1 << 63) - 1


class TokenLogin(Struct, frozen=True, gc=False):
    """How a client logs in with a token.

    Attributes:
        credential: for the id of the token as the user, and its HMAC in base 64 as the password.
        owner: the name of the user that the client is after the login.
        lifetime_ms: milliseconds after which the token expires.
    """

    credential: UserScramCredentialRecord
    owner: str
    lifetime_ms: int


class DelegationTokens:
    """The delegation tokens of a cluster. Without ``delegation.token.secret.key`` there are none.

    ``repr`` contains neither the key nor an HMAC.

    Args:
        configuration: the broker's.
        controller: has the tokens, and commits what changes them.
        clock: the broker's.

    Attributes:
        is_enabled: whether there is a key.
        period_ms: for how long a token is valid unless it is renewed (``delegation.token.expiry.time.ms``).
        lifetime_ms: for how long it can be renewed (``delegation.token.max.lifetime.ms``).
    """

    def __init__(self, configuration: BrokerConfiguration, controller: Controller, clock: Clock) -> None:
        self.is_enabled = bool(configuration.text(_KEY))
        self.period_ms = configuration.integer("delegation.token.expiry.time.ms")
        self.lifetime_ms = configuration.integer("delegation.token.max.lifetime.ms")
        self._key = configuration.text(_KEY).encode()
        self._interval_ms = configuration.integer(_INTERVAL)
        self._controller = controller
        self._by_id = controller.image.tokens.by_id
        self._clock = clock
        self._ids: dict[bytes, str] = {}
        self._credentials: dict[tuple[str, ScramMechanism], UserScramCredentialRecord] = {}
        self._task: asyncio.Task[None] | None = None
        if self.is_enabled:
            self._ids = {self.hmac_of(token_id): token_id for token_id in self._by_id}
            controller.subscribe(self._note)

    def hmac_of(self, token_id: str) -> bytes:
        """The secret of a token, which names it in requests."""
        return hmac.digest(self._key, token_id.encode(), "sha512")

    def find(self, secret: bytes) -> DelegationTokenRecord | None:
        """The token with an HMAC; None if there is none."""
        token_id = self._ids.get(bytes(secret))
        return None if token_id is None else self._by_id.get(token_id)

    def has_expired(self, token: DelegationTokenRecord) -> bool:
        """Whether it is too late to use or renew a token."""
        return min(token.max_timestamp, token.expiration_timestamp) < self._clock.now_ms()

    def new(self, owner: str, requester: str, renewers: Sequence[str], lifetime_ms: int) -> DelegationTokenRecord:
        """A new token, which is not committed yet.

        Args:
            owner, requester, renewers: principals, ``User:alice``.
            lifetime_ms: for how long it can be renewed; the broker's maximum if it is longer, or not above 0.

        Raises:
            PolicyViolationError: there are too many tokens, or they have too many renewers.
        """
        image = self._controller.image.tokens
        size = image.size + sum(map(len, (owner, requester, *renewers)))
        if len(image.by_id) >= _MOST_TOKENS or size > _MOST_CHARACTERS:
            raise PolicyViolationError("This broker keeps no more delegation tokens: expire some that are not needed.")
        now = self._clock.now_ms()
        lifetime = min(self.lifetime_ms, lifetime_ms) if lifetime_ms > 0 else self.lifetime_ms
        latest = min(now + lifetime, _LAST_TIMESTAMP)
        until = min(latest, now + self.period_ms)
        return DelegationTokenRecord(owner, requester, tuple(renewers), now, latest, until, str(Uuid.random()))

    def login(self, mechanism: ScramMechanism, token_id: str) -> TokenLogin | None:
        """How to log in with a token; None if it does not exist or has expired.

        The first login with a token takes some milliseconds.
        """
        token = self._by_id.get(token_id) if self.is_enabled else None
        if token is None or self.has_expired(token):
            return None
        credential = self._credentials.get((token_id, mechanism))
        if credential is None:
            credential = self._credentials[token_id, mechanism] = self._credential(token_id, mechanism)
        until = min(token.expiration_timestamp, token.max_timestamp)
        return TokenLogin(credential, token.owner.partition(":")[2], until - self._clock.now_ms())

    def begin(self) -> None:
        """Remove expired tokens from now on, at the intervals of the broker's configuration."""
        if self.is_enabled:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def end(self) -> None:
        """Remove no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))

    async def _run(self) -> None:
        while True:
            await self._clock.sleep(self._interval_ms / 1000)
            expired = [token.token_id for token in self._by_id.values() if self.has_expired(token)]
            try:
                self._controller.commit([RemoveDelegationTokenRecord(one) for one in expired[:MAXIMUM_RECORDS]])
            except StorageError:
                return  # the broker halts, and logs the error once

    def _note(self, record: Message) -> None:
        if isinstance(record, DelegationTokenRecord):
            self._ids[self.hmac_of(record.token_id)] = record.token_id
        elif isinstance(record, RemoveDelegationTokenRecord):
            self._ids.pop(self.hmac_of(record.token_id), None)
            for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
                self._credentials.pop((record.token_id, mechanism), None)

    def _credential(self, token_id: str, mechanism: ScramMechanism) -> UserScramCredentialRecord:
        password = b64encode(self.hmac_of(token_id))
        salt = base_36(secrets.randbits(JAVA_SALT_BITS))
        salt, hashed = salted(ScramUpsertion(token_id, mechanism, password, MINIMUM_ITERATIONS, salt))
        stored_key, server_key = derived_keys(mechanism, hashed)
        return UserScramCredentialRecord(token_id, mechanism, salt, stored_key, server_key, MINIMUM_ITERATIONS)
