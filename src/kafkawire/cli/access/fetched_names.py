"""``python -m kafkawire.cli.access.fetched_names KIND FILE OPTIONS`` asks a cluster for names and writes them.

Completion starts it. It prints nothing, and ends by itself.
"""

from __future__ import annotations

import contextlib
import json
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from kafkawire.admin import AclBindingFilter, BlockingAdminClient
from kafkawire.cli.access.client_of import ClusterAccess
from kafkawire.cli.access.selection import NamedCluster, select
from kafkawire.wire.kafka_errors import KafkaError

_SECONDS: Final = 10.0
_LONGEST_LIFE: Final = 30
"""Seconds; a command that gives a secret may hang."""

_MOST: Final = 20_000
_SAFE: Final = re.compile(r"[A-Za-z0-9._/%+@:=,][A-Za-z0-9._/%+@:=,-]{0,254}")
"""Names that a shell takes as they are. Anyone may name a group ``$(reboot)``: it is not offered."""


def main(arguments: Sequence[str]) -> int:
    """Write the names of a kind to a file.

    Args:
        arguments: the kind, the file, and the options that name the cluster as JSON.
    """
    kind, file, options = arguments
    if hasattr(signal, "alarm"):
        signal.alarm(_LONGEST_LIFE)
    access = ClusterAccess(select(NamedCluster(*json.loads(options))), _SECONDS)
    given = access.client_arguments()
    with BlockingAdminClient(
        given.bootstrap_servers, bootstrap_controllers=given.bootstrap_controllers, tls=given.tls,
        credentials=given.credentials, settings=given.settings,
    ) as client:  # fmt: skip
        names = sorted({name for name in NAMES[kind](client) if _SAFE.fullmatch(name)})[:_MOST]
    _write(Path(file), names)
    return 0


def _write(file: Path, names: Sequence[str]) -> None:
    """Write beside the file and rename; only the owner can read it."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=file.parent, delete=False) as beside:
        json.dump(names, beside)
    Path(beside.name).replace(file)


def _topics(client: BlockingAdminClient) -> Iterable[str]:
    return client.list_topics(include_internal=True)


def _groups(client: BlockingAdminClient) -> Iterable[str]:
    return [each.group_id for each in client.list_groups().values()]


def _users(client: BlockingAdminClient) -> Iterable[str]:
    return client.describe_user_scram_credentials()


def _principals(client: BlockingAdminClient) -> Iterable[str]:
    """Those of users and of ACLs, as far as this user may see them."""
    names: list[str] = []
    with contextlib.suppress(KafkaError):
        names += [f"User:{name}" for name in _users(client)]
    with contextlib.suppress(KafkaError):
        names += [each.principal for each in client.describe_acls(AclBindingFilter())]
    return names


def _brokers(client: BlockingAdminClient) -> Iterable[str]:
    return [str(each.node.id) for each in client.describe_cluster().nodes]


NAMES: Final[Mapping[str, Callable[[BlockingAdminClient], Iterable[str]]]] = {
    "brokers": _brokers,
    "groups": _groups,
    "principals": _principals,
    "topics": _topics,
    "users": _users,
}
"""Kind to what lists its names."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
