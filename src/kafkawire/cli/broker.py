"""``kafkawire broker``: the embedded broker as a program."""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from kafkawire.broker.configuration.broker_configuration import ConfigurationError
from kafkawire.broker.embedded import EmbeddedBroker
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.version_tables import version_table
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.quotas.metrics_file import keep_written, write_metrics
from kafkawire.cli.ready_file import ReadyFile
from kafkawire.model.properties_file import PropertiesError, parse_properties
from kafkawire.model.times import time_of

_NO_SUCH_ADDRESS = frozenset({errno.EADDRINUSE, errno.EADDRNOTAVAIL})
_UNRESOLVED = frozenset({socket.EAI_NONAME, socket.EAI_AGAIN, socket.EAI_FAIL})
_LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def run(
    port: Annotated[int, typer.Option(help="Port to listen on; 0 for a free one.", min=0, max=65535)] = 9092,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Directory for all state, in Kafka's format; by default nothing is stored."),
    ] = None,
    config: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A property of Kafka's brokers; repeatable."),
    ] = None,
    properties: Annotated[Path | None, typer.Option(help="File of such properties; --config overrides it.")] = None,
    from_log: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Run a twin of a cluster: its data directory, or __cluster_metadata-0 in it. It is only read.",
        ),
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="The twin begins with the state at this time, such as 2026-03-01T12:30Z."),
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(help="Offer the versions of this release of Apache Kafka, such as 3.9; by default those of 4.3."),
    ] = None,
    quota_metrics_file: Annotated[
        Path | None,
        typer.Option(help="File for the use of client quotas, written every second; see quotas metrics."),
    ] = None,
    ready_file: Annotated[
        Path | None,
        typer.Option(help="File for the address: written when clients can connect, removed when the broker stops."),
    ] = None,
) -> None:
    """Run a broker for tests in this process: topics, records, configs, ACLs, quotas, users, groups and transactions as
    in Apache Kafka, on one node.

    It prints its address once clients can connect, and stops on SIGTERM or Ctrl-C.

    With --from-log it is a twin of another cluster: it begins with the topics, configs, ACLs, quotas and users in that
    cluster's metadata log, and answers for all its brokers. Kafka's authorizer evaluates the ACLs; clients that have
    not logged in are super users, unless --config super.users=... names others.

    Exit code: 0 after SIGTERM, 130 after Ctrl-C, 1 for a failure, 2 for wrong usage.
    """
    logging.basicConfig(level=logging.WARNING, format=_LOG_FORMAT)
    settings = {**_of_file(properties), **_of_options(config or ())}
    for option, file in (("--ready-file", ready_file), ("--quota-metrics-file", quota_metrics_file)):
        if file is not None and not file.parent.is_dir():
            raise CommandError(f"{option}: there is no folder {file.parent}; create it first", ExitCode.USAGE)
    if data_dir is not None and data_dir.exists() and not data_dir.is_dir():
        raise CommandError(f"--data-dir: {data_dir} is not a directory; give another one", ExitCode.USAGE)
    if from_log is not None and not from_log.is_dir():
        raise CommandError(f"--from-log: {from_log} is not a directory; give another one", ExitCode.USAGE)
    try:
        broker = EmbeddedBroker(
            settings,
            data_dir=data_dir,
            host=host,
            port=port,
            requests_kept=0,
            from_log=from_log,
            as_of=_date(as_of, from_log),
            release=_known(release),
        )
        with nullcontext() if ready_file is None else ReadyFile(ready_file) as ready:
            exit_code = asyncio.run(_serve(broker, ready, quota_metrics_file))
        if quota_metrics_file is not None:
            quota_metrics_file.unlink(missing_ok=True)
    except ConfigurationError as error:
        raise CommandError(str(error), ExitCode.USAGE) from None
    except StorageError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        if error.errno in _UNRESOLVED:
            raise CommandError(
                f"--host: {host!r} cannot be resolved: {_reason(error)}; give an address of this machine",
                ExitCode.USAGE,
            ) from None
        if error.errno not in _NO_SUCH_ADDRESS:
            raise
        raise CommandError(
            f"{error.strerror}; --port and --host choose another address, --port 0 a free port"
        ) from None
    if exit_code is not ExitCode.DONE:
        raise typer.Exit(exit_code)


def _date(text: str | None, from_log: Path | None) -> datetime | None:
    if text is None:
        return None
    if from_log is None:
        raise CommandError("--as-of is the time of a state in a log; add --from-log DIR", ExitCode.USAGE)
    try:
        return time_of(text)
    except ValueError as error:
        raise CommandError(f"--as-of: {text!r} is {error}", ExitCode.USAGE) from None


def _known(release: str | None) -> str | None:
    if release is not None:
        try:
            version_table(release)
        except ValueError as error:
            raise CommandError(f"--release: {error}", ExitCode.USAGE) from None
    return release


def _reason(error: OSError) -> str:
    """The text of the system, to which asyncio has added the address."""
    return str(error.strerror).partition(" (")[0]


async def _serve(broker: EmbeddedBroker, ready_file: ReadyFile | None, quota_metrics_file: Path | None) -> ExitCode:
    """Run until a signal arrives, or the storage fails."""
    stopped: asyncio.Future[ExitCode] = asyncio.get_running_loop().create_future()
    with _on_signal(signal.SIGTERM, stopped, ExitCode.DONE), _on_signal(signal.SIGINT, stopped, ExitCode.INTERRUPTED):
        return await _serve_until(stopped, broker, ready_file, quota_metrics_file)


async def _serve_until(
    stopped: asyncio.Future[ExitCode],
    broker: EmbeddedBroker,
    ready_file: ReadyFile | None,
    quota_metrics_file: Path | None,
) -> ExitCode:
    async with broker, _kept_written(quota_metrics_file, broker):
        if ready_file is not None:
            ready_file.write(broker.bootstrap_servers)
        print(f"kafkawire broker listens on {broker.bootstrap_servers}", flush=True)
        halted = asyncio.create_task(broker.halted())
        await asyncio.wait((stopped, halted), return_when=asyncio.FIRST_COMPLETED)
        halted.cancel()
    return stopped.result()


@asynccontextmanager
async def _kept_written(quota_metrics_file: Path | None, broker: EmbeddedBroker) -> AsyncIterator[None]:
    """Write the use of quotas while the context is open."""
    if quota_metrics_file is None:
        yield
        return
    write_metrics(quota_metrics_file, broker.quota_metrics())
    writing = asyncio.create_task(keep_written(quota_metrics_file, broker.quota_metrics))
    try:
        yield
    finally:
        writing.cancel()
        with suppress(asyncio.CancelledError):
            await writing


@contextmanager
def _on_signal(number: signal.Signals, stopped: asyncio.Future[ExitCode], exit_code: ExitCode) -> Iterator[None]:
    """Stop on a signal; not with the event loop's own handlers of signals, which Windows lacks."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if not stopped.done():
            stopped.set_result(exit_code)

    before = signal.signal(number, lambda _number, _frame: loop.call_soon_threadsafe(stop))
    try:
        yield
    finally:
        signal.signal(number, before)


def _of_file(path: Path | None) -> Mapping[str, str]:
    if path is None:
        return {}
    try:
        return parse_properties(path.read_text("utf-8"))
    except PropertiesError as error:
        raise CommandError(f"{path}: {error}", ExitCode.USAGE) from None
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: it is not UTF-8: {error.reason} at byte {error.start}", ExitCode.USAGE) from None


def _of_options(options: Sequence[str]) -> Mapping[str, str]:
    pairs = [option.partition("=") for option in options]
    for name, equals, _ in pairs:
        if not equals or not name.strip():
            raise CommandError(f"--config {name}: write it as NAME=VALUE", ExitCode.USAGE)
    return {name.strip(): value for name, _, value in pairs}
