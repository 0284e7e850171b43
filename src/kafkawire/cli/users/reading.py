"""``kafkawire users list`` and ``describe``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from kafkawire.admin import AclOperation, BlockingAdminClient, Results, ScramCredentialInfo, ScramMechanism
from kafkawire.cli.access.changes import failures_printed
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.outcome import CommandError
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.near_names import did_you_mean
from kafkawire.protocol.errors import ResourceNotFoundError
from kafkawire.wire.kafka_errors import KafkaError

UsersArgument = Annotated[list[str], typer.Argument(metavar="USER...", help="Names, without User:.")]


class UserRow(Row, frozen=True):
    """A user with SCRAM credentials. No broker returns passwords.

    Attributes:
        user: its name, without ``User:``.
        iterations: how often the password is hashed, by mechanism.
    """

    user: str
    iterations: Mapping[str, int]


@cluster_command
def list_(cluster: Cluster, output: FormatOption = RowFormat.TABLE) -> None:
    """List the users that have SCRAM credentials."""
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        operations = client.describe_cluster(include_authorized_operations=True, timeout=timeout).authorized_operations
        if operations is not None and AclOperation.DESCRIBE not in operations:  # brokers would never answer
            raise CommandError("a list of users needs the right to DESCRIBE the cluster")
        found = client.describe_user_scram_credentials(timeout=timeout)
    rows = [_row(user, found.values()[user]) for user in sorted(found.values())]
    with failures_printed(found):
        print_rows(rows, UserRow, output, empty="no users")


@cluster_command
def describe(cluster: Cluster, users: UsersArgument, output: FormatOption = RowFormat.TABLE) -> None:
    """Describe the SCRAM credentials of users."""
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        found = client.describe_user_scram_credentials(dict.fromkeys(users), timeout=timeout)
        results = with_suggestions(client, found, timeout)
    with failures_printed(results):
        print_rows([_row(user, infos) for user, infos in found.values().items()], UserRow, output, empty="no users")


def with_suggestions(
    client: BlockingAdminClient, found: Results[str, tuple[ScramCredentialInfo, ...]], timeout: float
) -> Results[str, tuple[ScramCredentialInfo, ...]]:
    """The same results; errors of users without a credential name similar users."""
    unknown = [user for user, error in found.errors().items() if isinstance(error, ResourceNotFoundError)]
    if not unknown:
        return found
    known = client.describe_user_scram_credentials(timeout=timeout).values()
    outcomes: dict[str, tuple[ScramCredentialInfo, ...] | KafkaError] = dict(found.items())
    for user in unknown:
        question = did_you_mean(user, known)
        reason = "there is no such user with SCRAM credentials"
        outcomes[user] = ResourceNotFoundError(f"{reason}; {question}" if question else reason)
    return Results(outcomes, found)


def mechanism_name(mechanism: ScramMechanism) -> str:
    """As logins and Kafka's tools write it: ``SCRAM-SHA-512``."""
    return mechanism.name.replace("_", "-")


def _row(user: str, infos: Sequence[ScramCredentialInfo]) -> UserRow:
    return UserRow(user, {mechanism_name(each.mechanism): each.iterations for each in infos})
