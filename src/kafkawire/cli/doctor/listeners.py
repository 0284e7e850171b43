"""The checks of one listener: name, TCP, TLS, SASL and login, API versions. One that fails ends them."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from typing import Final

from kafkawire.admin import AdminSettings, OAuthBearerCredentials, ObservedRequest, PlainCredentials, Tls
from kafkawire.admin.client_properties import ClientArguments
from kafkawire.admin.connection.channel import Channel
from kafkawire.admin.connection.diagnosis import mechanisms_at, reason
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.admin.connection.sockets import Place, connected_socket, places_of
from kafkawire.cli.access.advice import in_words_of_the_command
from kafkawire.cli.doctor.certificates import Handshake, days_left, described, handshake, refused_certificate
from kafkawire.cli.doctor.checks import Check, CheckRow, CheckStatus
from kafkawire.model.nodes import Node
from kafkawire.wire.kafka_errors import ApiError, KafkaError

STEPS: Final = ("name", "tcp", "tls", "sasl", "login", "api versions")
"""In their order."""

_DAYS_TO_RENEW: Final = 30
_LOGIN: Final = frozenset({"SaslHandshake", "SaslAuthenticate"})


class ListenerChecks:
    """The checks of one listener.

    Args:
        node: where it is.
        given: the arguments of the client.
        seconds: that one step may take.

    Attributes:
        channel: the connection that was made; None if none was. The caller closes it.
    """

    def __init__(self, node: Node, given: ClientArguments, seconds: float) -> None:
        self._node = node
        self._given = given
        self._tls = given.tls
        self._credentials = given.credentials
        self._seconds = seconds
        self._places: Sequence[Place] = ()
        self._context: ssl.SSLContext | None = None
        self.channel: Channel | None = None
        self._failure: KafkaError | None = None

    async def rows(self) -> AsyncIterator[CheckRow]:
        """What each step finds, in order; steps after one that failed are skipped."""
        failed_step = None
        checks = (self._name, self._tcp, self._handshake, self._sasl, self._login, self._versions)
        for step, check in zip(STEPS, checks, strict=True):
            begun = Check(step, self._node.address)
            if failed_step is not None:
                yield begun.skipped(f"{failed_step} failed")
                continue
            row = await check(begun)
            if row.status is CheckStatus.FAILED:
                failed_step = step
            yield row

    async def _name(self, check: Check) -> CheckRow:
        try:
            async with asyncio.timeout(self._seconds):
                self._places = await places_of(self._node.host, self._node.port)
        except TimeoutError:
            return check.failed(
                "the name server did not answer", "see whether this machine has a network and a resolver"
            )
        except (OSError, UnicodeError) as error:
            return check.failed(reason(error), "correct the name, or add it to DNS or to the file of hosts")
        return check.ok(", ".join(map(str, self._places)))

    async def _tcp(self, check: Check) -> CheckRow:
        failures: dict[Place, str] = {}
        for place in self._places:
            try:
                async with asyncio.timeout(self._seconds):
                    (await connected_socket(place)).close()
            except OSError as error:
                silent = isinstance(error, TimeoutError) and not error.errno
                failures[place] = "no answer" if silent else reason(error)
        said = "; ".join(f"{place}: {failures.get(place, 'connected')}" for place in self._places)
        self._places = [place for place in self._places if place not in failures]
        if not self._places:
            refused = all("refused" in each for each in failures.values())
            advice = "see whether the broker runs and listens on this port" if refused else "see firewalls and routes"
            return check.failed(said, advice)
        if failures:
            return check.warning(
                said, "remove the addresses that do not answer from DNS, or have the broker listen there"
            )
        return check.ok(said)

    async def _handshake(self, check: Check) -> CheckRow:
        if self._tls is None:
            return check.skipped("the settings want no TLS")
        place, host = self._places[0], self._node.host
        try:
            self._context = self._tls.context() if isinstance(self._tls, Tls) else self._tls
            async with asyncio.timeout(self._seconds):
                spoken = await handshake(place, self._context, host)
        except TimeoutError:
            return check.failed("no answer in the TLS handshake", "see whether this port is one of a listener with TLS")
        except ssl.SSLCertVerificationError as error:
            found = await refused_certificate(place, host)
            said, _, advice = in_words_of_the_command(reason(error)).rpartition("; ")
            return check.failed(f"{said}; {described(found)}" if found else said, advice)
        except ValueError as error:
            return check.failed(str(error), "correct the ssl. properties")
        except OSError as error:
            advice = "take the port of a listener with TLS, and see its ssl. properties at the broker"
            return check.failed(in_words_of_the_command(reason(error)), advice)
        return _of_certificate(check, spoken)

    async def _sasl(self, check: Check) -> CheckRow:
        offered = await mechanisms_at(self._places[0], self._context, self._node.host)
        said = f"the listener has {', '.join(offered)}"
        if self._credentials is None:
            if offered:
                advice = "set security.protocol, sasl.mechanism and a login, in properties or in a context"
                return check.failed(f"{said}, and the settings have no login", advice)
            return check.skipped("the settings want no login")
        mechanism = getattr(self._credentials, "mechanism", None)
        if offered and mechanism is not None and mechanism not in offered:
            return check.failed(f"{said}, and not {mechanism}", "change sasl.mechanism to one that it has")
        if self._tls is None and isinstance(self._credentials, (PlainCredentials, OAuthBearerCredentials)):
            return check.warning(
                f"{mechanism} without TLS: the network sees the secret", "use a listener with SASL_SSL"
            )
        return check.ok(f"{said}; {mechanism} is used" if offered else f"{mechanism} is used")

    async def _login(self, check: Check) -> CheckRow:
        """Make the connection; whether it has versions is the next step."""
        seen: list[ObservedRequest] = []
        try:
            self.channel = await connected(self._node, self._given, self._context, self._seconds, seen)
        except KafkaError as error:
            if isinstance(error, ApiError) and any(each.api in _LOGIN for each in seen):
                advice = "correct the user name or the secret; the broker keeps users for each mechanism"
                return check.failed(f"{error.NAME}: {error}", advice)
            self._failure = error
        if self._credentials is None:
            return check.skipped("the settings want no login")
        if self._failure is not None:
            return check.skipped("the connection ended before it")
        return check.ok(f"the broker accepts it after {sum(each.seconds for each in seen if each.api in _LOGIN):.3f} s")

    async def _versions(self, check: Check) -> CheckRow:
        if self.channel is None:
            said = in_words_of_the_command(str(self._failure))
            return check.failed(said, "see whether this is a listener of Kafka, and the log of the broker")
        count = len(self.channel.versions.ranges)
        return check.ok(f"{count} APIs")


async def connected(
    node: Node, given: ClientArguments, context: ssl.SSLContext | None, seconds: float, seen: list[ObservedRequest]
) -> Channel:
    """A connection to a node, logged in; the requests for it are added to what was seen.

    Raises:
        KafkaError: it cannot be made.
    """
    client_id = (given.settings or AdminSettings()).client_id
    settings = ConnectionSettings(client_id=client_id, setup_timeout=seconds).expecting(node)
    deadline = asyncio.get_running_loop().time() + seconds
    return await Channel.connect(
        node.host, node.port, settings, given.credentials, context, deadline=deadline, observer=seen.append
    )


def _of_certificate(check: Check, spoken: Handshake) -> CheckRow:
    said = f"{spoken.version}, {spoken.cipher}"
    if not spoken.certificate:
        return check.warning(f"{said}; the certificate is not verified", "verify it: ssl.truststore.location")
    said = f"{said}; {described(spoken.certificate)}"
    days = days_left(spoken.certificate)
    if days is not None and days < _DAYS_TO_RENEW:
        return check.warning(said, "renew the certificate at the broker")
    return check.ok(said)
