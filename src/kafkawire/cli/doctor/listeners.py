"""The checks of one listener: name, TCP, TLS, certificates, SASL and login, API versions. One that fails ends them."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from typing import Final

from kafkawire.admin import AdminSettings, OAuthBearerCredentials, ObservedRequest, PlainCredentials, Tls
from kafkawire.admin.client_properties import ClientArguments
from kafkawire.admin.connection.channel import Channel
from kafkawire.admin.connection.diagnosis import is_final, mechanisms_in, mistake_at, reason, sasl_answer_at
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.admin.connection.sockets import Place, connected_socket, places_of
from kafkawire.cli.access.advice import in_words_of_the_command
from kafkawire.cli.doctor.certificates import Finding, Soundness, Trust, findings
from kafkawire.cli.doctor.checks import Check, CheckRow, CheckStatus
from kafkawire.cli.doctor.handshakes import Handshake, answers_plain_text, handshake, unverified
from kafkawire.model.nodes import Node
from kafkawire.protocol.errors import IllegalSaslStateError
from kafkawire.wire.kafka_errors import ApiError, KafkaError

STEPS: Final = ("name", "tcp", "tls", "certificate", "sasl", "login", "api versions")
"""In their order."""

_SEE_THE_NETWORK: Final = "see the firewalls, security groups and routes from this machine to the broker"
_OWN: Final = "ssl.keystore.type=PEM and ssl.keystore.location"
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
        self._spoken: Handshake | None = None
        self._refusal: ssl.SSLCertVerificationError | None = None
        self.channel: Channel | None = None
        self._failure: KafkaError | None = None

    async def rows(self) -> AsyncIterator[CheckRow]:
        """What each step finds, in order; steps after one that failed are skipped."""
        failed_step = None
        checks = (self._name, self._tcp, self._handshake, self._certificates, self._sasl, self._login, self._versions)
        for step, check in zip(STEPS, checks, strict=True):
            begun = Check(step, self._node.address)
            if failed_step is not None:
                yield begun.skipped(f"{failed_step} failed")
                continue
            found = await check(begun)
            for row in found if isinstance(found, list) else [found]:
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
            advice = "see whether the broker runs and listens on this port" if refused else _SEE_THE_NETWORK
            return check.failed(said, advice)
        if failures:
            return check.warning(
                said, "remove the addresses that do not answer from DNS, or have the broker listen there"
            )
        return check.ok(said)

    async def _handshake(self, check: Check) -> CheckRow:
        if self._tls is None:
            return await self._plain_text(check)
        try:
            self._context = self._tls.context() if isinstance(self._tls, Tls) else self._tls
            async with asyncio.timeout(self._seconds):
                self._spoken = await self._made_handshake(self._context)
        except ValueError as error:
            return check.failed(str(error), "correct the ssl. properties")
        except OSError as error:
            return check.failed(*await self._of_handshake(error, self._context))
        if self._spoken.answers is False:
            closed = ConnectionResetError("the listener closes the connection after the handshake")
            return check.failed(*await self._of_handshake(closed, self._context))
        return check.ok(f"{self._spoken.version}, {self._spoken.cipher}")

    async def _plain_text(self, check: Check) -> CheckRow:
        """A listener with TLS closes the connection of a client without it."""
        place, host = self._places[0], self._node.host
        mistake = None if await answers_plain_text(place) else await mistake_at(place, None, host)
        if isinstance(mistake, str):
            return check.failed(*_of_mistake(mistake))
        return check.skipped("the settings want no TLS")

    async def _of_handshake(self, error: OSError, context: ssl.SSLContext | None) -> tuple[str, str]:
        """What is wrong with a handshake, and what to do."""
        if not is_final(error):
            mistake = await mistake_at(self._places[0], context, self._node.host) if context else None
            match mistake:
                case str():
                    return _of_mistake(mistake)
                case ssl.SSLError():
                    error = mistake
        said = in_words_of_the_command(reason(error))
        match said.split(": ", 2):
            case ["TLS", what, advice]:
                return f"TLS: {what}", advice
        if isinstance(error, TimeoutError):
            return "no answer in the TLS handshake", "see whether this port is one of a listener with TLS"
        if isinstance(error, ConnectionError) and not error.errno:
            said = str(error) or "the listener closes the connection in the handshake"
        has = isinstance(self._tls, Tls) and self._tls.certificate is not None
        own = "does not trust the certificate of the client" if has else f"wants a certificate of the client ({_OWN})"
        return said, f"see the log of the broker; perhaps it {own}, or it has no version of TLS in common"

    async def _made_handshake(self, context: ssl.SSLContext) -> Handshake:
        """A handshake; without verification if the certificate is refused, which is the next step."""
        place, host = self._places[0], self._node.host
        try:
            return await handshake(place, context, host, asks=True)
        except ssl.SSLCertVerificationError as error:
            self._refusal = error
        mine = self._tls.context() if isinstance(self._tls, Tls) else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return await handshake(place, unverified(mine), host)

    async def _certificates(self, check: Check) -> CheckRow | list[CheckRow]:
        if self._spoken is None or self._context is None:
            return check.skipped("the settings want no TLS")
        if self._refusal is None and self._context.verify_mode is ssl.CERT_NONE:
            return check.warning("it is not verified", "verify it: ssl.truststore.location")
        host = self._node.host if self._context.check_hostname else None
        code = 0 if self._refusal is None else self._refusal.verify_code
        found = findings(self._spoken.sent, host, _trust(self._tls, self._context), verify_code=code)
        if self._refusal is None:
            return [_of_accepted(check, each) for each in found] or check.ok("the settings accept it")
        said, _, advice = in_words_of_the_command(reason(self._refusal)).rpartition("; ")
        rows = [_of_refused(check, each) for each in found]
        if any(row.status is CheckStatus.FAILED for row in rows):
            return rows
        return [*rows, check.failed(said, advice)]

    async def _sasl(self, check: Check) -> CheckRow:
        answer = await sasl_answer_at(self._places[0], self._context, self._node.host)
        offered = () if answer is None else mechanisms_in(answer)
        said = f"the listener has {', '.join(offered)}"
        if self._credentials is None:
            if offered:
                advice = "set security.protocol, sasl.mechanism and a login, in properties or in a context"
                return check.failed(f"{said}, and the settings have no login", advice)
            return check.skipped("the settings want no login")
        mechanism = getattr(self._credentials, "mechanism", None)
        if offered and mechanism is not None and mechanism not in offered:
            return check.failed(f"{said}, and not {mechanism}", "change sasl.mechanism to one that it has")
        if answer is not None and answer.error_code == IllegalSaslStateError.code:
            other = "SSL" if self._tls is not None else "PLAINTEXT"
            advice = f"set the property security.protocol to {other}, or take the port of a listener with SASL"
            return check.failed("the listener has no SASL, and the settings have a login", advice)
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
                return check.failed(str(error), advice)
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


def _of_mistake(mistake: str) -> tuple[str, str]:
    """What is wrong, and what to do."""
    said, _, advice = in_words_of_the_command(mistake).partition(": ")
    return said, advice


def _of_accepted(check: Check, finding: Finding) -> CheckRow:
    """Whatever is found, the settings accept the certificate: the worst of it is a warning."""
    if finding.soundness is Soundness.ENDS_SOON and finding.advice is not None:
        return check.warning(finding.detail, finding.advice)
    return check.ok(finding.detail)


def _of_refused(check: Check, finding: Finding) -> CheckRow:
    if finding.soundness is Soundness.UNUSABLE and finding.advice is not None:
        return check.failed(finding.detail, finding.advice)
    return _of_accepted(check, finding)


def _trust(tls: Tls | ssl.SSLContext | None, context: ssl.SSLContext) -> Trust:
    authorities = tuple(context.get_ca_certs())
    if isinstance(tls, Tls) and tls.ca is not None:
        return Trust(authorities, "ssl.truststore", "add its certificate to ssl.truststore.location")
    return Trust(
        authorities,
        "the store of this system",
        "name it: ssl.truststore.type=PEM and ssl.truststore.location",
    )
