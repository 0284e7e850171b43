"""``kafkawire doctor``."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from typing import Final

import typer
from rich.console import Console

from kafkawire.admin import Tls
from kafkawire.admin.client_properties import ClientArguments
from kafkawire.admin.connection.channel import Channel
from kafkawire.cli.access.advice import in_words_of_the_command
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.doctor.checks import Check, CheckRow, CheckStatus
from kafkawire.cli.doctor.listeners import ListenerChecks, connected
from kafkawire.cli.doctor.metadata import cluster_behind
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.progress import progress_bar
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.model.nodes import Node, bootstrap_nodes
from kafkawire.protocol.errors import MismatchedEndpointTypeError, UnsupportedVersionError
from kafkawire.wire.kafka_errors import KafkaError

_LONGEST_STEP: Final = 10.0
"""Seconds; a step that takes longer has failed for a person who waits."""


@cluster_command
def run(cluster: Cluster, output: FormatOption = RowFormat.TABLE) -> None:
    """Check step by step whether a cluster can be reached, and say what to do.

    The steps of each bootstrap address are its name, TCP, TLS, SASL with the login, and the API versions. Then come the
    metadata of the cluster, and the address that each node advertises, seen from here. Nothing is changed.
    """
    rows = asyncio.run(_shown_rows(cluster))
    print_rows(rows, CheckRow, output)
    if any(row.status is CheckStatus.FAILED for row in rows):
        raise typer.Exit(ExitCode.FAILED)


async def _shown_rows(cluster: Cluster) -> list[CheckRow]:
    rows: list[CheckRow] = []
    with progress_bar(Console(stderr=True)) as report:
        async for row in _rows(cluster):
            rows.append(row)
            report(f"{row.step} of {row.target}: {row.status}", len(rows), len(rows) + 1)
    return rows


async def _rows(cluster: Cluster) -> AsyncIterator[CheckRow]:
    access = cluster.access
    source = access.selection.source or access.where
    check = Check("settings", source)
    try:
        given = await asyncio.to_thread(access.client_arguments)
        nodes = bootstrap_nodes(given.bootstrap_servers or given.bootstrap_controllers or ())
    except (CommandError, ValueError) as error:
        yield check.failed(error.message if isinstance(error, CommandError) else str(error), "correct the settings")
        return
    yield check.ok(_settings(given, nodes))
    seconds = min(cluster.options.timeout, _LONGEST_STEP)
    async with AsyncExitStack() as closing:
        channel: Channel | None = None
        for node in nodes:
            checks = ListenerChecks(node, given, seconds)
            async for row in checks.rows():
                yield row
            if checks.channel is not None:
                closing.push_async_callback(checks.channel.close)
                channel = channel or checks.channel
        async for row in _rows_of_cluster(channel, given, nodes, seconds):
            yield row


async def _rows_of_cluster(
    channel: Channel | None, given: ClientArguments, bootstrap: Sequence[Node], seconds: float
) -> AsyncIterator[CheckRow]:
    check = Check("metadata", "cluster")
    if channel is None:
        yield check.skipped("no bootstrap address can be used")
        return
    controllers = given.bootstrap_servers is None
    try:
        deadline = asyncio.get_running_loop().time() + seconds
        found = await cluster_behind(channel, deadline, controllers=controllers)
    except (UnsupportedVersionError, MismatchedEndpointTypeError) as error:
        yield check.failed(*_of_another_role(error, controllers=controllers))
        return
    except KafkaError as error:
        yield check.failed(in_words_of_the_command(str(error)), "see the log of the broker for the reason")
        return
    count = f"{len(found.nodes)} node{'' if len(found.nodes) == 1 else 's'}"
    yield check.ok(f"cluster {found.cluster_id or 'without id'}, {count}, controller {found.controller}")
    advertised = [_advertised(node, given, seconds, bootstrap) for node in found.nodes]
    for row in await asyncio.gather(*advertised):
        yield row


def _of_another_role(error: KafkaError, *, controllers: bool) -> tuple[str, str]:
    """A listener of controllers does not have the APIs of brokers; nor the other way round."""
    if not controllers:
        return (
            "this is a listener of controllers",
            "give its address as --bootstrap-controller, or that of a broker",
        )
    if isinstance(error, MismatchedEndpointTypeError):
        return "this is a listener of brokers", "give its address as --bootstrap-server, or that of a controller"
    return str(error), "give the address of a broker as --bootstrap-server: these controllers are older than 3.7"


def _settings(given: ClientArguments, nodes: Sequence[Node]) -> str:
    mechanism = getattr(given.credentials, "mechanism", None)
    user = getattr(given.credentials, "username", None)
    login = f", {' '.join(filter(None, (mechanism, user)))}" if mechanism else ", no login"
    kind = "bootstrap server" if given.bootstrap_servers else "bootstrap controller"
    tls = "no TLS" if given.tls is None else "TLS"
    return f"{len(nodes)} {kind}{'' if len(nodes) == 1 else 's'}, {tls}{login}"


async def _advertised(node: Node, given: ClientArguments, seconds: float, bootstrap: Sequence[Node]) -> CheckRow:
    """Whether the address that a node advertises leads to it from here."""
    check = Check("advertised", f"node {node.id}")
    try:
        context: ssl.SSLContext | None = given.tls.context() if isinstance(given.tls, Tls) else given.tls
        await (await connected(node, given, context, seconds, [])).close()
    except KafkaError as error:
        advice = f"have advertised.listeners of node {node.id} name an address that this machine reaches"
        if _is_loopback(node.host) or "." not in node.host:
            advice += "; a broker in a container needs one listener for its network and another for this machine"
        return check.failed(in_words_of_the_command(str(error)), advice)
    if _is_loopback(node.host) and not any(_is_loopback(each.host) for each in bootstrap):
        return check.warning(
            f"{node.address} is this machine itself, and may be another broker",
            f"have advertised.listeners of node {node.id} name an address for other machines",
        )
    return check.ok(node.address)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
