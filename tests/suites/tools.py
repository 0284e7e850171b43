"""Tools of Apache Kafka that suites call, as far as they call them, against the embedded broker."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence

from tests.suites.server import address_file

from kafkawire.admin import AdminClient, ScramUpsertion
from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, ResourceType
from kafkawire.model.scram import ScramMechanism

_RESOURCES = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "transactional_id": ResourceType.TRANSACTIONAL_ID,
}


async def topics(address: str, _: Sequence[str]) -> None:
    """``kafka-topics --list``."""
    async with AdminClient(address) as admin:
        sys.stdout.write("".join(f"{name}\n" for name in await admin.list_topics()))


async def configs(address: str, arguments: Sequence[str]) -> None:
    """``kafka-configs --alter --entity-type users``: sets passwords of a user."""
    options = argparse.ArgumentParser()
    options.add_argument("--entity-name")
    options.add_argument("--add-config")
    given = options.parse_known_args(arguments)[0]
    pairs = (each.partition("=[password=") for each in given.add_config.split(","))
    alterations = [
        ScramUpsertion(given.entity_name, ScramMechanism[name.replace("-", "_")], rest.rstrip("]"))
        for name, _, rest in pairs
    ]
    async with AdminClient(address) as admin:
        (await admin.alter_user_scram_credentials(alterations)).all()


async def acls(address: str, arguments: Sequence[str]) -> None:
    """``kafka-acls --add`` and ``--remove`` of one operation on named resources."""
    options = argparse.ArgumentParser()
    for flag in ("--add", "--remove", "--list", "--cluster", "--producer", "--consumer"):
        options.add_argument(flag, action="store_true")
    for name in ("topic", "group", "transactional-id", "allow-principal", "deny-principal", "allow-host", "deny-host"):
        options.add_argument(f"--{name}")
    options.add_argument("--operation", default="All")
    given = options.parse_known_args(arguments)[0]
    permission = AclPermissionType.ALLOW if given.allow_principal else AclPermissionType.DENY
    principal, host = given.allow_principal or given.deny_principal, given.allow_host or given.deny_host or "*"
    resources = [(kind, getattr(given, name)) for name, kind in _RESOURCES.items() if getattr(given, name)]
    resources += [(ResourceType.CLUSTER, "kafka-cluster")] if given.cluster else []
    operation = AclOperation[given.operation.upper()]
    bindings = [AclBinding(kind, name, principal, operation, permission, host) for kind, name in resources]
    async with AdminClient(address) as admin:
        if given.add:
            (await admin.create_acls(bindings)).all()
        elif given.remove:
            (await admin.delete_acls([binding.to_filter() for binding in bindings])).all()


TOOLS = {"kafka-acls": acls, "kafka-configs": configs, "kafka-topics": topics}

if __name__ == "__main__":
    tool, port, *rest = sys.argv[1:]
    asyncio.run(TOOLS[tool](address_file(int(port)).read_text("utf-8"), rest))
