"""Wrong settings of a client are errors at once, with a remedy, not after a minute of attempts."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives import serialization
from tests.stand_ins.broker import StandInBroker
from tests.stand_ins.closing import closing
from tests.stand_ins.cluster import FAST, StandInCluster

import kafkawire.admin.cluster
from kafkawire import protocol
from kafkawire.admin import AdminClient, AdminSettings, NewTopic, PlainCredentials, Tls
from kafkawire.admin.connection.diagnosis import login_wanted_at
from kafkawire.admin.connection.sockets import places_of
from kafkawire.broker import EmbeddedBroker
from kafkawire.protocol.errors import IllegalSaslStateError, UnsupportedSaslMechanismError
from kafkawire.rpc import FRAME_HEAD, decode_request, encode_response, frame_size
from kafkawire.wire.kafka_errors import (
    BrokenStreamError,
    ConnectionFailedError,
    ConnectionImpossibleError,
    KafkaError,
    OperationTimeoutError,
)

PATIENT = AdminSettings(call_timeout=60, request_timeout=60)
"""A call that ends before the test is stopped has not waited for its timeout."""

SECONDS = 20.0
PLAIN_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule"

Says = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def trusting(authority: trustme.CA, client: trustme.LeafCert | None = None) -> Tls:
    certificate = None
    if client is not None:
        certificate = client.private_key_and_cert_chain_pem.bytes().decode()
    return Tls(ca=authority.cert_pem.bytes().decode(), certificate=certificate)


def server(certificate: trustme.LeafCert, clients: trustme.CA | None = None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    if clients is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        clients.configure_trust(context)
    return context


@contextlib.contextmanager
def tls_listener(context: ssl.SSLContext) -> Iterator[str]:
    """A listener with TLS and nothing else. It sends alerts, which servers of asyncio do not."""
    stopped = threading.Event()

    def serve() -> None:
        while not stopped.is_set():
            with contextlib.suppress(OSError):
                connected, _ = listening.accept()
                connected.settimeout(SECONDS)
                with connected, context.wrap_socket(connected, server_side=True) as secured:
                    secured.recv(1)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.05)
        serving = threading.Thread(target=serve)
        serving.start()
        try:
            yield f"127.0.0.1:{listening.getsockname()[1]}"
        finally:
            stopped.set()
            serving.join()


def pkcs8(certificate: trustme.LeafCert) -> str:
    key = serialization.load_pem_private_key(certificate.private_key_pem.bytes(), None)
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


def days_ago(days: int) -> dt.datetime:
    return dt.datetime.now(dt.UTC) - dt.timedelta(days=days)


async def error_of_a_call(servers: str | list[str], tls: Tls | None = None) -> KafkaError:
    """What a call ends with."""
    async with asyncio.timeout(SECONDS), AdminClient(servers, tls=tls, settings=PATIENT) as client:
        errors = (await client.create_topics([NewTopic("t", 1, 1)])).errors()
        with pytest.raises(type(errors["t"])):
            await client.list_topics()
        return errors["t"]


@contextlib.asynccontextmanager
async def listener(says: Says, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Something that is no broker; its address."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await says(reader, writer)
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    async def noted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(serve(reader, writer))
        serving.add(task)
        await task

    serving: set[asyncio.Task[None]] = set()
    listening = await asyncio.start_server(noted, "127.0.0.1", 0, ssl=tls)
    try:
        yield f"127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    finally:
        async with closing(listening):
            await asyncio.wait_for(asyncio.gather(*serving), SECONDS)


@pytest.mark.parametrize(
    ("mistake", "advice"),
    [
        ("unknown authority", r"unable to get local issuer certificate; name the authority that signed it: Tls\(ca="),
        (
            "another name",
            r"IP address mismatch.*; connect to a name that it is for, or give Tls\(verify_host",
        ),
        ("expired", r"certificate has expired; it has to be renewed at the broker"),
        ("not yet valid", r"certificate is not yet valid; compare the clocks"),
        ("no certificate of the client", r"the broker wants a certificate of the client: give Tls\(certificate="),
        ("certificate of another authority", r"the broker does not trust the authority of the client's certificate"),
    ],
)
async def test_a_certificate_that_one_side_refuses(mistake: str, advice: str, authority: trustme.CA) -> None:
    address = "broker.example" if mistake == "another name" else "127.0.0.1"
    issuer = trustme.CA() if mistake == "unknown authority" else authority
    after = days_ago(1) if mistake == "expired" else days_ago(-30)
    before = days_ago(-1) if mistake == "not yet valid" else days_ago(2)
    own = issuer.issue_cert(address, not_before=before, not_after=after)
    client = trustme.CA().issue_cert("alice@example.org") if mistake == "certificate of another authority" else None
    wants = authority if "client" in mistake or client else None
    with tls_listener(server(own, wants)) as address_of_it:
        error = await error_of_a_call(address_of_it, trusting(authority, client))
    assert isinstance(error, ConnectionImpossibleError), error
    assert not error.retriable
    with pytest.raises(ConnectionImpossibleError, match=advice):
        raise error


async def test_tls_to_a_listener_without_it() -> None:
    async def closes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Kafka's way: a size above the limit ends the connection, and ApiVersions is answered."""
        head = await reader.readexactly(4)
        if head[0] == 0:
            frame = await reader.readexactly(int.from_bytes(head, "big"))
            writer.write(b"\0\0\0\x0a" + frame[4:8] + bytes(6))
            await writer.drain()

    async with listener(closes) as address:
        error = await error_of_a_call(address, Tls())
    assert isinstance(error, ConnectionImpossibleError)
    assert str(error).startswith(f"'t': {address}: the listener has no TLS: take the port of a listener with TLS"), (
        error
    )


async def test_plain_text_to_a_listener_with_tls(authority: trustme.CA) -> None:
    own = authority.issue_cert("127.0.0.1")

    async def closes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Java's way: no alert for what is no TLS, the connection ends."""
        if (await reader.readexactly(1)) == b"\x16":
            writer.write(b"\x16\x03\x03\x00\x7a")
            await writer.drain()

    async with listener(closes) as address:
        assert "the listener wants TLS: give tls=Tls(...)" in str(await error_of_a_call(address))
    async with StandInBroker(tls=server(own)) as broker:
        error = await error_of_a_call(f"127.0.0.1:{broker.port}")
        assert isinstance(error, ConnectionImpossibleError)
        assert "the listener wants TLS" in str(error)


async def answers_at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    await writer.drain()


async def answers_without_head(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.write(b"<!DOCTYPE HTML>\n<html>")
    await writer.drain()


async def waits_for_a_line(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n")
    writer.write(b"HTTP/1.0 200 OK\r\n\r\n")
    await writer.drain()


@pytest.mark.parametrize("says", [answers_at_once, answers_without_head, waits_for_a_line])
@pytest.mark.parametrize("tls", [None, Tls()], ids=["plain", "tls"])
async def test_a_port_of_http(says: Says, tls: Tls | None) -> None:
    settings = AdminSettings(call_timeout=60, request_timeout=60, connect_timeout=0.5)
    async with listener(says) as address, AdminClient(address, tls=tls, settings=settings) as client:
        async with asyncio.timeout(SECONDS):
            with pytest.raises(ConnectionImpossibleError) as raised:
                await client.list_topics()
    assert "this is no Kafka listener" in str(raised.value) or "does not speak TLS" in str(raised.value)


async def test_a_port_of_something_else_that_says_text() -> None:
    async def says(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.6\r\n")
        await writer.drain()

    async with listener(says) as address:
        error = await error_of_a_call(address)
    assert "the answer is text, 'SSH-': this is no Kafka listener" in str(error)
    assert isinstance(error.__cause__, BrokenStreamError)


async def test_names_that_do_not_exist_are_all_listed() -> None:
    error = await error_of_a_call(["one.invalid:9092", "two.invalid:9093"])
    assert isinstance(error, ConnectionImpossibleError)
    assert error.attempts <= 1
    for name in ("one.invalid:9092", "two.invalid:9093"):
        assert f"{name}: the name cannot be resolved" in str(error)
    single = await error_of_a_call("one.invalid:9092")
    assert isinstance(single, ConnectionImpossibleError)


async def test_a_name_that_does_not_exist_beside_one_that_does_is_no_error() -> None:
    async with StandInCluster() as cluster, AdminClient(f"one.invalid:9092,{cluster.bootstrap}") as client:
        assert await client.list_topics() == {}


async def test_an_unreachable_server_is_retried_although_others_are_misconfigured() -> None:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        address = f"127.0.0.1:{bound.getsockname()[1]}"
    async with AdminClient(f"one.invalid:9092,{address}", settings=FAST) as client:
        with pytest.raises(OperationTimeoutError) as raised:
            await client.list_topics(timeout=0.2)
    assert f"{address}: connection refused" in str(raised.value)
    assert "one.invalid:9092: the name cannot be resolved" in str(raised.value)


async def test_a_name_server_that_does_not_answer_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def unavailable(*_: object, **__: object) -> list[tuple[object, ...]]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", unavailable)
    async with AdminClient("kafka.example:9092", settings=FAST) as client:
        with pytest.raises(OperationTimeoutError, match="Temporary failure in name resolution") as raised:
            await client.list_topics(timeout=0.2)
    assert isinstance(raised.value.__cause__, ConnectionFailedError)


async def test_a_name_server_that_stays_without_an_answer_ends_the_call_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    async def unavailable(*_: object, **__: object) -> list[tuple[object, ...]]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", unavailable)
    monkeypatch.setattr(kafkawire.admin.cluster, "_SECONDS_WITHOUT_NAMES", 0.1)
    error = await error_of_a_call(["kafka-1.example:9092", "kafka-2.example:9092"])
    assert isinstance(error, ConnectionImpossibleError)
    for name in ("kafka-1.example:9092", "kafka-2.example:9092"):
        assert f"{name}: the name cannot be resolved: Temporary failure" in str(error)


async def test_an_address_that_is_not_reached_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as one, socket.socket() as other:
        for bound in (one, other):  # and not listening: connections are refused, and no other test gets the port
            bound.bind(("127.0.0.1", 0))
        addresses = [f"127.0.0.1:{bound.getsockname()[1]}" for bound in (one, other)]
        async with AdminClient(addresses, settings=FAST) as client:
            with pytest.raises(OperationTimeoutError) as raised:
                await client.list_topics(timeout=1)
    assert raised.value.attempts > 1
    logged = sorted(record.getMessage() for record in caplog.records if record.levelname == "WARNING")
    assert [text.partition(": ")[0] for text in logged] == sorted(addresses)
    assert all(text.endswith("; the client tries again until the timeout of the call") for text in logged)


async def test_a_timeout_says_how_long_it_waited_and_for_whom() -> None:
    async def mute(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    async with listener(mute) as one, listener(mute) as other, AdminClient([one, other], settings=FAST) as client:
        with pytest.raises(OperationTimeoutError, match=r"list_topics timed out after [\d.]+ s: no node") as raised:
            await client.list_topics(timeout=0.2)
    assert raised.value.waited is not None
    assert 0.2 <= raised.value.waited < SECONDS
    assert f"{one}: no answer" in str(raised.value)
    assert f"{other}: no answer" in str(raised.value)


@pytest.mark.parametrize("secured", [False, True], ids=["plain", "tls"])
async def test_a_listener_that_wants_a_login_names_its_mechanisms(authority: trustme.CA, *, secured: bool) -> None:
    protocol, tls = ("SASL_SSL", trusting(authority)) if secured else ("SASL_PLAINTEXT", None)
    own = authority.issue_cert("127.0.0.1")
    properties = {
        "listeners": "LOGIN://127.0.0.1:0",
        "listener.security.protocol.map": f"LOGIN:{protocol}",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "listener.name.login.plain.sasl.jaas.config": f'{PLAIN_LOGIN} required user_alice="secret";',
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": own.cert_chain_pems[0].bytes().decode(),
        "ssl.keystore.key": pkcs8(own),
    }
    async with EmbeddedBroker(properties) as broker:
        error = await error_of_a_call(broker.bootstrap_servers, tls)
    assert isinstance(error, ConnectionImpossibleError)
    assert "the listener wants a login (SASL; it has PLAIN, SCRAM-SHA-512): give credentials=..." in str(error)


async def test_what_a_listener_calls_its_mechanisms_is_shown_only_if_they_are_names() -> None:
    names = ("PLAIN", "\x1b[31mSCRAM", "X" * 30_000)
    answer = protocol.SaslHandshakeResponse(error_code=UnsupportedSaslMechanismError.code, mechanisms=names)

    async def handshake(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = decode_request(await reader.readexactly(frame_size(await reader.readexactly(FRAME_HEAD.size))))
        writer.write(encode_response(answer, 1, correlation_id=request.header.correlation_id))
        await writer.drain()

    async with listener(handshake) as address:
        host, _, port = address.partition(":")
        (place,) = await places_of(host, int(port))
        said = await login_wanted_at(place, None, host)
    assert said is not None
    assert "(SASL; it has PLAIN)" in said


async def test_credentials_for_a_listener_without_a_login() -> None:
    login = PlainCredentials("alice", "secret")
    async with EmbeddedBroker() as broker, AdminClient(broker.bootstrap_servers, credentials=login) as client:
        with pytest.raises(IllegalSaslStateError, match="has no SASL: leave out the credentials, or take the port"):
            await client.list_topics()


async def test_the_name_of_a_broker_that_was_known_may_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of pods are gone while they restart."""
    loop = asyncio.get_running_loop()
    resolve = loop.getaddrinfo
    gone = 0

    async def resolved(*arguments: object, **options: object) -> object:
        nonlocal gone
        if gone:
            gone -= 1
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return await resolve(*arguments, **options)  # type: ignore[arg-type]  # as they came

    monkeypatch.setattr(loop, "getaddrinfo", resolved)
    async with StandInCluster() as cluster:
        cluster.brokers[1].host = "localhost"
        async with cluster.client() as client:
            assert await client.list_topics() == {}
            await cluster.brokers[1].stop()
            await cluster.brokers[1].start_again()
            gone = 5
            assert await client.list_topics() == {}
            assert gone == 0


async def test_a_listener_that_closes_and_does_not_show_is_tried_again() -> None:
    async def closes(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
        return

    async with listener(closes) as address, AdminClient(address, settings=FAST) as client:
        with pytest.raises(OperationTimeoutError):
            await client.list_topics(timeout=0.3)


async def test_a_file_of_certificates_that_is_missing_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "ca.pem"
    error = await error_of_a_call("127.0.0.1:1", Tls(ca=missing))
    assert isinstance(error, ConnectionImpossibleError)
    assert f"127.0.0.1:1: TLS: ca: {missing}: [Errno 2] No such file" in str(error)
    assert isinstance(error.__cause__, ValueError)


async def test_a_listener_that_closes_and_does_not_show_is_asked_in_other_ways_once() -> None:
    connections = 0

    async def closes(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1

    async with listener(closes) as address, AdminClient(address, settings=FAST) as client:
        with pytest.raises(OperationTimeoutError) as raised:
            await client.list_topics(timeout=0.5)
    assert connections <= raised.value.attempts + 1 + 2 * 2  # the last attempt may be of a refresh, and two ways
    assert connections > 4
